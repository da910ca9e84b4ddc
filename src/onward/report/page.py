"""One HTML file that shows runs to people: it opens anywhere, offline, and asks nobody."""

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2

from onward.errors import OnwardError
from onward.files import storage, write_atomic
from onward.methods import METHODS
from onward.report import figures, words
from onward.report.comparison import Comparison, against, decided_best
from onward.report.decay import class_decay, curve
from onward.report.provenance import StreamCard, environments, stream_card, years_by_distance
from onward.report.summary import Summary, by_setting, shown_metrics, summarise, unfinished
from onward.report.verdict import BASELINE, findings
from onward.results.record import RunRecord
from onward.results.schema import RunSpec


@dataclass(frozen=True)
class Picture:
    """An image that carries its own content, and the words for who cannot see it."""

    source: str
    alt: str


@dataclass(frozen=True)
class Row:
    """One method in a table: its summary, and which of its values are decided to be best."""

    summary: Summary
    best: frozenset[str]
    comparison: Comparison | None


@dataclass(frozen=True)
class Section:
    """One setting: its table and its figures."""

    summaries: Sequence[Summary]
    metrics: Sequence[str]
    tests: Sequence[str]
    rows: Sequence[Row]
    compared: bool
    matrices: Sequence[Picture]
    distances: Picture

    @property
    def spec(self) -> RunSpec:
        """What its runs share."""
        return self.summaries[0].spec

    @property
    def decided(self) -> bool:
        """Whether any value in the table is decided to be best."""
        return any(row.best for row in self.rows)


def write_page(
    records: Iterable[RunRecord],
    out: Path,
    *,
    title: str,
    contact_sheet_png: bytes | None = None,
    commands: Sequence[str],
) -> Path:
    """Write the page of one benchmark's runs.

    Parameters
    ----------
    records
        Runs of any methods, protocols and seeds, on one version of one data.
    out
        The file to write.
    title
        The headline.
    contact_sheet_png
        A picture of the data, one row per date.
    commands
        What to type to get the same runs.

    Returns
    -------
        The file.
    """
    records = list(records)
    settings = by_setting(summarise(records))
    _refuse(settings, unfinished(records))
    text = _template().render(
        title=title,
        contact_sheet=_png(contact_sheet_png) if contact_sheet_png else None,
        commands=commands,
        **_context(records, settings),
    )
    with storage(out):
        write_atomic(out, text.encode())
    return out


def _refuse(settings: Sequence[Sequence[Summary]], left_out: Sequence[RunRecord]) -> None:
    if not settings:
        raise OnwardError(
            f"expected at least one complete run to report, found {len(left_out)} unfinished. "
            "Run the same commands again to finish them"
        )
    found = sorted({f"{group[0].spec.benchmark}/{group[0].spec.data}" for group in settings})
    if len(found) > 1:
        raise OnwardError(
            f"expected runs of one benchmark on one data for a page, found {', '.join(found)}. "
            "Write one page for each: give the folder of one benchmark"
        )


def _context(records: Sequence[RunRecord], settings: Sequence[list[Summary]]) -> dict[str, Any]:
    everyone = [summary for group in settings for summary in group]
    palette = figures.colours([summary.label for summary in everyone])
    limits = figures.score_limits(everyone)
    card = stream_card(records)
    used = [record for summary in everyone for record in summary.records]
    return {
        "card": card,
        "environments": environments(used),
        "findings": findings(settings, card),
        "labels": sorted(palette),
        "words": words,
        "methods": METHODS,
        "baseline": BASELINE,
        "runs": len(used),
        "unfinished": unfinished(records),
        "sections": [_section(group, limits, palette, card) for group in settings],
        "scale": Picture(
            figures.to_data_uri(figures.colour_scale(limits)),
            f"Colour scale from {100 * limits[0]:.1f} to {100 * limits[1]:.1f} percent.",
        ),
        "classes": _classes(everyone),
        "cost": _cost(settings[0], palette),
    }


def _section(
    group: Sequence[Summary],
    limits: tuple[float, float],
    palette: dict[str, str],
    card: StreamCard | None,
) -> Section:
    shown = shown_metrics(group)
    best = {name: decided_best(group, name) for name in shown}
    compared = against(group, BASELINE, shown[0]) if shown else {}
    periods = group[0].spec.periods
    years = None
    if card is not None and len(card.periods) == len(periods):
        years = years_by_distance(card.periods) or None
    curves = [curve(item) for item in group]
    return Section(
        summaries=group,
        metrics=shown,
        tests=sorted({name for item in group for name in item.static}),
        rows=[
            Row(
                item,
                frozenset(name for name in shown if best[name] is item),
                compared.get(item.label),
            )
            for item in group
        ],
        compared=bool(compared),
        matrices=[_matrix(item, limits) for item in group],
        distances=Picture(
            figures.to_data_uri(figures.accuracy_by_distance(curves, palette, years)),
            f"Right answers by distance in time, {group[0].protocol}. "
            + " ".join(
                f"{line.label}: {100 * line.mean[0]:.1f} % at {line.distances[0]:+d}, "
                f"{100 * line.mean[-1]:.1f} % at {line.distances[-1]:+d}."
                for line in curves
                if len(line.mean)
            ),
        ),
    )


def _matrix(item: Summary, limits: tuple[float, float]) -> Picture:
    figure = figures.score_matrices([item], limits)
    known = shown_metrics([item])
    means = ", ".join(
        f"{words.metric_words(name)[0]} {100 * item.metrics[name].mean:.1f} %" for name in known
    )
    return Picture(
        figures.to_data_uri(figure), f"Score matrix of {item.label}, {item.protocol}: {means}."
    )


def _classes(summaries: Sequence[Summary]) -> dict[str, Any] | None:
    """Show the decay of classes where it is measured cleanest: one period, every test."""
    measured = ((item, class_decay(item)) for item in summaries if item.label == "scratch")
    item, rates = next((pair for pair in measured if pair[1]), (None, {}))
    if item is None:
        return None
    text = ", ".join(f"{name} {100 * rate.mean:.1f}" for name, rate in rates.items())
    picture = Picture(
        figures.to_data_uri(figures.class_decay_bars(rates)),
        f"Points lost per period, by class: {text}.",
    )
    return {"picture": picture, "summary": item}


def _cost(group: Sequence[Summary], palette: dict[str, str]) -> Picture:
    text = ", ".join(
        f"{item.label} {item.metrics['next_domain'].percent()} % in "
        f"{item.cost['cpu_seconds']:.2f} s"
        for item in group
    )
    return Picture(
        figures.to_data_uri(figures.quality_against_cost(group, palette)),
        f"Next-domain against CPU time, {group[0].protocol}: {text}.",
    )


def _png(content: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(content).decode()


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["unbroken"] = _unbroken
    source = resources.files("onward.report").joinpath("page.html.j2")
    return environment.from_string(source.read_text(encoding="utf-8"))


def _unbroken(text: str) -> str:
    """Keep a number, its deviation, its unit and the parts of a date on one line."""
    for mark in ("±", "=", "≤"):
        text = text.replace(f" {mark} ", f"\N{NO-BREAK SPACE}{mark}\N{NO-BREAK SPACE}")
    text = text.replace(" %", "\N{NO-BREAK SPACE}%")
    return re.sub(r"(?<=\d)-(?=\d)", "\N{NON-BREAKING HYPHEN}", text)
