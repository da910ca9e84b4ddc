"""A campaign: one SQLite file with items, annotators, questions and votes."""

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from onward.curate.concepts import CONCEPTS, Concepts, read_concepts
from onward.curate.images import Place
from onward.curate.stage import open_stage
from onward.errors import OnwardError, StorageError

FILE = "campaign.sqlite"
_BUSY_SECONDS = 20


def now() -> int:
    """Return the time in microseconds since 1970."""
    return time.time_ns() // 1000


@dataclass
class Campaign:
    """A campaign that is open. One thread uses it at a time.

    Parameters
    ----------
    folder
        Where it lies.
    db
        A connection of its own.
    concepts
        What annotators choose from.
    now
        The clock, in microseconds.
    """

    folder: Path
    db: sqlite3.Connection
    concepts: Concepts
    now: Callable[[], int] = now

    def setting(self, name: str) -> Any:
        """Return a setting, as it is at this moment."""
        row = self.db.execute("select value from settings where name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def set(self, name: str, value: Any) -> None:
        """Change a setting."""
        self.db.execute("insert or replace into settings values (?, ?)", (name, json.dumps(value)))

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Make everything inside durable at its end, or nothing of it."""
        self.db.execute("begin immediate")
        try:
            yield
            self.db.execute("commit")
        except BaseException:
            # A full disk has rolled it back already.
            if self.db.in_transaction:
                self.db.execute("rollback")
            raise

    def place(self, item: int) -> Place | None:
        """Return where the image of an item lies."""
        row = self.db.execute(
            "select id, path, kind, offset, size from items where item = ?", (item,)
        ).fetchone()
        if row is None:
            return None
        name, path, *rest = row
        return Place(name, Path(self.setting("images")) / path, *rest)

    def code(self, labels: Iterable[str]) -> str:
        """Return names of concepts as the text that stands for them, see `code_of`."""
        return code_of(self.concepts, labels)

    def labels(self, code: str) -> list[str]:
        """Return the names that a text stands for."""
        return [self.concepts.found[int(at)].name for at in code.split(",") if at]


def code_of(concepts: Concepts, labels: Iterable[str]) -> str:
    """Return names of concepts as the text that stands for them: their numbers, in order.

    The background is what an annotator means by none of the others.
    """
    known = {concept.name: at for at, concept in enumerate(concepts.found)}
    names = set(labels) - {concepts.background}
    strangers = sorted(names - set(known))
    if strangers:
        raise OnwardError(
            f"expected labels among {', '.join(concepts.names)}, found {strangers[0]!r}"
        )
    return ",".join(map(str, sorted(known[name] for name in names)))


def connect(path: Path, *, make: bool = False) -> sqlite3.Connection:
    """Open the file of a campaign: what is committed survives a power cut."""
    mode = "rwc" if make else "rw"
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=_BUSY_SECONDS,
        # A connection may move between threads; `Campaign` says that it is used by one at a time.
        check_same_thread=False,
    )
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("pragma foreign_keys = on")
    if make:
        schema = resources.files("onward.curate.review").joinpath("schema.sql")
        db.executescript(schema.read_text("utf-8"))
    return db


@contextlib.contextmanager
def on_disk(folder: Path) -> Iterator[None]:
    """Turn SQLite's trouble with the disk or the file into a message that says what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if type(error) not in (sqlite3.OperationalError, sqlite3.DatabaseError):
            raise  # a mistake of ours
        raise StorageError(
            f"cannot use {folder / FILE}: {error}. Free some space, see that the file may be "
            "written and run the same command again; no vote that was kept is lost"
        ) from error


@contextlib.contextmanager
def open_campaign(folder: Path, *, clock: Callable[[], int] = now) -> Iterator[Campaign]:
    """Open a campaign that `onward curate review` has made, with a connection of its own."""
    open_stage(folder, "review")
    try:
        db = connect(folder / FILE)
    except sqlite3.Error as error:
        raise OnwardError(
            f"expected the campaign in {folder / FILE}, found what SQLite cannot open ({error})"
        ) from error
    try:
        with on_disk(folder):
            yield Campaign(folder, db, read_concepts(folder / CONCEPTS), clock)
    finally:
        db.close()
