"""One HTML file that shows runs to people: it opens anywhere, offline, and asks nobody."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onward.errors import OnwardError
from onward.report.bibtex import bibtex
from onward.report.content import Chapter, chapters
from onward.report.content_maps import scales
from onward.report.published import PublishedRow
from onward.report.rendering import data_uri, write
from onward.results.collect import Collected

_SCRIPTS = ("table.js", "page.js")
_MOST_NAMED = 20


@dataclass(frozen=True)
class Written:
    """A page that was written: where it is, what it shows, and what was left out and why."""

    path: Path
    runs: int
    chapters: Sequence[str]
    left_out: Sequence[str]


def write_page(
    collected: Collected,
    out: Path,
    *,
    title: str | None = None,
    published: Sequence[PublishedRow] = (),
    commands: Sequence[str] | None = None,
    citations: str | None = None,
    contact_sheet_png: bytes | None = None,
) -> Written:
    """Write the page of some runs: one chapter for every benchmark and data.

    Parameters
    ----------
    collected
        Runs of any benchmarks, methods, protocols and seeds, and what could not be read.
    out
        The file to write.
    title
        The headline; by default the name of the benchmark.
    published
        Rows of papers, which stand beside the runs and are marked.
    commands
        What to type to get the same runs; by default read off their specs.
    citations
        What to cite, as BibTeX; by default what the runs rest on.
    contact_sheet_png
        A picture of the data, one row per date, for a page of one chapter.

    Raises
    ------
    OnwardError
        If there is no complete run.
    """
    told, without = chapters(collected.records, published)
    if not told:
        raise OnwardError(_nothing(collected))
    runs = sum(chapter.runs for chapter in told)
    everyone = [summary for chapter in told for summary in chapter.summaries]
    machines = [machine for chapter in told for machine in chapter.environments]
    write(
        out,
        "page.html.j2",
        _SCRIPTS,
        title=title or _title(told, runs),
        chapters=told,
        runs=runs,
        without=without,
        left_out=collected.left_out[:_MOST_NAMED],
        damaged=len(collected.left_out),
        commands=commands,
        citations=bibtex(everyone, machines) if citations is None else citations,
        contact_sheet=data_uri(contact_sheet_png, "png") if contact_sheet_png else None,
        scales=scales(),
    )
    missing = [f"{chapter.title}: {line}" for chapter in told for line in chapter.missing]
    damaged = [f"{item.folder}: {item.reason}" for item in collected.left_out]
    return Written(out, runs, [chapter.title for chapter in told], [*damaged, *without, *missing])


def _title(told: Sequence[Chapter], runs: int) -> str:
    return told[0].title if len(told) == 1 else f"{len(told)} benchmarks, {runs:,} runs"


def _nothing(collected: Collected) -> str:
    """Say what is there instead of a complete run."""
    count, damaged = len(collected.records), len(collected.left_out)
    there = [f"{count} unfinished"] if count else []
    if damaged:
        first = collected.left_out[0]
        there.append(f"{damaged} that cannot be read (such as {first.folder}: {first.reason})")
    found = " and ".join(there) or "none"
    return (
        f"expected at least one complete run to report, found {found}. "
        "Run the same commands again to finish them"
    )
