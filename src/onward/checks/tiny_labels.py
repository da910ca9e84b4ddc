"""The tiny stream with many labels: coarse ones first, finer ones later, only new ones shown."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onward.data.split import held_out, uniform
from onward.train.recipe import Recipe
from onward.types import Array, Holdout, Period, Protocol, Samples, Stream, Table

PERIODS = (("round", "angular"), ("circle",), ("square", "wave"), ("star",))
_COARSE = {"circle": "round", "wave": "round", "square": "angular", "star": "angular"}
_VALIDATION = 0.2

# Slows down at once, so that a resumed call has something to remember.
RECIPE = Recipe(
    model="linear",
    lr=0.5,
    momentum=0.9,
    weight_decay=1e-5,
    batch_size=24,
    epochs=2,
    first_epochs=3,
    patience=0,
    exemplars_per_class=3,
    hidden_dim=32,
)


def cut_labels(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Let two coarse classes arrive, then their four finer ones.

    Two of five samples of a finer class come with the coarse one, four of five with its own. As
    with data that is released with its split, one split is all there is; seeds change the order.
    """
    names = tuple(name for period in PERIODS for name in period)
    shape, group, turn = (table.values(name) for name in ("subclass", "group", "turn"))
    # The year before the first period has no place in a stream.
    labelled = table.values("year") > table.values("year").min()
    test = labelled & held_out(group, Holdout(0.3), 0)
    checked = labelled & ~test & (uniform(group, "validation") < _VALIDATION)
    learned = labelled & ~test & ~checked
    fine = np.array([names.index(name) for name in shape])
    coarse = np.array([names.index(_COARSE[name]) for name in shape])
    complete = np.stack([coarse, fine], 1)
    order = np.random.default_rng(seed).permutation(len(table))

    def shown(side: NDArray[np.bool_], first: int, known: int) -> Samples:
        new = [
            np.where((coarse >= first) & (coarse < known) & (turn % 5 < 2), coarse, -1),
            np.where((fine >= first) & (fine < known) & (turn % 5 >= 1), fine, -1),
        ]
        labels: Array = np.stack(new, 1)
        rows = order[(side & (labels >= 0).any(1))[order]]
        if protocol.complete:
            labels = np.where(complete < known, complete, -1)
        return Samples(rows, labels[rows])

    periods, known = [], 0
    for index, arriving in enumerate(PERIODS):
        first, known = known, known + len(arriving)
        here = ((complete >= first) & (complete < known)).any(1)
        tested = order[(test & here)[order]]
        periods.append(
            Period(
                index=index,
                name=f"period {index}",
                start=None,
                end=None,
                train=shown(learned, first, known),
                test=Samples(tested, complete[tested]),
                classes=names[:known],
                validation=shown(checked, first, known),
            )
        )
    stream = Stream(table, tuple(periods))
    return replace(stream, complete=complete) if protocol.complete else stream
