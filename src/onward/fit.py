"""Whether a method makes sense on a benchmark: what the one needs, and what the other lacks.

A method says what it `needs`, and why. A task kind, a protocol and a benchmark say what they have
not, and why. Nobody lists which goes with which.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from onward.errors import unknown

CLASSES = "classes"
CLASS_OUTPUTS = "class outputs"
CLASS_ROWS = "class rows"
ONE_CLASS = "one class"
NEW_CLASSES = "new classes"
IMAGES = "images"
PLACES = "places"
SECOND_LOOK = "second look"
FULL_MEMORY = "full memory"

NEEDS: Mapping[str, str] = {
    CLASSES: "samples that belong to classes",
    CLASS_OUTPUTS: "a model with one output for each class",
    CLASS_ROWS: "a last layer with rows for each class",
    ONE_CLASS: "samples that belong to one class each",
    NEW_CLASSES: "classes that arrive over time",
    IMAGES: "images as inputs",
    PLACES: "things that have a place in an image",
    SECOND_LOOK: "a second look at new samples",
    FULL_MEMORY: "a memory of every sample",
}
"""What a method may need, in words."""

ONE_LOOK = "its budget is for one look, to train on"
"""Why there is no second one."""


@dataclass(frozen=True)
class Misfit:
    """Why a method makes no sense somewhere: what it needs, what for, and why it is not there."""

    method: str
    need: str
    purpose: str
    lack: str

    def __str__(self) -> str:
        return f"{self.method} needs {NEEDS[self.need]}, {self.purpose}; {self.lack}."


def require_known(words: Iterable[str], whose: str) -> None:
    """Raise if a need or a lack is none of `NEEDS`: nothing would ever fit it.

    Examples
    --------
    >>> require_known(["image"], "what er needs")
    Traceback (most recent call last):
    onward.errors.OnwardError: unknown word in what er needs 'image'. Did you mean 'images'? See: \
NEEDS in onward/fit.py
    """
    for word in words:
        if word not in NEEDS:
            raise unknown(f"word in {whose}", word, NEEDS, "NEEDS in onward/fit.py")


def misfit(method: str, needs: Mapping[str, str], *lacking: Mapping[str, str]) -> Misfit | None:
    """Return why a method makes no sense there, or None if it does.

    Of a task kind, a protocol and a benchmark that lack what it needs, who comes first is named.

    Examples
    --------
    >>> print(misfit("gdumb", {CLASSES: "to balance its memory"}, {CLASSES: "a text has no class"}))
    gdumb needs samples that belong to classes, to balance its memory; a text has no class.
    >>> misfit("er", {}, {CLASSES: "a text has no class"}) is None
    True
    """
    require_known(needs, f"what {method} needs")
    for lacks in lacking:
        for need, purpose in needs.items():
            if need in lacks:
                return Misfit(method, need, purpose, lacks[need])
    return None
