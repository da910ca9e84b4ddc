"""Votes in and out: as records of ours, as a CSV, and as two other tools keep them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from onward.curate.concepts import Concepts
from onward.curate.records import VOTES, micros_since, moment_of
from onward.curate.review import label_studio, vote_tables
from onward.curate.review.campaign import Campaign, open_campaign
from onward.curate.review.formats import Format, format_of
from onward.curate.review.people import somebody
from onward.curate.review.vote_tables import Row
from onward.curate.review.voting import Answer, keep
from onward.curate.votes import require_vote
from onward.curate.written import write_table
from onward.errors import OnwardError
from onward.files import storage, write_atomic

_READ: Mapping[Format, Callable[[Path, Concepts], Sequence[Row]]] = {
    Format.LABEL_STUDIO: label_studio.read,
    Format.CROWD_KIT: vote_tables.read_crowd_kit,
    Format.CSV: vote_tables.read_csv,
    Format.PARQUET: vote_tables.read_parquet,
}
_WRITE: Mapping[Format, Callable[[Sequence[Row], Concepts], bytes]] = {
    Format.LABEL_STUDIO: label_studio.written,
    Format.CROWD_KIT: vote_tables.crowd_kit,
    Format.CSV: vote_tables.csv_text,
}


def read_votes(folder: Path) -> pa.Table:
    """Return all votes of a campaign that count at this moment, with `VOTES`, by id and name."""
    with open_campaign(folder) as campaign:
        rows = _standing(campaign)
    return pa.Table.from_pylist(rows, schema=VOTES)


def export_votes(folder: Path, path: Path, given: Format | None = None) -> int:
    """Write the votes that count into a file; return how many they are."""
    form = format_of(path, given)
    with open_campaign(folder) as campaign:
        rows, concepts = _standing(campaign), campaign.concepts
    with storage(path):
        if form is Format.PARQUET:
            write_table(path, pa.Table.from_pylist(rows, schema=VOTES))
        else:
            write_atomic(path, _WRITE[form](rows, concepts))
    return len(rows)


def import_file(folder: Path, path: Path, given: Format | None = None) -> dict[str, int]:
    """Add the votes of a file to a campaign; return what became of them.

    Who is not known is entered, without a link. The same vote is imported once, however often it
    comes. One that finds its image with enough votes is kept and does not count; one for an image
    that is not in the campaign is left out, and counted.
    """
    form = format_of(path, given)
    if not path.is_file():
        raise OnwardError(f"expected a file of votes, found none at {path}")
    with open_campaign(folder) as campaign:
        rows = _READ[form](path, campaign.concepts)
        found: Counter[str] = Counter(read=len(rows), new=0, known=0, counted=0, not_in_campaign=0)
        (before,) = campaign.db.execute("select count(*) from standing").fetchone()
        with campaign.writing():
            for row in rows:
                found[_add(campaign, row)] += 1
            (after,) = campaign.db.execute("select count(*) from standing").fetchone()
    found["counted"] = after - before
    return dict(found)


def _standing(campaign: Campaign) -> list[Row]:
    rows = campaign.db.execute(
        "select i.id, a.name, s.labels, s.sensitive, v.seconds, v.at from standing s "
        "join items i using (item) join annotators a using (annotator) "
        "join votes v on v.vote = s.vote order by i.id, a.name"
    )
    return [
        {
            "id": name,
            "annotator": annotator,
            "labels": campaign.labels(labels),
            "sensitive": bool(sensitive),
            "seconds": seconds,
            "at": moment_of(at),
        }
        for name, annotator, labels, sensitive, seconds, at in rows
    ]


def _add(campaign: Campaign, row: Row) -> str:
    """Add a vote; return what it was."""
    db = campaign.db
    require_vote(row)
    item = db.execute("select item from items where id = ?", (row["id"],)).fetchone()
    if item is None:
        return "not_in_campaign"
    labels = campaign.code(row["labels"])
    at = None if row["at"] is None else micros_since(row["at"])
    whole = (row["id"], row["annotator"], labels, bool(row["sensitive"]), at)
    key = f"import-{hashlib.sha256(repr(whole).encode()).hexdigest()[:40]}"
    if db.execute("select 1 from votes where key = ?", (key,)).fetchone():
        return "known"
    annotator, now = somebody(campaign, row["annotator"]), campaign.now()
    question = db.execute(
        "insert into questions (annotator, item, kind, asked, until, held) "
        "values (?, ?, 'import', ?, ?, 0)",
        (annotator, item[0], now, now),
    ).lastrowid
    if question is not None:
        answer = Answer(key, question, labels, bool(row["sensitive"]), row["seconds"], at)
        keep(campaign, annotator, answer)
    return "new"
