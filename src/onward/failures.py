"""Runs that failed: what each failure was, and the error that reports them all."""

import sysconfig
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onward.errors import DivergedError, OnwardError
from onward.results.record import RunRecord

_INSTALLED = (
    Path(__file__).parent,
    *(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")),
)


@dataclass(frozen=True)
class FailedRun:
    """A run that ended with an error, as text that can be sent to another process.

    Parameters
    ----------
    method, seed
        Which run.
    stage
        What it was doing, such as ``learning period 2017``; None before its first period.
    error, message
        The name of the exception's type, and its text.
    location
        The file and line of the user's code that raised it; None if there is none.
    traceback
        The full traceback; empty if a worker process ended without one.
    user_error
        Whether the exception is an `OnwardError`, which the user can fix.
    diverged
        Whether it is a `DivergedError`.
    file
        The file in the run folder that has the traceback; None if there is none.
    """

    method: str
    seed: int
    stage: str | None
    error: str
    message: str
    location: str | None
    traceback: str
    user_error: bool
    diverged: bool
    file: Path | None = None

    @classmethod
    def of(
        cls, error: BaseException, method: str, seed: int, stage: str | None = None
    ) -> "FailedRun":
        """Return the failure that an exception stands for."""
        return cls(
            method=method,
            seed=seed,
            stage=stage,
            error=type(error).__name__,
            message=_text(error),
            location=_location(error),
            traceback="".join(traceback.format_exception(error)) if error.__traceback__ else "",
            user_error=isinstance(error, OnwardError),
            diverged=isinstance(error, DivergedError),
        )

    def __str__(self) -> str:
        """Return one short message; the traceback is added only if no file has it."""
        run = ", ".join(filter(None, [self.method, f"seed {self.seed}", self.stage]))
        # A library's message may have many lines; Onward's own messages are shown in full.
        text = self.message if self.user_error else self.message.partition("\n")[0]
        kind = "" if self.user_error else self.error
        place = f" ({self.location})" if self.location else ""
        short = ": ".join(filter(None, [run, kind, text])) + place
        if self.file is not None:
            end = "" if short.endswith(("?", ".")) else "."
            return f"{short}{end} Traceback: {self.file}"
        return short if self.user_error else f"{short}\n{self.traceback}".rstrip()


class RunsFailedError(OnwardError):
    """Some of several runs failed; raised once all others are finished.

    Parameters
    ----------
    results
        In the order of the runs: a record, or why there is none.
    """

    def __init__(self, results: Sequence[RunRecord | FailedRun]) -> None:
        self.results = tuple(results)
        self.records = [found for found in results if isinstance(found, RunRecord)]
        self.failed = [found for found in results if isinstance(found, FailedRun)]
        # A mistake of the user ends a command with 2, any other exception with 1.
        self.exit_code = 2 if all(failed.user_error for failed in self.failed) else 1
        super().__init__(self._message())

    def _message(self) -> str:
        count = f"{len(self.failed)} of {len(self.results)} runs failed"
        finished = "; the others are finished" if self.records else ""
        lines = [f"{count}{finished}:", *(f"- {failed}" for failed in self.failed)]
        return "\n".join([*lines, "The same command runs the failed ones again"])


def all_or_raise(results: Sequence[RunRecord | FailedRun]) -> list[RunRecord]:
    """Return the records of runs that are all finished; raise if one of them failed."""
    records = [found for found in results if isinstance(found, RunRecord)]
    if len(records) < len(results):
        raise RunsFailedError(results)
    return records


def _text(error: BaseException) -> str:
    """Return the text of an exception, whose class may be somebody else's."""
    try:
        return str(error).strip()
    except Exception as other:  # noqa: BLE001 (the exception itself is to be reported)
        return f"(its text cannot be read: {type(other).__name__})"


def _location(error: BaseException) -> str | None:
    """Return the last line of user code that an exception passed through.

    That is code that is not in an installed package. If there is none, it is the line that raised
    the exception, unless that is one of Onward's own messages, which say enough.
    """
    frames = traceback.extract_tb(error.__traceback__)
    user = [frame for frame in frames if not _is_installed(frame.filename)]
    last = user[-1:] or ([] if isinstance(error, OnwardError) else frames[-1:])
    return f"{last[0].filename}, line {last[0].lineno}" if last else None


def _is_installed(file: str) -> bool:
    path = Path(file)
    # Python's import system and generated code have names such as <frozen importlib>.
    return file.startswith("<") or any(path.is_relative_to(at) for at in _INSTALLED)
