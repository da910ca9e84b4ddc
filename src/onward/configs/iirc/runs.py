"""What IIRC's tables share: methods, what is measured, and which run a cell is."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from onward.benchmarks.iirc import MODELS
from onward.benchmarks.iirc_data import recognised
from onward.benchmarks.iirc_recipes import published_changes
from onward.report.answers import answers
from onward.report.summary import pooled_mean_of
from onward.reproduce.table import Caveats, Column, Missing, PaperTable, Row, Run
from onward.results.record import RunRecord

CITATION = "Abdelsalam et al., IIRC, CVPR 2021"
EMOJI = "emoji"
_EMOJI_PERIODS = 10
_SEEDS = 8
# CPU seconds of a run, by recipe: cpu measured on the emoji edition, paper extrapolated from
# multiply-accumulates, samples and epochs: a processor takes years for what a few GPUs take days.
CIFAR = {"cpu": 5.0, "paper": 100_000.0}
IMAGENET_LITE = {"cpu": 5.0, "paper": 15_000_000.0}
IMAGENET_FULL = {"cpu": 5.0, "paper": 50_000_000.0}
_JOINT = "incremental joint"
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
    ("incremental_joint", _JOINT, _JOINT, "cumulative", {}, "complete"),
    ("joint", "joint", "joint", "finetune", {}, "joint"),
)
CAVEATS = Caveats(
    data={
        EMOJI: (
            "Other data: drawings of emoji, 31 classes in 10 periods, a two-layer network on "
            "hand-made features where the paper trains a ResNet on photos. Published numbers stand "
            "beside periods of the same number, which hold other classes. Compare orders, not "
            "levels.",
        )
    },
    recipe={
        "cpu": (
            "Recipe cpu: fewer epochs on fixed steps, and no wait for a plateau. EWC and SI have "
            "CLEAR's strengths, and no best epoch is taken for them.",
        )
    },
    always=("Joint training is tested once, after all periods: its mean is that score.",),
)
iirc_table = partial(
    PaperTable,
    package="onward.configs.iirc.values",
    caveats=CAVEATS,
    upright=True,
    pictures="labels",
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
            protocol=protocol,
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
            measure=pooled_mean_of,
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

    A table is of data of some kind and edition; the emoji edition stands in for any.
    """
    if data == EMOJI:
        if column.after is not None and column.after >= _EMOJI_PERIODS:
            return Missing(f"the emoji edition has {_EMOJI_PERIODS} periods")
        return row.run(column, data, recipe, "iirc")
    if (found := recognised(data)[0]) != kind:
        return Missing(f"this table is of {kind}, and the folder holds {found}")
    published = published_changes(MODELS[kind], row.method, row.protocol or column.protocol)
    changed = replace(row, training={"paper": published})
    return changed.run(column, data, recipe, "iirc", {"edition": edition} if edition else {})


def _answered(name: str, record: RunRecord) -> float:
    return _in_the_end(record)[name]


@lru_cache(maxsize=1)
def _in_the_end(record: RunRecord) -> dict[str, float]:
    """Return all measures of a run's last answers; its columns are asked for one by one."""
    return answers(record, max(record.decisions)).measures()
