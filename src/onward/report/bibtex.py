"""BibTeX of what was used: the benchmarks, the methods, the metrics, and Onward itself.

Cards of catalogues name their papers in words, "Kirkpatrick et al. 2017" or "CLEAR"; the entries
are in ``references.bib``. A paper that is not there is named in a comment, never made up.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from onward import __version__
from onward.benchmarks import BENCHMARKS
from onward.methods import METHODS
from onward.metrics import METRICS as CATALOGUE
from onward.report.fields import printable
from onward.report.provenance import environments, readable_card
from onward.report.summary import (
    FINAL,
    METRICS,
    POOLED_METRICS,
    STATIC_METRICS,
    Summary,
    by_setting,
    shown_metrics,
)
from onward.results.schema import Environment
from onward.tasks import shown_of

_FILE = Path(__file__).with_name("references.bib")
# What catalogues call the papers of the benchmarks.
_FAMILIES = {
    "CLEAR": "lin2021",
    "IIRC": "abdelsalam2021",
    "CLAD": "verwimp2023",
    "TiC": "garg2024",
}
_YEAR = 2026  # of this version
_PAIRED = "Fisher 1935"
_OWN = "Onward"
_AUTHOR_YEAR = re.compile(r"([^\W\d_][\w-]+)(?: et al\.?,?| and [^\W\d_][\w-]+)? \(?(\d{4})\)?")


def bibtex(summaries: Sequence[Summary], machines: Iterable[Environment] | None = None) -> str:
    """Return an entry for everything that these runs rest on.

    A comment says what each is for. What has no paper, or none that is known, is a comment too.
    Whoever has read what the runs were begun with need not have it read again.
    """
    if machines is None:
        machines = environments(record for item in summaries for record in item.records)
    used: dict[str, list[str]] = {}
    unknown: list[str] = []
    for what, source in dict.fromkeys(_sources(summaries)):
        keys = [key for key in cited(source) if key in entries()]
        for key in keys:
            used.setdefault(key, []).append(what)
        if not keys and source != _OWN:
            unknown.append(f"% {what}: {source or 'no paper is named'}")
    parts = [f"% {', '.join(what)}\n{entries()[key]}" for key, what in used.items()]
    parts.append(_onward(machines))
    return "\n\n".join([*parts, *(["\n".join(unknown)] if unknown else [])])


def cited(source: str) -> list[str]:
    """Return the keys of the papers that a card names.

    Examples
    --------
    >>> cited("Kirkpatrick et al. 2017, Schwarz et al. 2018")
    ['kirkpatrick2017', 'schwarz2018']
    >>> cited("CLEAR, TiC-CLIP (Sequential)")
    ['lin2021', 'garg2024']
    >>> cited("GEM (Lopez-Paz and Ranzato 2017)")
    ['lopezpaz2017']
    """
    families = [key for name, key in _FAMILIES.items() if re.search(rf"\b{name}\b", source)]
    papers = [name.replace("-", "").lower() + year for name, year in _AUTHOR_YEAR.findall(source)]
    return list(dict.fromkeys([*families, *papers]))


@cache
def entries() -> dict[str, str]:
    """Return the entries of ``references.bib`` by their keys."""
    text = _FILE.read_text(encoding="utf-8")
    found = re.findall(r"^(@\w+\{(\w+),.*?^\})", text, re.MULTILINE | re.DOTALL)
    return {key: entry for entry, key in found}


def _sources(summaries: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """Yield what was used, and the words in which its paper is named."""
    for setting in by_setting(summaries):
        spec = setting[0].spec
        yield f"benchmark {_plain(spec.benchmark)}", _benchmark(setting)
        if source := shown_of(spec.task).source:
            yield f"scores of {spec.task}", source
        for name in shown_metrics(setting):
            yield f"metric {_plain(name)}", _metric(name)
    for item in summaries:
        yield f"method {_plain(item.spec.method)}", _method(item.spec.method)
    if any(len(item.seeds) > 1 for item in summaries):
        yield "the paired test", _PAIRED


def _benchmark(setting: Sequence[Summary]) -> str:
    name = setting[0].spec.benchmark
    if name in BENCHMARKS and BENCHMARKS.origin(name) is None:
        for family in _FAMILIES:
            if family.lower() == name.split("-")[0]:
                return family
    # Anybody may call theirs alike: what it rests on, its own card says.
    card = readable_card([record for item in setting for record in item.records])
    return "" if card is None else _plain(card.citation)


def _metric(name: str) -> str:
    if name in STATIC_METRICS:
        return "CLAD"
    if name in POOLED_METRICS:
        return "IIRC"
    names = {FINAL: "literature.gem_average_accuracy", **{one: f"clear.{one}" for one in METRICS}}
    card = CATALOGUE.get(names.get(name, name))
    return "" if card is None else card.source


def _method(name: str) -> str:
    card = METHODS.get(name)
    return "" if card is None else card.source


def _plain(text: str) -> str:
    """Return a name that begins no entry, on one line."""
    return printable(text).replace("@", " ")


def _onward(machines: Iterable[Environment]) -> str:
    versions = sorted({found.onward for found in machines}) or [__version__]
    return (
        "% what ran all of it\n"
        "@misc{onward,\n"
        "  author    = {{The Onward contributors}},\n"
        "  title     = {Onward: continual learning on data that moves in time},\n"
        f"  year      = {{{_YEAR}}},\n"
        f"  note      = {{Version {', '.join(versions)}, Apache-2.0}},\n"
        "}"
    )
