"""Votes as Label Studio exports and imports them: items, each with what annotators chose.

The labels are a set of choices named ``labels``; ``sensitive`` is another, with "yes" or "no". The
export can be read into a project whose labelling interface has both, and its JSON export is read
here, as are exports of other projects whose choices have the names of our concepts.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from onward.curate.concepts import Concepts
from onward.curate.review.vote_tables import Row, moment
from onward.curate.written import json_of
from onward.data.read_files import read_json
from onward.errors import OnwardError

_LABELS, _SENSITIVE = "labels", "sensitive"
_YES, _NO = "yes", "no"


def written(rows: Sequence[Row], concepts: Concepts) -> bytes:
    """Return the JSON of votes, which are sorted by id."""
    found = []
    for number, (name, votes) in enumerate(groupby(rows, key=lambda row: row["id"]), 1):
        annotations = [
            {
                "completed_by": {"email": row["annotator"]},
                "created_at": row["at"].isoformat(),
                "lead_time": row["seconds"],
                "was_cancelled": False,
                "result": [
                    _choices(_LABELS, row["labels"] or [concepts.background]),
                    _choices(_SENSITIVE, [_YES if row["sensitive"] else _NO]),
                ],
            }
            for row in votes
        ]
        found.append({"id": number, "data": {"id": name}, "annotations": annotations})
    return json_of(found)


def read(path: Path, concepts: Concepts) -> Sequence[Row]:
    """Read a JSON export; annotations that were cancelled are no votes.

    An image's id is ``id`` in its data, or the name of its file without the ending.
    """
    held = read_json(path, "an export of Label Studio in", "Export it as JSON")
    if not isinstance(held, list):
        raise OnwardError(
            f"expected a list, as in Label Studio's JSON, in {path}, found {type(held).__name__}"
        )
    found = []
    for number, one in enumerate(held, 1):
        try:
            name = _id(one["data"])
            found += [
                _row(name, annotation, concepts)
                for annotation in one["annotations"]
                if not annotation.get("was_cancelled")
            ]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise OnwardError(
                f"expected data and annotations, as in Label Studio's JSON (not its JSON-MIN), in "
                f"entry {number} of {path}, found one without: {error}"
            ) from error
    return found


def _choices(name: str, chosen: Sequence[str]) -> dict[str, Any]:
    return {
        "from_name": name,
        "to_name": "image",
        "type": "choices",
        "value": {"choices": list(chosen)},
    }


def _id(data: Mapping[str, Any]) -> str:
    if "id" in data:
        return str(data["id"])
    return Path(str(data["image"])).stem


def _row(name: str, annotation: Mapping[str, Any], concepts: Concepts) -> Row:
    labels: list[str] = []
    sensitive = False
    for part in annotation["result"]:
        if part.get("type") != "choices":
            continue
        chosen = part["value"]["choices"]
        if part.get("from_name") == _SENSITIVE:
            sensitive = _YES in chosen
        else:
            labels += [label for label in chosen if label != concepts.none_of_these]
    at, seconds = annotation.get("created_at"), annotation.get("lead_time")
    return {
        "id": name,
        "annotator": _who(annotation["completed_by"]),
        "labels": labels,
        "sensitive": sensitive,
        "seconds": None if seconds is None else float(seconds),
        "at": moment(at) if at else None,
    }


def _who(completed_by: Any) -> str:
    """Return a name: exports have a number, or an object that says more."""
    if isinstance(completed_by, Mapping):
        return str(completed_by.get("email") or completed_by["id"])
    return str(completed_by)
