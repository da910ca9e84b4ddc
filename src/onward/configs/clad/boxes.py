"""What CLAD-D's tables share: which run a cell is, and what is read out of it."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from onward.benchmarks.clad_data import STREET
from onward.data.clad_sets import DOMAINS_OF_IMAGES
from onward.metrics.literature import chaudhry_forgetting
from onward.report.summary import FINAL
from onward.reproduce.table import Caveats, Column, PaperTable, Row, Run
from onward.results.record import RunRecord

CITATION = "Verwimp et al., CLAD, Neural Networks 2023"
PROTOCOL = "domains"
NAMES = tuple(domain.name for domain in DOMAINS_OF_IMAGES)
# The option of a row that names a backbone, and the detector that it is under each recipe.
BACKBONE = "backbone"
_DETECTORS = {"swin": {"cpu": "small_swin", "paper": "faster_rcnn_swin"}}
# Name, heading, score, and what a summary calls its mean over domains in the end.
_FORMS = (
    ("map", "mAP, all domains", "map50", FINAL),
    ("map_voc", "in VOC's form", "map50_voc", None),
    ("map_challenge", "by the challenge's overlaps", "map_challenge", None),
)
CAVEATS = Caveats(
    data={
        STREET: (
            "Other data: Emoji Street, 707 drawn frames of 192 x 108 pixels to learn from where "
            "CLAD-D has 7,803 photos. Few tricycles drive at night, and each class weighs alike: a "
            "domain's figure is uncertain by several points. Compare orders, not levels.",
        )
    },
    recipe={
        "cpu": (
            "Recipe cpu: a Faster R-CNN of half a million weights, from random ones, with a memory "
            "of 60 images.",
        ),
        "paper": (
            "Published runs start from COCO's or ImageNet's weights, these from random ones. With "
            "weights in a file: onward run clad-d --recipe paper --weights FILE",
        ),
    },
)


def in_the_end() -> tuple[Column, ...]:
    """Return what a model is worth after the last domain, and what it has lost on the way."""
    return (
        *(
            Column(name, heading, PROTOCOL, metric, measure=partial(_mean_end, metric), shown=shown)
            for name, heading, metric, shown in _FORMS
        ),
        *(
            Column(name, f"{name} in the end", PROTOCOL, "map50", measure=partial(cell, -1, place))
            for place, name in enumerate(NAMES)
        ),
        Column("own", "earlier domains, when learned", PROTOCOL, "map50", measure=_when_learned),
        Column("kept", "earlier domains, in the end", PROTOCOL, "map50", measure=_kept),
        Column("worst", "earlier domains, at their worst", PROTOCOL, "map50", measure=_worst),
        Column("lost", "earlier domains, lost by then", PROTOCOL, "map50", measure=_lost),
        Column("forgetting", "forgetting", PROTOCOL, "best less last", measure=_forgetting),
    )


def run(row: Row, column: Column, data: str, recipe: str) -> Run:
    """Say which run a cell is."""
    backbone = row.load.get(BACKBONE)
    load = {} if backbone is None else {"model": _DETECTORS[backbone][recipe]}
    return row.run(column, data, recipe, "clad-d", load)


def cell(learned_upto: int, tested_on: int, record: RunRecord) -> float:
    """Return a score of the matrix; NaN where there is none."""
    return float(record.matrix()[learned_upto, tested_on])


def _mean_end(metric: str, record: RunRecord) -> float:
    return float(record.matrix(metric)[-1].mean())


def _earlier(record: RunRecord) -> NDArray[np.float64]:
    """Return the matrix of all domains but the last one, without what came before they did."""
    matrix = record.matrix()
    return np.where(np.tri(len(matrix), dtype=bool), matrix, np.nan)[:, :-1]


def _when_learned(record: RunRecord) -> float:
    return float(np.diagonal(_earlier(record)).mean())


def _kept(record: RunRecord) -> float:
    matrix = _earlier(record)
    # Where everything is learned at once, nothing was learned earlier.
    return float(matrix[-1].mean()) if np.isfinite(matrix[0, 0]) else float("nan")


def _worst(record: RunRecord) -> float:
    matrix = _earlier(record)
    if not np.isfinite(matrix[0, 0]):
        return float("nan")
    lowest = [np.nanmin(column[place + 1 :]) for place, column in enumerate(matrix.T)]
    return float(np.mean(lowest))


def _lost(record: RunRecord) -> float:
    return _when_learned(record) - _worst(record)


def _forgetting(record: RunRecord) -> float:
    matrix = record.matrix()
    return chaudhry_forgetting(matrix) if np.isfinite(matrix).all() else float("nan")


box_table = partial(
    PaperTable,
    package="onward.configs.clad.values",
    run=run,
    caveats=CAVEATS,
    published_runs=1,
    upright=True,
    pictures="boxes",
    usual=STREET,
    edition="CLAD-D on SODA10M",
)
