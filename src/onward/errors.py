"""What Onward says when something is wrong: expected, found, do this."""

import difflib
from collections.abc import Iterable, Sequence


class OnwardError(Exception):
    """A mistake that the person at the keyboard can mend; the CLI shows it without a traceback."""

    exit_code = 2
    """What a command ends with that raises it."""


class LookAheadError(OnwardError):
    """A learner asked for a sample or a label that it may not see now."""


class BudgetSpentError(OnwardError):
    """A learner asked for more than its budget allows."""


class DivergedError(OnwardError):
    """A model's numbers are no longer finite: its training went wrong, and nothing else."""


class FileImportError(OnwardError):
    """The Python file of a method or of a model raised an exception when it was imported."""


class DamagedFolderError(OnwardError):
    """A run folder does not hold what Onward wrote into it."""


class StorageError(OnwardError):
    """Results could not be written: no room, no permission, not a folder."""


class LockWarning(UserWarning):
    """A file system does not keep two processes from writing the same folder."""


class SmallBatchWarning(UserWarning):
    """Batches have fewer samples than there are processes to share them out among."""


class LearningRateWarning(UserWarning):
    """An optimizer was chosen, and the learning rate is still the one of another optimizer."""


def unknown(kind: str, name: str, known: Iterable[str], command: str) -> OnwardError:
    """Say that the name of a kind of thing is unknown, which one was meant, and what lists them.

    Examples
    --------
    >>> print(unknown("method", "fintune", ["er", "finetune"], "onward list methods"))
    unknown method 'fintune'. Did you mean 'finetune'? See: onward list methods
    >>> print(unknown("method", "zzz", ["er", "finetune"], "onward list methods"))
    unknown method 'zzz'; expected one of er, finetune. See: onward list methods
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f". Did you mean {near[0]!r}?" if near else f"; expected one of {', '.join(names)}."
    return OnwardError(f"unknown {kind} {name!r}{hint} See: {command}")


def first_few(found: Sequence[object], between: str = ", ", most: int = 5) -> str:
    """Return the first of many things in words, and how many more there are.

    What stands between two of them also stands before the first where it begins a line.

    Examples
    --------
    >>> first_few(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = between.join(map(str, found[:most]))
    more = len(found) - most
    lines = between.startswith("\n")
    rest = f"{between if lines else ' '}and {more:,} more" if more > 0 else ""
    return f"{between if lines and len(found) else ''}{shown}{rest}"
