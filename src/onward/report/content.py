"""What a page says, as data: chapters, settings and what is missing. Templates only lay it out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from onward.methods import METHODS
from onward.report.commands import as_words, commands
from onward.report.content_figures import Look, Plot, Studio, costs, curves, pictures
from onward.report.content_maps import Cells, maps
from onward.report.content_missing import missing
from onward.report.content_stream import StreamView, stream_view
from onward.report.content_table import results_table
from onward.report.content_training import training_plots
from onward.report.figures import score_limits
from onward.report.provenance import StreamCard, provenance
from onward.report.published import PublishedRow
from onward.report.style import COLOURS
from onward.report.summary import Summary, by_setting, shown_metrics, summarise
from onward.report.verdict import BASELINE, Finding, findings
from onward.report.words import lateness, limits, score_words
from onward.results.record import RunRecord
from onward.results.schema import Environment, RunSpec

# More lines than there are colours, nobody tells apart.
_MOST_FIGURED = len(COLOURS)
_MOST_SAID = 4
# Samples of so many periods are shown, in all chapters together.
_STRIPS = 16


@dataclass(frozen=True)
class Method:
    """A method that figures show: its number, its colour on the page, and what it is."""

    label: str
    number: int
    colour: str
    summary: str


@dataclass(frozen=True, eq=False)
class Setting:
    """What may be compared: a table, the score matrices, the figures."""

    name: str
    heading: str
    table: dict[str, Any]
    maps: dict[str, Any] | None
    curves: Sequence[Plot]
    costs: Sequence[Plot]
    pictures: Sequence[Plot]
    training: Sequence[Plot]
    notes: Sequence[str]
    decided: bool


@dataclass(frozen=True, eq=False)
class Chapter:
    """One benchmark on one data."""

    anchor: str
    title: str
    spec: RunSpec
    card: StreamCard | None
    summaries: Sequence[Summary]
    runs: int
    labels: int
    figured: Sequence[Method]
    findings: Sequence[Finding]
    missing: Sequence[str]
    settings: Sequence[Setting]
    stream: StreamView | None
    score: str
    commands: Sequence[str]
    recipes: Sequence[str]
    environments: Sequence[Environment]
    undrawn: int

    @property
    def decided(self) -> bool:
        """Whether any value is decided to be the best of its column."""
        return any(setting.decided for setting in self.settings)


@dataclass
class _Room:
    """What is left of the page's size, shared by all chapters."""

    strips: int
    studio: Studio = field(default_factory=Studio)
    cells: Cells = field(default_factory=Cells)


def chapters(
    records: Sequence[RunRecord], published: Sequence[PublishedRow] = ()
) -> tuple[list[Chapter], list[str]]:
    """Return a chapter for every data that has a complete run, and what is said of the others.

    Two versions of the data under one name are two chapters: their scores cannot be averaged.
    """
    groups: dict[tuple[str, str, str], list[RunRecord]] = {}
    for record in records:
        spec = record.spec
        groups.setdefault((spec.benchmark, spec.data, spec.data_digest), []).append(record)
    settings = {key: _settings(group) for key, group in sorted(groups.items())}
    named = [key[:2] for key, found in settings.items() if found]
    room = _Room(strips=max(2, min(8, _STRIPS // max(len(named), 1))))
    told: list[Chapter] = []
    without = []
    for key, found in settings.items():
        benchmark, data, digest = key
        if not found:
            count = len(groups[key])
            without.append(f"{benchmark} / {data}: {count} unfinished, none complete")
            continue
        version = f", data {digest[:8]}" if named.count(key[:2]) > 1 else ""
        mine = [row for row in published if row.benchmark == benchmark]
        told.append(_chapter(len(told), groups[key], found, mine, version, room))
    return told, without


def _settings(records: Sequence[RunRecord]) -> list[list[Summary]]:
    """Return what may be compared; settings without the baseline, such as oracles', come last."""
    found = by_setting(summarise(records))
    return sorted(found, key=lambda group: BASELINE not in [item.label for item in group])


def _chapter(
    number: int,
    records: Sequence[RunRecord],
    settings: Sequence[Sequence[Summary]],
    published: Sequence[PublishedRow],
    version: str,
    room: _Room,
) -> Chapter:
    spec = settings[0][0].spec
    everyone = [summary for group in settings for summary in group]
    used = [record for summary in everyone for record in summary.records]
    # Every setting's runs are of one stream.
    origin, before = provenance(used), room.studio.refused
    card = origin.card
    figured = _figured(settings)
    palette = _palette(figured)
    numbers = {label: at for at, label in enumerate(dict.fromkeys(s.label for s in everyone))}
    names = _names(settings)
    limits = score_limits(everyone)
    told = [
        _setting(group, chosen, card, Look(numbers, palette, name), limits, published, room)
        for group, chosen, name in zip(settings, figured, names, strict=True)
    ]
    specs = {summary.label: summary.spec for summary in everyone}
    recipes = [f"{item.spec.recipe_name}: {as_words(item.spec.recipe)}" for item in everyone]
    distinct = list(dict.fromkeys(recipes))
    if len(distinct) > _MOST_SAID:
        distinct[_MOST_SAID:] = [f"and {len(distinct) - _MOST_SAID} others"]
    return Chapter(
        anchor=f"chapter-{number}",
        title=(card.title if card else f"{spec.benchmark} / {spec.data}") + version,
        spec=spec,
        card=card,
        summaries=everyone,
        runs=len(used),
        labels=len(numbers),
        figured=[
            Method(
                label,
                numbers[label],
                f"--m{COLOURS.index(colour)}",
                METHODS[name].summary if (name := specs[label].method) in METHODS else "",
            )
            for label, colour in palette.items()
        ],
        findings=findings(settings, card),
        missing=missing(records, settings, origin.damage),
        settings=told,
        stream=stream_view(card, room.strips, room.studio) if card else None,
        score=score_words(spec.task),
        commands=commands(record.spec for record in used),
        recipes=distinct,
        environments=origin.environments,
        undrawn=room.studio.refused - before,
    )


def _setting(
    group: Sequence[Summary],
    chosen: Sequence[str],
    card: StreamCard | None,
    look: Look,
    limits: tuple[float, float],
    published: Sequence[PublishedRow],
    room: _Room,
) -> Setting:
    shown = [item for item in group if item.label in chosen]
    shown_of = set(shown_metrics(group))
    papers = [
        row
        for row in published
        if row.protocol == group[0].protocol and not shown_of.isdisjoint(row.values)
    ]
    table = results_table(group, look.numbers, look.palette, papers)
    drawn, notes = pictures(shown, card, look, room.studio)
    if len(shown) < len(group):
        notes.append(f"Figures show {len(shown)} of {len(group)} methods: those that lead.")
    training, unread = training_plots(shown, look, room.studio)
    notes += unread
    return Setting(
        name=look.tag,
        heading=str(group[0].spec.protocol.get("summary", "")),
        table=table,
        maps=maps(group, limits, room.cells),
        curves=curves(shown, card, look, room.studio),
        costs=costs(shown, look, room.studio),
        pictures=drawn,
        training=training,
        notes=notes,
        decided=any(row.get("best") for row in table["rows"]),
    )


def _figured(settings: Sequence[Sequence[Summary]]) -> list[list[str]]:
    """Choose whom figures show: those that other settings show, the leading ones, the baseline."""
    known: set[str] = set()
    found = []
    for group in settings:
        labels = [item.label for item in group]
        chosen = sorted(labels, key=lambda label: label not in known)[:_MOST_FIGURED]
        if BASELINE in labels and BASELINE not in chosen:
            chosen[-1] = BASELINE
        known.update(chosen)
        found.append(chosen)
    return found


def _palette(figured: Sequence[Sequence[str]]) -> dict[str, str]:
    """Give each method a colour that no other one has beside it, the same in all settings."""
    palette: dict[str, str] = {}
    for chosen in figured:
        used = {palette[label] for label in chosen if label in palette}
        free = (colour for colour in COLOURS if colour not in used)
        for label in sorted(chosen):
            if label not in palette:
                palette[label] = next(free)
    return palette


def _but_late(spec: RunSpec) -> dict[str, Any]:
    return {name: value for name, value in spec.benchmark_options.items() if name != "label_delay"}


def _names(settings: Sequence[Sequence[Summary]]) -> list[str]:
    """Name each setting by its protocol, and by what else tells it from the others."""
    specs = [group[0].spec for group in settings]
    parts = {
        "recipe": [f"{spec.recipe_name} recipe" for spec in specs],
        "model": [str(spec.recipe.get("model") or "") for spec in specs],
        "budget": [limits(spec) for spec in specs],
        "options": [as_words(_but_late(spec)) for spec in specs],
        "periods": [f"{len(spec.periods)} periods" for spec in specs],
        "labels": [lateness(spec) for spec in specs],
        "grain": [f"{spec.protocol.get('batch')} at a time" for spec in specs],
    }
    # Late labels are said of a single setting too: its scores begin with the first of them.
    telling = [texts for part, texts in parts.items() if part == "labels" or len(set(texts)) > 1]
    return [
        " · ".join([str(spec.protocol["name"]), *(texts[at] for texts in telling if texts[at])])
        for at, spec in enumerate(specs)
    ]
