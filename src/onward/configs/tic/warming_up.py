"""What both forms of Table 8 share: warming up in the first period only, or in all of them."""

from functools import partial

from onward.benchmarks.tic_recipes import SCALES
from onward.configs.tic.runs import CITATION, PACKAGE, caveats, columns, on_a_card, run
from onward.reproduce.claims import Cell, Claim, Pair
from onward.reproduce.table import PaperTable, Row

# As long in later periods as in the first one.
_WARM = {"cpu": {"later_warmup": 23}, "paper": {"later_warmup": 500}}
_SEEDS = 8


def table(name: str, scale: str) -> PaperTable:
    """Return the table whose published rows are those at one scale."""
    return PaperTable(
        name=f"tic/{name}",
        title="Warming up in the first period, or in all of them",
        citation=f"{CITATION}, Table 8",
        package=PACKAGE,
        file=f"{name}.csv",
        rows=tuple(
            Row(
                name=warmup,
                label=f"{warmup} later warm-up",
                key={"warmup": warmup},
                method="cumulative",
                load={"training": training},
                seconds={"cpu": 125.0, "paper": on_a_card("cumulative", scale)},
                seeds=_SEEDS,
            )
            for warmup, training in (("without", {}), ("with", _WARM))
        ),
        columns=columns(),
        run=partial(run, scale=scale),
        caveats=caveats,
        claims=(
            Claim(
                name="warming up again hurts",
                text="Without a warm-up in later periods, a model is better on earlier years, on "
                "the newest and on those to come.",
                where="appendix F.3, Table 8",
                pairs=tuple(
                    Pair(Cell("without", column), Cell("with", column))
                    for column in ("bwt", "id", "fwt")
                ),
                seeds=_SEEDS,
            ),
        ),
        published_runs=1,
        edition=SCALES[scale].title,
    )
