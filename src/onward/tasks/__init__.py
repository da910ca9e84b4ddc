"""The task kinds: what is predicted, and how it is scored."""

from onward.catalogue import Catalogue
from onward.errors import OnwardError
from onward.tasks.boxes import Boxes
from onward.tasks.image_text import ImageText
from onward.tasks.many_labels import ManyLabels
from onward.tasks.one_label import OneLabel
from onward.tasks.shown import Shown
from onward.types import Task

_OWN: tuple[Task, ...] = (OneLabel(), ManyLabels(), Boxes(), ImageText())
TASKS = Catalogue("task", {task.name: task for task in _OWN}, "onward.tasks", Task)
"""By name; a package adds one as a `Task` by an entry point."""


def shown_of(name: str) -> Shown:
    """Return how scores of a task kind are shown: as it says as ``shown``, or as any are.

    Examples
    --------
    >>> shown_of("one_label").counts, shown_of("unheard_of").counts
    ('right answers', 'score')
    """
    if name not in TASKS:
        return Shown("score")
    task = TASKS[name]
    # Not inherited: a derived kind may have other scores.
    shown = vars(type(task)).get("shown", Shown(task.headline))
    if not isinstance(shown, Shown):
        raise OnwardError(
            f"expected how scores of the task kind {name!r} are shown as a Shown, found {shown!r}. "
            "Mend the package that adds it"
        )
    return shown
