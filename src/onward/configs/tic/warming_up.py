"""What both forms of Table 8 share: warming up in the first period only, or in all of them."""

from onward.benchmarks.tic_recipes import SCALES
from onward.configs.tic.runs import seconds, tic_table
from onward.reproduce.claims import Claim, above
from onward.reproduce.table import PaperTable, Row

# As long in later periods as in the first one.
_WARM = {"cpu": {"next_warmup_steps": 23}, "paper": {"next_warmup_steps": 500}}
_SEEDS = 8


def table(name: str, scale: str) -> PaperTable:
    """Return the table whose published rows are those at one scale."""
    return tic_table(
        name,
        "Warming up in the first period, or in all of them",
        "Table 8",
        scale=scale,
        edition=SCALES[scale].title,
        rows=tuple(
            Row(
                name=warmup,
                label=f"{warmup} later warm-up",
                key={"warmup": warmup},
                method="cumulative",
                training=training,
                seconds=seconds(125.0, "cumulative", scale),
                seeds=_SEEDS,
            )
            for warmup, training in (("without", {}), ("with", _WARM))
        ),
        claims=(
            Claim(
                name="warming up again hurts",
                text="Without a warm-up in later periods, a model is better on earlier years, on "
                "the newest and on those to come.",
                where="appendix F.3, Table 8",
                pairs=above(("bwt", "id", "fwt"), ("without", "with")),
                seeds=_SEEDS,
            ),
        ),
    )
