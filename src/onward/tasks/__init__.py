"""The task kinds: what is predicted, and how it is scored."""

from onward.catalogue import Catalogue
from onward.tasks.boxes import Boxes
from onward.tasks.image_text import ImageText
from onward.tasks.many_labels import ManyLabels
from onward.tasks.one_label import OneLabel
from onward.types import Task

_OWN: tuple[Task, ...] = (OneLabel(), ManyLabels(), Boxes(), ImageText())
TASKS = Catalogue("task", {task.name: task for task in _OWN}, "onward.tasks", Task)
"""By name; a package adds one as a `Task` by an entry point."""
