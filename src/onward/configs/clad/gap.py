"""CLAD, appendix B.2: train on one domain, test on each.

onward reproduce clad/gap --data street --recipe cpu --out DIR
onward reproduce clad/gap --data FOLDER --recipe paper --out DIR

Cost: 2 runs, 9 min of CPU time (cpu) or 27.8 days (paper).
"""

from functools import partial

from onward.benchmarks.clad_data import STREET
from onward.benchmarks.clad_recipes import FIRST_EPOCHS
from onward.configs.clad.boxes import (
    CITATION,
    EDITION,
    NAMES,
    PACKAGE,
    PROTOCOL,
    caveats,
    cell,
    run,
)
from onward.reproduce.claims import Cell, Claim, Pair
from onward.reproduce.table import Column, PaperTable, Row

_CITY, _HIGHWAY, _NIGHT, _RAIN = NAMES
_UNDECIDED = "Two seeds show a direction and decide nothing: --seeds 0-7 runs eight."


def _name(learned: str, tested: str) -> str:
    return f"{learned}_{tested}"


def _on(learned: str, tested: str) -> Cell:
    return Cell("scratch", _name(learned, tested))


TABLE = PaperTable(
    name="clad/gap",
    title="Gaps between the domains of CLAD-D: train on one of them, test on each",
    citation=f"{CITATION}, appendix B.2",
    package=PACKAGE,
    file=None,
    rows=(
        Row(
            name="scratch",
            label="one domain",
            key=None,
            method="scratch",
            # As long on every domain as on the first.
            load={"training": {"cpu": {"epochs": FIRST_EPOCHS}}},
            seconds={"cpu": 280, "paper": 1_200_000},
            seeds=2,
        ),
    ),
    columns=tuple(
        Column(
            _name(learned, tested),
            f"{learned}, tested on {tested}",
            PROTOCOL,
            "map50",
            measure=partial(cell, NAMES.index(learned), NAMES.index(tested)),
        )
        for learned in NAMES
        for tested in NAMES
    ),
    run=run,
    caveats=caveats,
    claims=(
        Claim(
            name="night is farthest from the city by day",
            text="Trained in the city by day, a detector is worse at night than on highways or in "
            "rain.",
            where="appendix B.2, Figure B.6",
            pairs=(
                Pair(_on(_CITY, _HIGHWAY), _on(_CITY, _NIGHT)),
                Pair(_on(_CITY, _RAIN), _on(_CITY, _NIGHT)),
            ),
            note=f"The paper has a classifier of objects there. {_UNDECIDED}",
            seeds=2,
        ),
        Claim(
            name="gaps are not symmetric",
            text="From highways to the city less is carried over than from the city to highways.",
            where="appendix B.2",
            pairs=(Pair(_on(_CITY, _HIGHWAY), _on(_HIGHWAY, _CITY)),),
            note=f"Few pedestrians and cyclists are on highways to learn from. {_UNDECIDED}",
            seeds=2,
        ),
    ),
    published_runs=1,
    upright=True,
    usual=STREET,
    edition=EDITION,
)
