"""The training curves of a run: each metric over the optimizer steps of all periods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onward.results.training import TrainingRecord, read_training

# The first metrics that are shown; what a method has logged comes between them.
_FIRST, _LAST = ("loss",), ("grad_norm", "lr", "samples_per_second", "waiting_share")


@dataclass(frozen=True, eq=False)
class TrainingCurve:
    """One metric of a run.

    Parameters
    ----------
    kind
        Whether its values are those of single steps or means of epochs.
    steps
        The optimizer steps of the run that the values belong to.
    periods
        The index of the period of each value.
    values
        The values; NaN where one was not finite.
    """

    kind: str
    steps: NDArray[np.int64]
    periods: NDArray[np.int64]
    values: NDArray[np.float64]

    def binned(self, period: int, bins: int) -> NDArray[np.float64]:
        """Return the means of so many equal parts of a period, NaN where there is no value."""
        mine = self.values[self.periods == period]
        if not len(mine):
            return np.full(bins, np.nan)
        at = np.arange(len(mine)) * bins // len(mine)
        finite = np.isfinite(mine)
        total = np.bincount(at[finite], mine[finite], bins)
        count = np.bincount(at[finite], minlength=bins)
        means = np.full(bins, np.nan)
        means[count > 0] = total[count > 0] / count[count > 0]
        return means


@dataclass(frozen=True, eq=False)
class TrainingCurves:
    """All curves of a run by name, and the step that each period begins with."""

    first_steps: Mapping[int, int]
    curves: Mapping[str, TrainingCurve]


def training_curves(folder: Path) -> TrainingCurves:
    """Return the training curves of a run folder; none where nothing was recorded.

    A metric has the values of single steps where there are any, and else the means of epochs.
    """
    records = [record for record in read_training(folder) if record.kind != "test"]
    first: dict[int, int] = {}
    for record in records:
        first.setdefault(record.period, record.step)
    # A period whose epochs alone are recorded begins after the last step of the one before.
    last = {record.period: record.step for record in records}
    begins = {
        period: 1 if before is None else last[before] + 1
        for before, period in zip([None, *first], first, strict=False)
    }
    names = list(dict.fromkeys(name for record in records for name in record.values))
    found = {name: _curve(records, name) for name in _ordered(names)}
    return TrainingCurves(begins, {n: c for n, c in found.items() if len(c.values) > 1})


def _curve(records: Sequence[TrainingRecord], name: str) -> TrainingCurve:
    mine = [record for record in records if name in record.values]
    # How fast training was is measured now and then between steps: epochs say it better.
    steps = [r for r in mine if r.kind == "step"] if name not in _LAST[-2:] else []
    epochs = [record for record in mine if record.kind == "epoch"]
    chosen = steps or epochs
    return TrainingCurve(
        kind="step" if steps else "epoch",
        steps=np.array([record.step for record in chosen], np.int64),
        periods=np.array([record.period for record in chosen], np.int64),
        values=np.array([record.values[name] for record in chosen], np.float64),
    )


def _ordered(names: Sequence[str]) -> list[str]:
    middle = [name for name in names if name not in (*_FIRST, *_LAST)]
    return [name for name in (*_FIRST, *middle, *_LAST) if name in names]


def curves_as_json(found: TrainingCurves, periods: Sequence[str]) -> dict[str, object]:
    """Return curves as what `json` can write."""
    return {
        "periods": [
            {"name": periods[period], "first_step": step}
            for period, step in found.first_steps.items()
        ],
        "curves": {
            name: {
                "kind": curve.kind,
                "step": curve.steps.tolist(),
                "period": curve.periods.tolist(),
                "value": [float(v) if np.isfinite(v) else None for v in curve.values],
            }
            for name, curve in found.curves.items()
        },
    }
