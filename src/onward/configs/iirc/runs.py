"""What IIRC's tables share: methods, what is measured, and which run a cell is."""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from onward.benchmarks import Source
from onward.benchmarks.iirc import MODELS
from onward.benchmarks.iirc_data import recognised
from onward.benchmarks.iirc_recipes import published_changes
from onward.report.answers import answers
from onward.reproduce.table import Column, Missing, Row, Run
from onward.results.record import RunRecord

PACKAGE = "onward.configs.iirc.values"
NOTES = (
    "Means over periods are computed from the published numbers. The tables have neither "
    "finetuning nor BiC, which the paper's figures show, and no EWC, SI and LwF.",
)
CITATION = "Abdelsalam et al., IIRC, CVPR 2021"
EMOJI = "emoji"
_EMOJI_PERIODS = 10
_SEEDS = 8
# CPU seconds of a run, by recipe: cpu measured on the emoji edition, paper extrapolated from
# multiply-accumulates, samples and epochs: a processor takes years for what a few GPUs take days.
CIFAR = {"cpu": 5.0, "paper": 100_000.0}
IMAGENET_LITE = {"cpu": 5.0, "paper": 15_000_000.0}
IMAGENET_FULL = {"cpu": 5.0, "paper": 50_000_000.0}
# Name, label, as published, method of the catalogue, its options, protocol if another one.
METHODS: tuple[tuple[str, str, str | None, str, Mapping[str, Any], str | None], ...] = (
    ("finetune", "finetune", None, "finetune", {}, None),
    ("er", "ER", "ER", "er", {}, None),
    ("er_infinite", "ER-infinite", "ER-infinite", "er_infinite", {}, None),
    ("agem", "A-GEM", "A-GEM", "agem", {"own_classes": True, "sample": 128}, None),
    ("icarl_cnn", "iCaRL-CNN", "iCaRL-CNN", "icarl_cnn", {}, None),
    ("icarl_norm", "iCaRL-norm", "iCaRL-norm", "icarl_norm", {}, None),
    ("lucir", "LUCIR", "LUCIR", "lucir", {}, None),
    ("bic", "BiC (ours)", None, "bic", {}, None),
    ("ewc", "EWC", None, "ewc", {}, None),
    ("si", "SI", None, "si", {}, None),
    ("lwf", "LwF", None, "lwf", {}, None),
    (
        "incremental_joint",
        "incremental joint",
        "incremental joint",
        "cumulative",
        {},
        "complete",
    ),
    ("joint", "joint", "joint", "finetune", {}, "joint"),
)


def rows(published: tuple[str, ...], seconds: Mapping[str, float]) -> tuple[Row, ...]:
    """Return the methods as rows; those that the paper has no number of have no key."""
    return tuple(
        Row(
            name=name,
            label=label,
            key={"method": theirs} if theirs in published else None,
            method=method,
            options=options,
            load={} if protocol is None else {"protocol": protocol},
            seconds=seconds,
            seeds=_SEEDS,
        )
        for name, label, theirs, method, options, protocol in METHODS
    )


def columns(periods: int) -> tuple[Column, ...]:
    """Return the score after every period, and what was answered in the end."""
    protocol = "incomplete"
    followed = (
        Column(
            f"after_{n}",
            f"after {n}",
            protocol,
            "pooled pw-Jaccard",
            after=n,
            shown="pooled" if n == periods - 1 else None,
        )
        for n in range(periods)
    )
    return (
        *followed,
        Column(
            "mean",
            "mean over periods",
            protocol,
            "pooled pw-Jaccard",
            measure=_mean,
            shown="pooled_mean",
        ),
        Column("own", "own period (R_jj)", protocol, "clear.in_domain"),
        *(
            Column(name, heading, protocol, heading, measure=partial(_answered, name))
            for name, heading in (
                ("over_labelled", "Jaccard less pw-Jaccard"),
                ("superclasses", "superclasses alone"),
                ("superclass_alone", "superclass said, subclass not"),
                ("precision_under", "precision, subclasses under one"),
                ("precision_others", "precision, other subclasses"),
            )
        ),
    )


def run(
    kind: str, edition: str | None, row: Row, column: Column, data: str, recipe: str
) -> Run | Missing:
    """Say which run a cell is, or why this data has none.

    Parameters
    ----------
    kind, edition
        The data that the table is of; the emoji edition stands in for any.
    row, column, data, recipe
        As `PaperTable.run`.
    """
    if data == EMOJI:
        if column.after is not None and column.after >= _EMOJI_PERIODS:
            return Missing(f"the emoji edition has {_EMOJI_PERIODS} periods")
    elif (found := recognised(data)[0]) != kind:
        return Missing(f"this table is of {kind}, and the folder holds {found}")
    load = dict(row.load)
    protocol = load.pop("protocol", column.protocol)
    training: Mapping[str, Any] = {}
    if data != EMOJI and edition is not None:
        load["edition"] = edition
    if data != EMOJI and recipe == "paper":
        training = published_changes(MODELS[kind], row.method, protocol)
    source = Source("iirc", data, protocol, recipe, load, training)
    return Run(source, row.method, dict(row.options))


def caveats(data: str, recipe: str) -> tuple[str, ...]:
    """Say what keeps our numbers from being the published ones."""
    found = []
    if data == EMOJI:
        found.append(
            "Other data: drawings of emoji, 31 classes in 10 periods, a two-layer network on "
            "hand-made features where the paper trains a ResNet on photos. Published numbers stand "
            "beside periods of the same number, which hold other classes. Compare orders, not "
            "levels."
        )
    if recipe == "cpu":
        found.append(
            "Recipe cpu: fewer epochs on fixed steps, and no wait for a plateau. EWC and SI have "
            "CLEAR's strengths, and no best epoch is taken for them."
        )
    found.append("Joint training is tested once, after all periods: its mean is that score.")
    return tuple(found)


def _mean(record: RunRecord) -> float:
    """Return the mean over periods of the score on all of the past."""
    scores = record.static("pooled")
    known = scores[scores == scores]
    return float(known.mean())


def _answered(name: str, record: RunRecord) -> float:
    return _in_the_end(record)[name]


@lru_cache(maxsize=1)
def _in_the_end(record: RunRecord) -> dict[str, float]:
    """Return all measures of a run's last answers; its columns are asked for one by one."""
    return answers(record, max(record.decisions)).measures()
