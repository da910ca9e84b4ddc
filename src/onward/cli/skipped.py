"""What a report leaves out or cannot promise, on the error stream, where no program reads it."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape

from onward.errors import OnwardError
from onward.results.collect import LeftOut
from onward.results.folder import TRACEBACK
from onward.results.record import RunRecord


def say_resumed(records: Iterable[RunRecord]) -> None:
    """Count the runs that were resumed on another device, or with other versions."""
    changed: Counter[str] = Counter()
    for record in records:
        with contextlib.suppress(OnwardError):  # reports are made without what cannot be read
            if record.changed_on_resume:
                changed[" and another ".join(record.changed_on_resume)] += 1
    for what, count in changed.items():
        runs = "1 run was" if count == 1 else f"{count} runs were"
        Console(stderr=True, highlight=False).print(
            f"{runs} resumed with another {what}: repeats are not bit-identical", soft_wrap=True
        )


def say_skipped(left_out: Sequence[LeftOut], unfinished: int) -> None:
    """Name and count the folders that could not be read, and count the runs to be finished."""
    screen = Console(stderr=True, highlight=False)
    for one in left_out:
        screen.print(f"[bold yellow]left out:[/] {escape(one.reason)}", soft_wrap=True)
    if left_out:
        folders = "1 folder" if len(left_out) == 1 else f"{len(left_out)} folders"
        be = "is" if len(left_out) == 1 else "are"
        screen.print(f"{folders} could not be read and {be} left out", soft_wrap=True)
    if unfinished:
        runs = "1 unfinished run is" if unfinished == 1 else f"{unfinished} unfinished runs are"
        screen.print(
            f"{runs} left out; run the same command again to finish. The folder of a run that "
            f"failed has its {TRACEBACK}",
            soft_wrap=True,
        )
