"""CLAD, Table 1: objects of one drive, by the challenge's winners and two baselines.

onward reproduce clad/table1 --data street --recipe cpu --out DIR
onward reproduce clad/table1 --data FOLDER --recipe paper --out DIR

Cost: 84 runs, 15 min of CPU time (cpu) or 23.7 days (paper).
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from onward.benchmarks.clad_data import STREET
from onward.configs.clad.boxes import CITATION
from onward.configs.clad.table1_claims import CLAIMS
from onward.data.clad_sets import DAYS_AND_NIGHTS
from onward.report.summary import TEST, amca_of
from onward.reproduce.table import Caveats, Column, PaperTable, Row
from onward.results.record import RunRecord
from onward.tasks.one_label import CLASS_MEAN

_PROTOCOL = "online"
# Of rows that no claim names.
_SEEDS = 3
# What crops of 32 pixels are scaled up to, where 224 would take fifty times as long.
_SCALED_UP = {"side": 48}
# Name, label, as published, method of the catalogue, its options, CPU seconds of a run by recipe:
# cpu measured on Emoji Street, paper extrapolated from a step of its network.
_METHODS: tuple[tuple[str, str, str | None, str, Mapping[str, Any], float, float], ...] = (
    ("finetune", "finetune", "Finetune", "finetune", {}, 5, 6_000),
    ("oversample", "oversampling replay", "Oversample", "oversample", {}, 7, 8_000),
    ("c1", "C1", "C1", "c1", {}, 10, 65_000),
    ("c2", "C2", "C2", "c2", {}, 14, 8_000),
    ("c3", "C3", "C3", "c3", {}, 12, 9_000),
    ("c1/up_scaled", "C1, up-scaled", None, "c1", {"side": 224}, 16, 65_000),
    ("c1/as_it_is", "C1, not up-scaled", None, "c1", {"side": 0}, 10, 7_000),
    ("c1/one_head", "C1, heads not merged", None, "c1", {"merges": False}, 9, 65_000),
    ("c2/plain", "C2, labels not softened", None, "c2", {"smoothing": 0.0}, 14, 8_000),
    ("er", "ER", None, "er", {}, 7, 7_000),
    ("agem", "A-GEM", None, "agem", {"sample": 32}, 10, 10_000),
    ("ewc", "EWC", None, "ewc", {}, 12, 8_000),
)


def _after(period: int, record: RunRecord) -> float:
    return float(record.static(TEST, CLASS_MEAN)[period])


TABLE = PaperTable(
    name="clad/table1",
    title="AMCA of CLAD-C: the baselines and the three best of the challenge",
    citation=f"{CITATION}, Table 1",
    package="onward.configs.clad.values",
    file="table1.csv",
    rows=(
        *(
            Row(
                name=name,
                label=label,
                key=None if published is None else {"method": published},
                method=method,
                options=options,
                adapted={"cpu": _SCALED_UP} if options.get("side") else {},
                seconds={"cpu": cpu, "paper": paper},
                seeds=_SEEDS,
            )
            for name, label, published, method, options, cpu, paper in _METHODS
        ),
        Row(
            name="joint",
            label="joint",
            key=None,
            method="finetune",
            protocol="joint",
            seconds={"cpu": 13, "paper": 14_000},
            seeds=_SEEDS,
        ),
    ),
    columns=(
        Column("amca", "AMCA", _PROTOCOL, "AMCA", measure=amca_of, shown="amca"),
        *(
            Column(
                f"after_{at}",
                f"after {day:%d %b} {'day' if light == 'Daytime' else 'night'}",
                _PROTOCOL,
                "mean over classes",
                measure=partial(_after, at),
            )
            for at, (day, light) in enumerate(DAYS_AND_NIGHTS)
        ),
    ),
    run=partial(Row.run, benchmark="clad-c"),
    caveats=Caveats(
        data={
            STREET: (
                "Other data: Emoji Street, about 2,400 drawn objects where CLAD-C has 22,249 in "
                "photos. Compare orders, not levels.",
            )
        },
        recipe={
            "cpu": (
                "Recipe cpu: a network of 163,000 weights, from random ones, on crops of 32 "
                "pixels, with a memory of 200. C1's are not scaled up, since that does not help "
                "this network.",
            ),
            "paper": (
                "Published runs start from ImageNet's weights, these from random ones. With "
                "weights in a file: onward run clad-c --recipe paper --weights FILE",
            ),
        },
        always=("Joint training is tested once, after all of the drive: its AMCA is that score.",),
    ),
    claims=CLAIMS,
    notes=("One number a method is published, without a deviation or the number of runs.",),
    published_runs=1,
    pictures="drive",
    usual=STREET,
    edition="CLAD-C on SODA10M",
)
