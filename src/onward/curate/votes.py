"""Votes on candidates: read from wherever they were given, one per annotator and image."""

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from onward.binary_files import ARROW_ERRORS, validated
from onward.curate.concepts import Concepts
from onward.curate.records import VOTES
from onward.data.read_files import read_text
from onward.errors import OnwardError, unknown

_NEEDED = ("id", "annotator", "labels", "sensitive")
TRUTHS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": False}
"""What is written for yes and for no."""
BETWEEN = "|"
"""What stands between labels in a cell."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ballots:
    """What was said about each candidate, vote by vote.

    Parameters
    ----------
    answers
        (candidate, vote): 0 for none of the concepts, k for the k-th of them alone, more than
        there are concepts for several of them; -1 where there is no vote.
    who
        (candidate, vote): the number of the annotator in `people`.
    sensitive
        (candidate, vote): whether it was said to be.
    people
        Names of annotators, in their order.
    seconds
        How long all answers together took, as far as that was measured.
    aside
        How many votes were not counted, by reason.
    """

    answers: Ints
    who: Ints
    sensitive: NDArray[np.bool_]
    people: tuple[str, ...]
    seconds: float
    aside: dict[str, int]

    @property
    def given(self) -> Ints:
        """How many votes each candidate has."""
        return np.asarray((self.answers >= 0).sum(1), np.int64)


def read_votes(source: Path) -> pa.Table:
    """Return votes out of a parquet or CSV file, or out of a folder of ``onward curate review``.

    A CSV has the columns ``id``, ``annotator``, ``labels`` (names with ``|`` in between, nothing
    for none of them) and ``sensitive`` (yes or no), and may have ``seconds``.
    """
    if source.is_dir():
        # An export beside the campaign is older than it.
        if (source / "campaign.sqlite").is_file():
            from onward.curate.review.exchange import read_votes as of_campaign

            return of_campaign(source)
        if (source / "votes.parquet").is_file():
            return _read_parquet(source / "votes.parquet")
        raise OnwardError(
            f"expected votes.parquet or campaign.sqlite in {source}, found neither. Point to the "
            "folder of onward curate review, or to a file of votes"
        )
    if source.suffix.lower() in (".parquet", ".pq") and source.is_file():
        return _read_parquet(source)
    return _read_csv(source)


def ballots(votes: pa.Table, ids: Sequence[str], concepts: Concepts) -> Ballots:
    """Sort votes by candidate.

    Whoever was asked twice about an image is counted with the first answer. Votes on images that
    are no candidates are put aside.
    """
    row = {name: number for number, name in enumerate(ids)}
    numbers = concepts.numbers
    several: dict[frozenset[int], int] = {}
    found: list[dict[str, tuple[int, bool]]] = [{} for _ in ids]
    aside: Counter[str] = Counter()
    seconds = 0.0
    if votes.num_rows and not votes.column("at").null_count:
        # A sort that is stable: votes of one moment stay in their order.
        votes = votes.sort_by("at")
    for vote in votes.to_pylist():
        took = vote["seconds"]
        seconds += took if took is not None and math.isfinite(took) else 0.0
        place = row.get(vote["id"])
        if place is None:
            aside["on images that are no candidates"] += 1
        elif vote["annotator"] in found[place]:
            aside["second answers of one annotator about one image"] += 1
        else:
            answer = _answer(vote, numbers, several)
            found[place][vote["annotator"]] = (answer, bool(vote["sensitive"]))
    people = sorted({name for votes_of_one in found for name in votes_of_one})
    number = {name: place for place, name in enumerate(people)}
    width = max((len(one) for one in found), default=0)
    answers = np.full((len(ids), width), -1, np.int64)
    who, sensitive = np.zeros_like(answers), np.zeros(answers.shape, np.bool_)
    for place, given in enumerate(found):
        for slot, (name, (answer, warned)) in enumerate(sorted(given.items())):
            answers[place, slot], who[place, slot] = answer, number[name]
            sensitive[place, slot] = warned
    return Ballots(answers, who, sensitive, tuple(people), seconds, dict(aside))


def labels_in(cell: str | None) -> list[str]:
    """Return the labels that are joined in a cell; an empty one has none."""
    return [label.strip() for label in (cell or "").split(BETWEEN) if label.strip()]


def require_vote(vote: Mapping[str, Any]) -> None:
    """Say if a row of votes has nobody who gave it, or labels that are no texts."""
    labels = vote["labels"]
    if vote["annotator"] is None or labels is None or not all(isinstance(n, str) for n in labels):
        raise OnwardError(
            f"expected an annotator and a list of labels in every vote, found none in one on "
            f"{vote['id']!r}"
        )


def _answer(
    vote: Mapping[str, Any], numbers: Mapping[str, int], several: dict[frozenset[int], int]
) -> int:
    require_vote(vote)
    strangers = [name for name in vote["labels"] if name not in numbers]
    if strangers:
        raise unknown("concept in the votes", strangers[0], numbers, "concepts.json of the stage")
    chosen = frozenset(numbers[name] for name in vote["labels"]) - {0}
    if len(chosen) < 2:
        return next(iter(chosen), 0)
    return several.setdefault(chosen, len(numbers) + len(several))


def _read_parquet(path: Path) -> pa.Table:
    try:
        table = validated(pq.read_table(path))
        for name in ("seconds", "at"):
            if name not in table.column_names:
                column = pa.nulls(table.num_rows, VOTES.field(name).type)
                table = table.append_column(name, column)
        return table.select(VOTES.names).cast(VOTES)
    except (*ARROW_ERRORS, KeyError) as error:
        raise OnwardError(
            f"expected votes with the columns {', '.join(_NEEDED)} in {path}, found what cannot be "
            f"read as that ({str(error).splitlines()[0]})"
        ) from error


def _read_csv(path: Path) -> pa.Table:
    text = read_text(path, "votes in", "Name a CSV, a parquet file or a folder of a campaign")
    # Not by lines of Unicode, which end at letters that a name may have.
    reader = csv.DictReader(io.StringIO(text, newline=""))
    absent = [name for name in _NEEDED if name not in (reader.fieldnames or ())]
    if absent:
        raise OnwardError(
            f"expected a CSV with the columns {', '.join(_NEEDED)} in {path}, found no {absent[0]}"
        )
    rows = []
    for number, line in enumerate(reader, 2):
        said = (line["sensitive"] or "").strip().lower()
        if said not in TRUTHS or not line["id"] or not line["annotator"]:
            raise OnwardError(
                f"expected an id, an annotator and yes or no as sensitive in line {number} of "
                f"{path}, found {line['id']!r}, {line['annotator']!r} and {line['sensitive']!r}"
            )
        rows.append(
            {
                "id": line["id"],
                "annotator": line["annotator"],
                "labels": labels_in(line["labels"]),
                "sensitive": TRUTHS[said],
                "seconds": _number(line.get("seconds")),
            }
        )
    return pa.Table.from_pylist(rows, VOTES)


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None
