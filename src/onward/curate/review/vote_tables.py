"""Votes as tables: our parquet, a CSV, and crowd-kit's (task, worker, label)."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from onward.binary_files import ARROW_ERRORS, validated
from onward.curate.concepts import Concepts
from onward.curate.records import VOTES
from onward.curate.votes import BETWEEN, TRUTHS, labels_in
from onward.curate.written import csv_of
from onward.data.read_files import read_text
from onward.errors import OnwardError

Row = Mapping[str, Any]
"""A vote by the names of `VOTES`; ``seconds`` and ``at`` may be None where they are not known."""
_CROWD_KIT = ("task", "worker", "label")


def read_parquet(path: Path, concepts: Concepts) -> Sequence[Row]:
    """Read a file with the columns of `VOTES`."""
    try:
        return list(validated(pq.read_table(path, columns=VOTES.names)).cast(VOTES).to_pylist())
    except (*ARROW_ERRORS, ValueError) as error:
        raise OnwardError(
            f"expected a parquet file with {', '.join(VOTES.names)} in {path}, found: {error}"
        ) from error


def csv_text(rows: Sequence[Row], concepts: Concepts) -> bytes:
    """Return a CSV: labels are joined by ``|``, an empty cell is none of them."""
    told = [
        (
            row["id"],
            row["annotator"],
            _joined(row["labels"]),
            "true" if row["sensitive"] else "false",
            "" if row["seconds"] is None else repr(row["seconds"]),
            row["at"].isoformat(),
        )
        for row in rows
    ]
    return csv_of([VOTES.names, *told])


def read_csv(path: Path, concepts: Concepts) -> Sequence[Row]:
    """Read what `csv_text` writes; ``sensitive``, ``seconds`` and ``at`` may be missing."""
    return _rows(path, ("id", "annotator", "labels"), _row)


def crowd_kit(rows: Sequence[Row], concepts: Concepts) -> bytes:
    """Return the table that crowd-kit aggregates: a vote for none is one for the background.

    Several labels are one label to crowd-kit, joined by ``|``. It has no place for what is
    sensitive, or for time.
    """
    told = [
        (row["id"], row["annotator"], _joined(row["labels"] or [concepts.background]))
        for row in rows
    ]
    return csv_of([_CROWD_KIT, *told])


def read_crowd_kit(path: Path, concepts: Concepts) -> Sequence[Row]:
    """Read a (task, worker, label) table."""
    return _rows(
        path,
        _CROWD_KIT,
        lambda row: {
            "id": row["task"],
            "annotator": row["worker"],
            "labels": labels_in(row["label"]),
            "sensitive": False,
            "seconds": None,
            "at": None,
        },
    )


def moment(text: str) -> datetime:
    """Read a time, which is in UTC if it does not say otherwise."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _row(row: Mapping[str, str]) -> Row:
    seconds, at = row.get("seconds"), row.get("at")
    return {
        "id": row["id"],
        "annotator": row["annotator"],
        "labels": labels_in(row["labels"]),
        "sensitive": TRUTHS[(row.get("sensitive") or "").strip().lower()],
        "seconds": float(seconds) if seconds else None,
        "at": moment(at) if at else None,
    }


def _joined(labels: Sequence[str]) -> str:
    for label in labels:
        if BETWEEN in label:
            raise OnwardError(
                f"expected names without {BETWEEN} for a table of texts, found {label!r}. Choose "
                "--format parquet or label-studio"
            )
    return BETWEEN.join(labels)


def _rows(
    path: Path, columns: Sequence[str], row_of: Callable[[Mapping[str, str]], Row]
) -> list[Row]:
    text = read_text(path, "votes in", "Save it as UTF-8")
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if not set(columns) <= set(reader.fieldnames or ()):
        raise OnwardError(
            f"expected the columns {', '.join(columns)} in {path}, found "
            f"{', '.join(reader.fieldnames or ()) or 'none'}. Is it another --format?"
        )
    found = []
    for row in reader:
        try:
            if any(row.get(column) is None for column in columns):
                raise ValueError("too few columns")
            found.append(row_of(row))
        except (ValueError, KeyError) as error:
            raise OnwardError(
                f"expected a vote in line {reader.line_num} of {path}, found: {error}"
            ) from error
    return found
