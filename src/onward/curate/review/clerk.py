"""One writer for all annotators: what comes in together is made durable together.

Every piece of work waits for the commit that has it. While one commit is on its way to the disk
the next pieces gather, so that a hundred people cost hardly more commits than one.
"""

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from onward.curate.review.campaign import Campaign, open_campaign

_T = TypeVar("_T")
_Piece = tuple[Callable[[Campaign], Any], "Future[Any]"]
_MOST_TOGETHER = 256
_CHECKPOINT_SECONDS = 5.0


class Clerk:
    """A thread with a connection of its own that does what it is given, in order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._work: queue.SimpleQueue[_Piece | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._threads = [
            threading.Thread(target=target, name=f"review {target.__name__}", daemon=True)
            for target in (self._write, self._checkpoint)
        ]
        for thread in self._threads:
            thread.start()

    async def do(self, work: Callable[[Campaign], _T]) -> _T:
        """Do a piece of work and return what it returns, once that is durable."""
        done: Future[_T] = Future()
        self._work.put((work, done))
        return await asyncio.wrap_future(done)

    def close(self) -> None:
        """Finish what was given, and end."""
        self._closed.set()
        self._work.put(None)
        for thread in self._threads:
            thread.join()

    def _write(self) -> None:
        with open_campaign(self._folder) as campaign:
            # Copying what was written into the main file is another thread's work: nobody waits.
            campaign.db.execute("pragma wal_autocheckpoint = 0")
            while (first := self._work.get()) is not None:
                pieces: list[_Piece] = [first]
                with contextlib.suppress(queue.Empty):
                    while len(pieces) < _MOST_TOGETHER:
                        piece = self._work.get_nowait()
                        if piece is None:
                            self._work.put(None)
                            break
                        pieces.append(piece)
                _together(campaign, pieces)

    def _checkpoint(self) -> None:
        with open_campaign(self._folder) as campaign:
            while not self._closed.wait(_CHECKPOINT_SECONDS):
                # A disk that is full now may have room later: what is written is safe meanwhile.
                with contextlib.suppress(sqlite3.Error):
                    campaign.db.execute("pragma wal_checkpoint(passive)")


def _together(campaign: Campaign, pieces: list[_Piece]) -> None:
    """Do some pieces of work in one commit; one that fails leaves no trace and harms no other."""
    results: list[tuple[Future[Any], Any, BaseException | None]] = []
    # Who waits for a piece may be gone; one that is begun can no longer be called off.
    pieces = [(work, done) for work, done in pieces if done.set_running_or_notify_cancel()]
    try:
        with campaign.writing():
            for work, done in pieces:
                campaign.db.execute("savepoint piece")
                try:
                    results.append((done, work(campaign), None))
                except sqlite3.OperationalError:
                    raise  # the disk's or the file's trouble: no piece can be made durable
                except Exception as error:  # noqa: BLE001 - it is handed to who waits for it
                    campaign.db.execute("rollback to piece")
                    results.append((done, None, error))
                campaign.db.execute("release piece")
    except sqlite3.Error as error:
        results = [(done, None, error) for _, done in pieces]
    for done, result, trouble in results:
        if trouble is None:
            done.set_result(result)
        else:
            done.set_exception(trouble)
