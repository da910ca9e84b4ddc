"""``onward curate accept``: votes become labels, and what is not accepted says why."""

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.binary_files import read_parquet
from onward.curate.concepts import CONCEPTS, Concepts, read_concepts
from onward.curate.label_error import Questions, label_error
from onward.curate.lineage import LINEAGE, lineage_of, write_lineage
from onward.curate.records import LABELLED, REJECTED
from onward.curate.stage import STAGE, Stage, making, open_stage
from onward.curate.verdicts import ACCEPTED, Judging, Verdicts, decide
from onward.curate.votes import Ballots, Ints, ballots, read_votes
from onward.curate.written import write_table
from onward.data.split import uniform
from onward.data.yours_files import read_file
from onward.errors import OnwardError, first_few, unknown
from onward.metrics.agreement import krippendorff_alpha

Short = Literal["keep", "drop-bucket", "error"]
NOT_DRAWN, DROPPED = "not drawn", "its bucket was dropped"


@dataclass(frozen=True)
class Terms(Judging):
    """On which terms candidates are accepted.

    ``per_class`` images of each class and bucket are drawn from those that could be accepted, by
    the hash of their ids under ``seed``: votes on other images change nothing. Where there are
    fewer, they are all kept, their bucket is dropped, or that is an error, see ``short``.
    """

    per_class: int = 300
    short: Short = "keep"
    seed: int = 0


def accept(
    retrieved: Path,
    votes: Path,
    out: Path,
    terms: Terms | None = None,
    *,
    gold: Path | None = None,
    on_wait: Callable[[], None] = lambda: None,
) -> Mapping[str, Any]:
    """Accept candidates by the votes on them; return what was counted.

    Parameters
    ----------
    retrieved
        A folder of ``onward curate retrieve``.
    votes
        See `onward.curate.votes.read_votes`.
    out
        Where to.
    terms
        On which terms.
    gold
        A table with ``id`` and ``label`` of candidates whose truth is known, such as gold
        questions, or accepted images that somebody looked at once more. It makes the estimate of
        the label error sharper, and changes no verdict.
    on_wait
        Called if another process is at work on the same folder.
    """
    terms = terms or Terms()
    stage = open_stage(retrieved, "retrieve")
    concepts = read_concepts(retrieved / CONCEPTS)
    candidates = _candidates(retrieved)
    given = read_votes(votes)
    ids = candidates.column("id").to_pylist()
    known = _known(gold, ids, concepts)
    options = {
        **asdict(terms),
        "retrieved": stage.digest,
        "votes": _content(given),
        "gold": None if gold is None else _content(pa.table({"known": known})),
    }
    with making(out, "accept", options, on_wait=on_wait) as made:
        if made.finished is not None:
            return made.finished
        numbers = concepts.numbers
        own = np.array([numbers[name] for name in candidates["concept"].to_pylist()], np.int64)
        found = ballots(given, ids, concepts)
        verdicts = decide(found, own, len(concepts.found), terms)
        kept = _Kept(candidates, concepts, verdicts, terms)
        write_table(out / "labelled.parquet", kept.labelled())
        write_table(out / "rejected.parquet", kept.rejected())
        shutil.copyfile(retrieved / CONCEPTS, out / CONCEPTS)
        write_lineage(out / LINEAGE, lineage_of(stage, *_reviewed(votes)))
        counts = kept.counts() | _of_votes(found, given)
        counts["label_error"] = _error(found, own, known, kept.drawn & (verdicts.label == own))
        return made.finish(counts)


class _Kept:
    """Which of the candidates that could be accepted are, and what is counted of them."""

    def __init__(
        self, candidates: pa.Table, concepts: Concepts, verdicts: Verdicts, terms: Terms
    ) -> None:
        self._candidates, self._verdicts, self._terms = candidates, verdicts, terms
        self._names = np.array(concepts.names)
        self._bucket = candidates.column("bucket").to_numpy().astype(np.int64)
        self._asked = set(candidates.column("concept").to_pylist())
        self.reason = verdicts.reason.copy()
        self.short: list[dict[str, Any]] = []
        self._draw(candidates.column("id").to_numpy(zero_copy_only=False))
        self.drawn: NDArray[np.bool_] = self.reason == ACCEPTED

    def _draw(self, ids: NDArray[Any]) -> None:
        terms = self._terms
        place = uniform(ids, f"accept {terms.seed}")
        for bucket in np.unique(self._bucket).tolist():
            here = (self._bucket == bucket) & (self.reason == ACCEPTED)
            for number, name in enumerate(self._names.tolist()):
                rows = np.flatnonzero(here & (self._verdicts.label == number))
                rows = rows[np.argsort(place[rows], kind="stable")]
                self.reason[rows[terms.per_class :]] = NOT_DRAWN
                if len(rows) < terms.per_class and name in self._asked:
                    found = {"bucket": bucket, "concept": name, "images": len(rows)}
                    self.short.append(found)
        buckets = sorted({one["bucket"] for one in self.short})
        if self.short and terms.short == "error":
            words = [f"{s['concept']} in bucket {s['bucket']}: {s['images']}" for s in self.short]
            raise OnwardError(
                f"expected {terms.per_class} images per class and bucket, found fewer "
                f"({first_few(words)}). Retrieve more, ask for fewer with --per-class, or go on "
                "with --short keep or drop-bucket"
            )
        if terms.short == "drop-bucket":
            self.reason[np.isin(self._bucket, buckets) & (self.reason == ACCEPTED)] = DROPPED

    def labelled(self) -> pa.Table:
        rows = np.flatnonzero(self.drawn)
        label = self._verdicts.label[rows]
        order = np.lexsort((rows, label, self._bucket[rows]))
        rows, label = rows[order], label[order]
        columns = {
            "bucket": self._bucket[rows],
            "concept": self._names[label].tolist(),
            "id": self._candidates.column("id").take(pa.array(rows)),
            "certainty": self._verdicts.certainty[rows],
        }
        return pa.table(columns).cast(LABELLED)

    def rejected(self) -> pa.Table:
        rows = np.flatnonzero(~self.drawn)
        part = self._candidates.select(["bucket", "concept", "id"]).take(pa.array(rows))
        return part.append_column("reason", pa.array(self.reason[rows].tolist())).cast(REJECTED)

    def counts(self) -> dict[str, Any]:
        names = self._candidates.column("concept").to_numpy(zero_copy_only=False)
        cells = []
        for bucket in np.unique(self._bucket).tolist():
            for name in dict.fromkeys(names[self._bucket == bucket].tolist()):
                here = (self._bucket == bucket) & (names == name)
                why = Counter(self.reason[here & ~self.drawn].tolist())
                number = int(np.flatnonzero(self._names == name)[0])
                as_this = self.drawn & (self._verdicts.label == number)
                cells.append(
                    {
                        "bucket": bucket,
                        "concept": name,
                        "candidates": int(here.sum()),
                        "accepted": int((as_this & (self._bucket == bucket)).sum()),
                        "rejected": dict(sorted(why.items())),
                    }
                )
        return {
            "candidates": len(self.reason),
            "accepted": int(self.drawn.sum()),
            "rejected": dict(sorted(Counter(self.reason[~self.drawn].tolist()).items())),
            "classes": cells,
            "short": self.short,
        }


def _reviewed(votes: Path) -> list[Stage]:
    """Return the stage that the votes were given in, if they come from a finished one."""
    finished = votes.is_dir() and (votes / STAGE).is_file()
    return [open_stage(votes, "review")] if finished else []


def _candidates(retrieved: Path) -> pa.Table:
    table = read_parquet(retrieved / "candidates.parquet", fix="Retrieve again")
    ids = table.column("id")
    if len(ids.unique()) < len(ids):
        twice = next(n for n, times in Counter(ids.to_pylist()).items() if times > 1)
        raise OnwardError(
            f"expected each image once among the candidates in {retrieved}, found {twice!r} more "
            "often. Retrieve again"
        )
    return table


def _of_votes(found: Ballots, given: pa.Table) -> dict[str, Any]:
    agreement = krippendorff_alpha(found.answers)
    return {
        "votes": given.num_rows,
        "votes_aside": found.aside,
        "annotators": len(found.people),
        "hours": round(found.seconds / 3600, 3),
        "krippendorff_alpha": None if np.isnan(agreement) else agreement,
    }


def _error(
    found: Ballots, own: Ints, known: Ints, accepted: NDArray[np.bool_]
) -> dict[str, float] | None:
    """Estimate the label error of what was accepted as what it was retrieved for."""
    if not found.answers.shape[1]:
        return None
    yes = np.where(found.answers < 0, -1, (found.answers == own[:, None]).astype(np.int64))
    truth = np.where(known < 0, -1, (known == own).astype(np.int64))
    error = label_error(Questions(yes, found.who, own, truth), accepted)
    return None if error is None else error.as_json()


def _known(gold: Path | None, ids: list[str], concepts: Concepts) -> Ints:
    """Return the number of the label that is known of each candidate, -1 where none is.

    A label that joins several names with ``|`` is one more than there are concepts.
    """
    known = np.full(len(ids), -1, np.int64)
    if gold is None:
        return known
    table = read_file(gold, ["id", "label"]).rows
    absent = [name for name in ("id", "label") if name not in table.column_names]
    if absent:
        raise OnwardError(f"expected the columns id and label in {gold}, found no {absent[0]}")
    numbers = concepts.numbers
    rows = {name: number for number, name in enumerate(ids)}
    columns = (table.column(name).cast(pa.string()).to_pylist() for name in ("id", "label"))
    for name, label in zip(*columns, strict=True):
        names = [one.strip() for one in (label or concepts.background).split("|")]
        strangers = [one for one in names if one not in numbers]
        if strangers:
            raise unknown(f"concept in {gold}", strangers[0], numbers, "concepts.json")
        if name in rows:
            known[rows[name]] = numbers[names[0]] if len(names) == 1 else len(numbers)
    return known


def _content(table: pa.Table) -> str:
    """Name what a table holds, however it was stored."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return hashlib.sha256(sink.getvalue()).hexdigest()[:16]
