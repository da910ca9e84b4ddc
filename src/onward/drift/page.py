"""One HTML file that shows how data has moved: it opens anywhere, offline, and asks nobody."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex, to_rgb

from onward.drift.figures import FIRST, STEP, Line, loss_against_drift, over_time
from onward.drift.hurts import PARTS
from onward.drift.measure import Drift
from onward.drift.pairs import Measured, Pair
from onward.drift.pictures import typical_of_change
from onward.drift.slices import brief
from onward.drift.texts import LEAST_WORDS
from onward.drift.verdict import findings, headline
from onward.errors import first_few
from onward.metrics.inputs import Floats
from onward.report.content_figures import Numbers, Plot, Studio
from onward.report.numbers import MISSING
from onward.report.rendering import write
from onward.report.style import MAP
from onward.report.words import capital

_MATRICES = {
    "frechet": "Fréchet distance of embeddings",
    "labels": "Total variation of labels",
    "nouns": "Total variation of nouns",
}
# A value, the ends of its band, and whether it is more than chance.
_Dot = tuple[float, float, float, bool]
_NO_DOT: _Dot = (float("nan"), float("nan"), float("nan"), False)
_MOST_NAMED = 24
_PART_WORDS = {
    "appearance": "drift of a class's looks (Fréchet, above chance)",
    "share": "change of a class's share",
    "newcomers": "share of new groups in a class",
}


@dataclass(frozen=True)
class Cell:
    """A cell of a matrix: what it says, and its colours."""

    text: str
    paper: str
    ink: str


def write_drift_page(found: Drift, out: Path) -> None:
    """Write the page of what `onward.drift.measure_drift` found."""
    studio = Studio(room=900_000)
    names = [part.name for part in found.parts]
    write(
        out,
        "drift.html.j2",
        (),
        title=f"Drift of {found.benchmark.card.title.removeprefix('Your data: ')}",
        headline=headline(found),
        found=found,
        findings=findings(found),
        plots=_curves(found, studio),
        rows=[_row(found, pair) for pair in found.pairs],
        matrices=[
            (_MATRICES[name], _cells(values), names) for name, values in found.matrices.items()
        ],
        changes=_changes(found),
        typical=typical_of_change(found),
        hurt_plots=_hurt_plots(found, studio),
        hurts=found.hurts,
        parts=PARTS,
        samples=sum(len(part.rows) for part in found.parts),
        notes=_how(found),
    )


def _curves(found: Drift, studio: Studio) -> list[Plot]:
    kinds: list[tuple[str, str, Callable[[Pair], Measured | None]]] = [
        ("Fréchet distance", "Fréchet distance of embeddings", lambda p: p.frechet),
        ("Labels", "total variation of labels", lambda p: p.tags.get("labels")),
        ("Nouns", "total variation of nouns", lambda p: p.tags.get("nouns")),
    ]
    plots: list[Plot] = []
    for title, label, measured in kinds:
        if any(measured(pair) for pair in found.pairs):
            lines = _lines(found, partial(_band, measured))
            plots += _shown(found, lines, title, label, "95 % without drift", studio)
    if any(pair.told for pair in found.pairs):
        lines = _lines(found, _accuracy)
        plots += _shown(found, lines, "Told apart", "recognised, %", "upper end", studio)
    return plots


def _shown(
    found: Drift, lines: Sequence[Line], title: str, label: str, above: str, studio: Studio
) -> list[Plot]:
    names = [part.name for part in found.parts]
    ends = [end for line in lines for part in (line.values, line.low, line.high) for end in part]
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    # A distance begins at zero; what is measured in percent begins where chance is.
    limits = (min(low, 50.0) if low > 1 else 0.0, high + 0.06 * (high - low) + 1e-9)
    plots: list[Plot] = []
    for line in lines:
        words = Plot(
            title=f"{title}, {line.name}",
            caption="",
            alt=f"{label} {line.name}: "
            + ", ".join(
                f"{name} {_number(value)}" for name, value in zip(names, line.values, strict=True)
            ),
            numbers=Numbers(
                ["period", title, above],
                [
                    [name, _number(value), _number(top)]
                    for name, value, top in zip(names, line.values, line.high, strict=True)
                ],
            ),
        )
        draw = partial(over_time, line, [brief(name) for name in names], label, limits)
        plots += studio.show(draw, words, {})
    return plots


def _lines(found: Drift, of: Callable[[Pair], _Dot | None]) -> list[Line]:
    """Return what was measured against the first period, and against the one before."""
    first = {pair.after: of(pair) for pair in found.pairs if pair.before == 0}
    step = {pair.after: of(pair) for pair in found.pairs if pair.neighbours}
    lines = []
    for name, colour, dots in (
        ("against the first period", FIRST, first),
        ("against the one before", STEP, step),
    ):
        along = [dots.get(at) or _NO_DOT for at in range(len(found.parts))]
        lines.append(Line(name, colour, *zip(*along, strict=True)))
    return lines


def _band(measured: Callable[[Pair], Measured | None], pair: Pair) -> _Dot | None:
    one = measured(pair)
    if one is None:
        return None
    return one.distance, float(np.quantile(one.null, 0.05)), one.high, one.above


def _accuracy(pair: Pair) -> _Dot | None:
    told = pair.told
    if told is None:
        return None
    return 100 * told.accuracy, 100 * told.low, 100 * told.high, pair.drift


def _row(found: Drift, pair: Pair) -> dict[str, Any]:
    told = pair.told
    return {
        "before": found.parts[pair.before].name,
        "after": found.parts[pair.after].name,
        "neighbours": pair.neighbours,
        "samples": f"{len(found.parts[pair.before].drawn):,} / "
        f"{len(found.parts[pair.after].drawn):,}",
        "frechet": _beside(pair.frechet),
        "frechet_above": pair.frechet.above,
        "endless": _number(pair.frechet.endless),
        "labels": _beside(pair.tags.get("labels")),
        "nouns": _beside(pair.tags.get("nouns")),
        "accuracy": MISSING if told is None else f"{100 * told.accuracy:.1f}",
        "interval": pair.why_not
        if told is None
        else f"{100 * told.low:.1f} to {100 * told.high:.1f}",
        "p": MISSING if told is None else _p(pair.adjusted),
        "drift": pair.drift,
    }


def _beside(one: Measured | None) -> tuple[str, str] | None:
    if one is None:
        return None
    return f"{one.distance:.3g}", f"{one.middle:.3g} ≤ {one.high:.3g}"


def _cells(values: Floats) -> list[list[Cell]]:
    scale = mpl.colormaps[MAP]
    most = float(np.nanmax(values)) or 1.0
    found = []
    for row in values:
        cells = []
        for value in row:
            if not np.isfinite(value):
                cells.append(Cell("", "transparent", "inherit"))
                continue
            colour = to_hex(scale(value / most))
            light = sum(w * c for w, c in zip((0.3, 0.59, 0.11), to_rgb(colour), strict=True))
            cells.append(Cell(f"{value:.2g}", colour, "#000" if light > 0.5 else "#fff"))
        found.append(cells)
    return found


def _changes(found: Drift) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Return for classes and words what is new and what has gone, period by period."""
    told = []
    for tags, word, least in (
        (found.labels, "Classes", 1),
        (found.words, f"Words, in {LEAST_WORDS} samples or more", LEAST_WORDS),
    ):
        if tags is None:
            continue
        new, gone = tags.new(least), tags.vanished(least)
        rows = [
            (
                found.parts[at].name,
                first_few(new.get(at, ()), most=_MOST_NAMED) or MISSING,
                first_few(gone.get(at, ()), most=_MOST_NAMED) or MISSING,
            )
            for at in sorted({*new, *gone})
        ]
        told.append((word, rows))
    return told


def _hurt_plots(found: Drift, studio: Studio) -> list[list[Plot]]:
    told = []
    for hurt in found.hurts:
        plots: list[Plot] = []
        for part, one in hurt.correlations.items():
            words = Plot(
                title=f"{hurt.method}: {part}",
                caption=f"Spearman {one.value:+.2f} ({one.low:+.2f} to {one.high:+.2f}), "
                f"p = {one.p:.2g}, over {one.units} classes. Small dots are pairs of periods, "
                "large ones the mean of a class.",
                alt=f"Loss of accuracy against {_PART_WORDS[part]}, class by class.",
            )
            draw = partial(loss_against_drift, hurt, part, _PART_WORDS[part])
            plots += studio.show(draw, words, {})
        told.append(plots)
    return told


def _how(found: Drift) -> list[tuple[str, str]]:
    draws, level = found.held.draws, 100 * found.held.level
    return [
        *((name, capital(text) + ".") for name, text in found.notes.items()),
        (
            "without drift",
            f"Samples of both periods are dealt to two sides at random, {draws} times, what a "
            "group has in one period together; of a group that is in both, the two parts change "
            "sides or do not. Labels and nouns, which stay with a group, are dealt as if no group "
            "came back: their band is wider than it need be where some do.",
        ),
        (
            "without end",
            "What the Fréchet distance tends to as samples grow in number: twice the distance, "
            "less that of halves.",
        ),
        (
            "classifier",
            "Ridge regression on half of the groups, tested on the other half, and the reverse; "
            "the mean of the shares of either period that are recognised. Wilson's interval for "
            "half of the effective number of samples, since the two halves err alike. Drift is "
            f"what remains at {level:g} % after Holm's rule over all pairs.",
        ),
    ]


def _number(value: float | None) -> str:
    return MISSING if value is None or not np.isfinite(value) else f"{value:.3g}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
