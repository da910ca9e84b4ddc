"""TiC-CLIP's static tasks (Table 10): what they are, and where DataComp's evaluation has them."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).parent / "tic" / "static_tasks.csv"


@dataclass(frozen=True)
class StaticTask:
    """A row of Table 10.

    ``metric`` is in the paper's words. ``folder`` is its folder's name in DataComp's evaluation,
    without ``wds_`` before and ``_test`` behind.
    """

    name: str
    kind: str
    metric: str
    folder: str


@cache
def static_tasks() -> tuple[StaticTask, ...]:
    """Return all tasks of Table 10, in its order.

    Examples
    --------
    >>> len(static_tasks()), static_tasks()[0].metric
    (37, 'mean per class')
    """
    with _TABLE.open(newline="", encoding="utf-8") as file:
        return tuple(
            StaticTask(
                name=row["dataset"],
                kind=row["type"],
                metric=row["metric"],
                folder=row["folder"],
            )
            for row in csv.DictReader(file)
        )


def task_of_folder(name: str) -> StaticTask | None:
    """Return the task that a folder of this name has, if it is one of Table 10.

    Examples
    --------
    >>> task_of_folder("wds_vtab-pets_test").name, task_of_folder("cifar10").name
    ('Oxford-IIIT Pet', 'CIFAR-10')
    """
    bare = name.rpartition("/")[2].removeprefix("wds_").removesuffix("_test")
    return next((task for task in static_tasks() if task.folder == bare), None)
