"""A leaderboard as a folder of pages that opens from disk and asks nobody."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onward import __version__
from onward.errors import OnwardError
from onward.files import replace_folder, storage
from onward.report.leaderboard import Board, Leaderboard, Refused
from onward.report.leaderboard_board import board_table
from onward.report.leaderboard_entry import entry_content
from onward.report.provenance import readable_card
from onward.report.rendering import render
from onward.report.summary import Summary
from onward.report.words import metric_words

MARK = "site.json"
"""The file that says that a folder is such a site, and holds its ranks for programs."""
_VERSION = 1
_LONGEST = 40


def write_site(found: Leaderboard, out: Path, root: Path, title: str = "Leaderboard") -> Path:
    """Write a leaderboard; a second one takes the place of the first.

    Parameters
    ----------
    found
        What is shown.
    out
        The folder of the site: a new one, an empty one, or one with an earlier site.
    root
        Where the runs are: folders are named as seen from there.
    title
        What is written above all pages.

    Returns
    -------
        The first page.

    Raises
    ------
    OnwardError
        Where the folder holds anything else.
    """
    out = out.resolve()
    _refuse_others(out)
    pages = dict(_pages(found, root.resolve(), title))

    def fill(draft: Path) -> None:
        for name, text in pages.items():
            (draft / name).parent.mkdir(exist_ok=True)
            (draft / name).write_text(text, "utf-8")

    with storage(out):
        replace_folder(out, fill)
    return out / "index.html"


def _refuse_others(out: Path) -> None:
    """Raise unless a folder may be replaced: what is no site of ours is somebody's work."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    try:
        if json.loads((out / MARK).read_bytes())["onward_leaderboard"] >= 1:
            return
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    raise OnwardError(
        f"expected a new or empty folder for the site, or one with an earlier site, found {out} "
        "with something else in it. Choose another folder, or move what is there away"
    )


def _pages(found: Leaderboard, root: Path, title: str) -> Iterator[tuple[str, str]]:
    boards = {board: _file("boards", board.benchmark, board.protocol) for board in found.boards}
    entries = {
        entry.summary.spec.without_seed(): _file(
            "entries", entry.summary.label, key=entry.summary.spec.without_seed()
        )
        for board in found.boards
        for entry in board.entries
    }
    refused = [_refused(each, root) for each in found.refused]
    notes = [note.replace(f"{root}/", "") for note in found.notes]
    yield MARK, _as_data(found, boards, entries, refused)
    yield (
        "index.html",
        render(
            "leaderboard_index.html.j2",
            (),
            title=title,
            boards=[_described(board, page, entries) for board, page in boards.items()],
            refused=refused,
        ),
    )
    yield (
        "refused.html",
        render(
            "leaderboard_refused.html.j2", (), title="Not accepted", refused=refused, notes=notes
        ),
    )
    for board, page in boards.items():
        yield (
            page,
            render(
                "leaderboard_board.html.j2",
                ("table.js",),
                title=f"{board.benchmark}, {board.protocol}",
                **_described(board, page, entries),
                table=board_table(board, entries),
            ),
        )
        for division in board.divisions:
            for entry in division.entries:
                yield (
                    entries[entry.summary.spec.without_seed()],
                    render(
                        "leaderboard_entry.html.j2",
                        (),
                        **entry_content(entry, division),
                        board=board,
                        board_page=f"../{page}",
                    ),
                )


def _described(board: Board, page: str, entries: dict[str, str]) -> dict[str, Any]:
    """Return what the first page and the board's own say about it."""
    summaries = [entry.summary for entry in board.entries]
    return {
        "board": board,
        "page": page,
        "protocol_words": str(board.divisions[0].spec.protocol.get("summary", "")),
        "runs": sum(len(summary.records) for summary in summaries),
        "card": next((card for each in summaries if (card := readable_card(each.records))), None),
        "leaders": [
            {
                "division": division,
                "label": division.first.summary.label,
                "page": entries[division.first.summary.spec.without_seed()],
                "metric": metric_words(division.metrics[0])[0] if division.metrics else "",
                "score": _headline(division.first.summary, division.metrics),
                "seeds": len(division.first.summary.seeds),
            }
            for division in board.divisions
            if division.first is not None
        ],
        "unranked": [division for division in board.divisions if division.first is None],
        "papers": list(dict.fromkeys(row.paper for row in board.published)),
    }


def _headline(summary: Summary, metrics: tuple[str, ...]) -> str:
    return f"{summary.metrics[metrics[0]].percent()} %" if metrics else "not measured"


def _refused(each: Refused, root: Path) -> dict[str, Any]:
    """Name a folder as seen from the root: where it lies on this machine is nobody's business."""
    folder = each.folder.resolve()
    name = str(folder.relative_to(root)) if folder.is_relative_to(root) else folder.name
    reasons = [reason.replace(str(folder), name) for reason in each.reasons]
    return {"folder": name, "reasons": [reason.replace(f"{root}/", "") for reason in reasons]}


def _as_data(
    found: Leaderboard,
    boards: dict[Board, str],
    entries: dict[str, str],
    refused: list[dict[str, Any]],
) -> str:
    """Return the ranks for programs."""
    content = {
        "onward_leaderboard": _VERSION,
        "onward": __version__,
        "boards": [
            {
                "benchmark": board.benchmark,
                "protocol": board.protocol,
                "page": page,
                "published_rows": len(board.published),
                "divisions": [
                    {
                        "data": division.spec.data,
                        "data_digest": division.spec.data_digest,
                        "recipe": division.recipe,
                        "budget": division.budget,
                        "ranked_by": division.metrics[0] if division.metrics else None,
                        "ranked_on_seeds": division.ranked_on,
                        "decided": division.decided,
                        "entries": [
                            {
                                "rank": entry.rank,
                                "verified": entry.verified,
                                "label": entry.summary.label,
                                "method": entry.summary.spec.method,
                                "seeds": list(entry.summary.seeds),
                                "page": entries[entry.summary.spec.without_seed()],
                                "metrics": {
                                    name: measure.mean
                                    for name, measure in entry.summary.metrics.items()
                                    if measure.known
                                },
                            }
                            for entry in division.entries
                        ],
                    }
                    for division in board.divisions
                ],
            }
            for board, page in boards.items()
        ],
        "refused": refused,
    }
    return json.dumps(content, indent=1)


def _file(folder: str, *names: str, key: str | None = None) -> str:
    """Return a file name that any system can store, whatever the names are, and no two share.

    Examples
    --------
    >>> _file("boards", "clear", "iid")
    'boards/clear-iid-bfa64442.html'
    """
    plain = unicodedata.normalize("NFKD", "-".join(names)).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:_LONGEST].strip("-")
    digest = hashlib.sha256((key or json.dumps(names)).encode()).hexdigest()[:8]
    return f"{folder}/{slug}-{digest}.html" if slug else f"{folder}/{digest}.html"
