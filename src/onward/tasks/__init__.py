"""The task kinds: what is predicted, and how it is scored."""

from collections.abc import Mapping

from onward.tasks.boxes import Boxes
from onward.tasks.image_text import ImageText
from onward.tasks.many_labels import ManyLabels
from onward.tasks.one_label import OneLabel
from onward.types import Task

TASKS: Mapping[str, Task] = {
    task.name: task for task in (OneLabel(), ManyLabels(), Boxes(), ImageText())
}
