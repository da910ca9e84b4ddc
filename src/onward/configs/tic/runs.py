"""What TiC-CLIP's tables share: which run a cell is, and what is read out of it."""

from functools import partial

from onward.benchmarks.tic_budget import EMOJI, tic_budget
from onward.benchmarks.tic_emoji import UNSEEN
from onward.benchmarks.tic_recipes import USUAL_SCALE
from onward.data.bags import ZERO_SHOT
from onward.metrics.clear import in_domain
from onward.reproduce.claims import Claim
from onward.reproduce.table import Caveats, Column, Missing, PaperTable, Row, Run
from onward.results.record import RunRecord

PACKAGE = "onward.configs.tic.values"
PROTOCOL = "budget"
UNDECIDED = "Three seeds show a direction and decide nothing: --seeds 0-7 runs eight."
# Multiply-accumulates a second of a graphics card.
_CARD = 1e14
_STATIC = "static"
_STATIC_TASKS = {
    "imagenet": "ImageNet",
    "imagenet_shifts": "shifts of ImageNet",
    "flickr30k": "Flickr30k",
    "avg28": "28 tasks",
}
_CAVEATS = Caveats(
    data={
        EMOJI: (
            "Other data: 1,001 to 1,527 drawings of emoji with captions in each of eight dated "
            "releases. Tests have 250 candidates, drawn as no model has learned them: compare "
            "orders, not levels. Art hardly changes between some releases, so that forward is "
            "easier than with photos.",
        )
    },
    recipe={
        "cpu": (
            "Recipe cpu: a CLIP of half a million weights on drawings of 32 pixels, 234 steps of "
            "128 pairs a period.",
        )
    },
)


def tic_table(
    name: str,
    title: str,
    where: str,
    rows: tuple[Row, ...],
    claims: tuple[Claim, ...],
    *,
    columns: tuple[Column, ...] | None = None,
    scale: str = USUAL_SCALE,
    notes: tuple[str, ...] = (),
    edition: str = "",
) -> PaperTable:
    """Return a table of the paper, whose published rows are those at one scale."""
    return PaperTable(
        name=f"tic/{name}",
        title=title,
        citation=f"Garg et al., TiC-CLIP, ICLR 2024, {where}",
        package=PACKAGE,
        file=f"{name}.csv",
        rows=rows,
        columns=_columns() if columns is None else columns,
        run=partial(_run, scale=scale),
        caveats=_CAVEATS,
        claims=claims,
        notes=notes,
        published_runs=1,
        edition=edition,
    )


def _columns() -> tuple[Column, ...]:
    """Return the published measures, and those that stand beside them here."""
    return (
        Column("compute", "compute", PROTOCOL, "MACs", measure=_compute),
        Column("bwt", "backward", PROTOCOL, "clear.backward_transfer"),
        Column("id", "in-domain", PROTOCOL, "clear.in_domain"),
        Column("fwt", "forward", PROTOCOL, "clear.forward_transfer"),
        Column(
            "unseen",
            "unseen, in-domain R@10",
            PROTOCOL,
            "recall10",
            measure=partial(_in_domain, UNSEEN, "recall10"),
        ),
        Column(
            "zero_shot",
            "zero-shot, in-domain",
            PROTOCOL,
            "recall1",
            measure=partial(_in_domain, ZERO_SHOT, "recall1"),
        ),
        Column("twemoji", "Twemoji, in the end", PROTOCOL, "recall1", measure=_twemoji),
        *(
            Column(name, heading, PROTOCOL, _STATIC, measure=_none)
            for name, heading in _STATIC_TASKS.items()
        ),
    )


def _run(row: Row, column: Column, data: str, recipe: str, *, scale: str) -> Run | Missing:
    """Say which run a cell is, or why this data has none."""
    if column.metric == _STATIC:
        return Missing(
            "static tasks are tests of a model in the end, from folders of their own: onward "
            "evaluate tic --static FOLDER"
        )
    if data != EMOJI and column.name == "unseen":
        return Missing("the official data has no identities that could be held out")
    if data != EMOJI and column.name == "twemoji":
        return Missing("Twemoji are part of the emoji edition")
    load = dict(row.load)
    if data != EMOJI and "splits" in load:
        return Missing("only the emoji edition is dealt into parts at random")
    if data != EMOJI and load.pop("filtered", "basic") != "basic":
        return Missing("of a folder, what is filtered is decided by who made its lists")
    if recipe == "paper":
        load["scale"] = scale
    return row.run(column, data, recipe, "tic", load)


def seconds(cpu: float, method: str, scale: str = USUAL_SCALE) -> dict[str, float]:
    """Return what a run takes: `cpu` on emoji, and on a graphics card at a scale of the paper's."""
    costs = {cost.method: cost for cost in tic_budget(scale, "paper").methods}
    return {"cpu": cpu, "paper": costs[method].work / _CARD}


def _compute(record: RunRecord) -> float:
    allowed = record.spec.protocol["limits"]["macs"] * len(record.spec.periods)
    macs = None if record.cost is None else record.cost.macs
    return float("nan") if macs is None else macs / allowed


def _in_domain(test: str, metric: str, record: RunRecord) -> float:
    return in_domain(record.matrix(metric, test))


def _twemoji(record: RunRecord) -> float:
    return float(record.static("twemoji")[-1])


def _none(record: RunRecord) -> float:
    return float("nan")
