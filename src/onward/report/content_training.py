"""The training curves of a setting: figures of loss, validation score and gradient norm."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError
from onward.report.content_figures import Look, Numbers, Plot, Studio
from onward.report.figures_training import Band, training_curve
from onward.report.summary import Summary
from onward.report.training_curves import TrainingCurves, training_curves
from onward.report.words import capital

_WORDS = {"loss": "training loss", "grad_norm": "gradient norm", "lr": "learning rate"}
# On one page, metrics of the machine are of no interest, and lines of more points no finer.
_LEFT_OUT = ("samples_per_second", "waiting_share", "skipped_steps")
_MOST = 4
_POINTS = 160


def training_plots(
    shown: Sequence[Summary], look: Look, studio: Studio
) -> tuple[list[Plot], list[str]]:
    """Draw a figure per metric with a line per method; return what could not be read, too."""
    found: dict[str, list[TrainingCurves]] = {}
    notes = []
    for item in shown:
        for record in item.records:
            try:
                if record.path is not None and (read := training_curves(record.path)).curves:
                    found.setdefault(item.label, []).append(read)
            except OnwardError as error:
                notes.append(f"The training curves of {item.label} could not be read: {error}.")
    if not found:
        return [], notes
    counted: dict[str, int] = {}
    for name in (name for runs in found.values() for name in runs[0].curves):
        counted[name] = counted.get(name, 0) + 1
    # What all methods have comes first; the learning rate only where there is room.
    names = [name for name in counted if name not in _LEFT_OUT]
    names.sort(key=lambda name: (name == "lr", -counted[name]))
    plots: list[Plot] = []
    for name in names[:_MOST]:
        plots += _plot(name, found, shown[0].spec.periods, look, studio)
    return plots, notes


def _plot(
    name: str,
    found: Mapping[str, Sequence[TrainingCurves]],
    periods: Sequence[str],
    look: Look,
    studio: Studio,
) -> list[Plot]:
    bands = {
        label: band
        for label, runs in found.items()
        if (band := _band([run for run in runs if name in run.curves], name, len(periods)))
    }
    what = _WORDS.get(name, name.replace("_", " "))
    rows = [[label, *_ends(band)] for label, band in bands.items()]
    words = Plot(
        title=capital(what),
        caption=f"{capital(what)} from period to period; each point is the mean of some steps or "
        "epochs. The band is one standard deviation over seeds to either side.",
        alt=f"{capital(what)} over training: "
        + ", ".join(f"{label} {first} to {last}" for label, first, last in rows),
        numbers=Numbers(["method", "first", "last"], rows),
    )
    draw = partial(training_curve, bands, periods, look.palette, what)
    return studio.show(draw, words, look.numbers)


def _band(runs: Sequence[TrainingCurves], name: str, periods: int) -> Band | None:
    """Return the mean over seeds, and the deviation, at places counted in periods."""
    if not runs:
        return None
    curves = [run.curves[name] for run in runs]
    places: list[NDArray[np.float64]] = []
    lines: list[list[NDArray[np.float64]]] = [[] for _ in curves]
    for period in range(periods):
        counts = [int(np.count_nonzero(curve.periods == period)) for curve in curves]
        if not min(counts):
            continue
        bins = max(1, min([*counts, _POINTS // periods]))
        places.append(period + (np.arange(bins) + 0.5) / bins)
        for line, curve in zip(lines, curves, strict=True):
            line.append(curve.binned(period, bins))
    if not places:
        return None
    values = np.array([np.concatenate(line) for line in lines])
    there = np.isfinite(values).all(axis=0)
    if not there.any():
        return None
    where, values = np.concatenate(places)[there], values[:, there]
    deviation = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])
    return Band(where, values.mean(axis=0), deviation)


def _ends(band: Band) -> tuple[str, str]:
    return f"{band.mean[0]:.4g}", f"{band.mean[-1]:.4g}"
