"""Static tasks: those of TiC-CLIP's Table 10 that a folder has, each by its own metric."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onward.data.prompts import CLASSNAMES, class_names
from onward.data.static_tasks import StaticTask, static_tasks, task_of_folder
from onward.data.static_tests import (
    ASSOCIATION,
    CLASSIFICATION,
    RETRIEVAL,
    Fitting,
    StaticTest,
    read_static_test,
)
from onward.data.task_folder import find_tasks
from onward.errors import OnwardError
from onward.evaluation.sitting import Examinee, Named, Outcome, decisions, outcome, plain
from onward.metrics.static_tasks import (
    Average,
    average,
    imagenet_shifts,
    jaccards,
    macro_f1,
    mean_per_class,
    top_k,
    worst_group,
)
from onward.models.clip import Clip
from onward.types import Array

# DataComp's main score of WinoGAViL is that of the questions with so many images; a few have five.
_MANY = 10
# FMoW's sixth region is "other": the authors of WILDS leave it out.
_OTHER = {"FMoW": (5,)}
_OF_KIND = {CLASSIFICATION: "accuracy", RETRIEVAL: "R@1", ASSOCIATION: "Jaccard score"}
_GROUPED = {"worst-region acc.": 1, "worst-income top-5 acc.": 5}
_BY_CLASS: Mapping[str, Callable[[Array, Array], float]] = {
    "accuracy": top_k,
    "mean per class": mean_per_class,
    "macro F1 score": macro_f1,
}


@dataclass(frozen=True)
class TaskOutcome:
    """The main score of a task, by its own metric, and the others."""

    metric: str
    score: float
    outcome: Outcome

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"metric": self.metric, **plain({"score": self.score}), **self.outcome.as_json()}


@dataclass(frozen=True)
class StaticOutcome:
    """All tasks that were found, and the names of those of Table 10 that were not."""

    tasks: Mapping[str, TaskOutcome]
    absent: tuple[str, ...]

    @property
    def averages(self) -> Mapping[str, Average]:
        """The paper's means: of all tasks of Table 10 that are there, and of ImageNet's shifts."""
        listed = {task.name for task in static_tasks()}
        scores = {name: found.score for name, found in self.tasks.items() if name in listed}
        return {"average": average(scores), "ImageNet dist. shift": imagenet_shifts(scores)}

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "tasks": {name: found.as_json() for name, found in self.tasks.items()},
            "absent": list(self.absent),
            "averages": {
                name: {**plain({"score": one.value}), "of": one.of, "lacking": one.lacking}
                for name, one in self.averages.items()
            },
        }


class Found(NamedTuple):
    """A folder with a task, and the row of Table 10 that it is, if any."""

    folder: Path
    task: StaticTask | None


def find_static(root: Path) -> dict[str, Found]:
    """Return the tasks below a folder by name, those of Table 10 first, in its order.

    Folders that Table 10 does not know are found too, under their own names: TiC-DataComp's yearly
    tests, say.
    """
    found: dict[str, Found] = {}
    for path, folder in find_tasks(root).items():
        task = task_of_folder(path)
        name = path if task is None else task.name
        if name in found:
            raise OnwardError(
                f"expected one folder of {name} below {root}, found {found[name].folder} and "
                f"{folder}"
            )
        found[name] = Found(folder, task)
    if not found:
        raise OnwardError(
            f"expected static tasks below {root}, each with shards and nshards.txt, found none"
        )
    listed = [task.name for task in static_tasks() if task.name in found]
    return {name: found[name] for name in dict.fromkeys([*listed, *found])}


def classes_of(found: Mapping[str, Found]) -> list[tuple[str, ...]]:
    """Return the names of the classes of every task that has some."""
    folders = [one.folder for one in found.values()]
    return [class_names(folder) for folder in folders if (folder / CLASSNAMES).is_file()]


def evaluate_static(
    clip: Clip,
    found: Mapping[str, Found],
    named: Named | None = None,
    watch: Callable[[str], None] = lambda name: None,
) -> StaticOutcome:
    """Evaluate a model on static tasks, each by its own metric.

    What Table 10 does not know is scored by accuracy, R@1 or Jaccard score. `watch` is called with
    the name of each task before it is begun.
    """
    fitting, examinee = Fitting(clip.side, clip.fit), Examinee(clip)
    outcomes: dict[str, TaskOutcome] = {}
    for name, (folder, task) in found.items():
        watch(name)
        grouped = task is not None and task.metric in _GROUPED
        uncounted = _uncounted(task)
        test = read_static_test(folder, fitting, grouped=grouped, uncounted=uncounted)
        if task is not None and test.kind != _kind(task):
            raise OnwardError(
                f"expected {folder} to be {name}, a task of {_kind(task)}, found {test.kind} in "
                "its dataset_type.txt"
            )
        outcomes[name] = _scored(examinee, test, task, named)
    absent = tuple(task.name for task in static_tasks() if task.name not in found)
    return StaticOutcome(outcomes, absent)


def _kind(task: StaticTask) -> str:
    return ASSOCIATION if task.metric == _OF_KIND[ASSOCIATION] else task.kind


def _scored(
    examinee: Examinee, test: StaticTest, task: StaticTask | None, named: Named | None
) -> TaskOutcome:
    decided = decisions(examinee, test.table, test.bags)
    metric = _OF_KIND[test.kind] if task is None else task.metric
    if test.kind == ASSOCIATION:
        return _associated(decided, test)
    [samples] = test.bags
    found = outcome(decided, samples, test.classes, named)
    if test.kind == RETRIEVAL:
        return TaskOutcome(metric, found.scores["recall1"], found)
    images = len(samples) - len(test.classes)
    answers, right = decided[:images, 1:], samples.labels[:images, 0]
    if test.groups is None:
        return TaskOutcome(metric, _BY_CLASS[metric](answers, right), found)
    without, depth = _uncounted(task), _GROUPED[metric]
    score = worst_group(answers, right, test.groups, depth, without=without)
    return TaskOutcome(metric, score, found)


def _uncounted(task: StaticTask | None) -> tuple[int, ...]:
    return _OTHER.get(task.name, ()) if task else ()


def _associated(decided: Array, test: StaticTest) -> TaskOutcome:
    """Score cues by the images that are chosen for them; each is the last of its bag."""
    sizes = np.array([len(bag) for bag in test.bags])
    right = np.stack([bag.labels[-1] for bag in test.bags])
    found = jaccards(decided[np.cumsum(sizes) - 1, 1:], right)
    many = sizes - 1 >= _MANY
    scores = {
        name: float(found[which].mean()) if which.any() else float("nan")
        for name, which in (
            ("jaccard", np.ones_like(many)),
            ("jaccard_5_6", ~many),
            ("jaccard_10_12", many),
        )
    }
    main = "jaccard_10_12" if many.any() else "jaccard"
    words = "Jaccard score, 10 images or more" if many.any() else "Jaccard score"
    return TaskOutcome(words, scores[main], Outcome(int(sizes.sum()), scores))
