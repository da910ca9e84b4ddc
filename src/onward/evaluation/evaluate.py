"""``evaluate``: how good a model is on each period, so that it can be dated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onward.data.imagenet_subtrees import parts_of
from onward.errors import OnwardError
from onward.evaluation.sitting import Examinee, Named, Outcome, decisions, outcome
from onward.evaluation.static import StaticOutcome, classes_of, evaluate_static, find_static
from onward.models.clip import Clip
from onward.tasks.image_text import ImageText
from onward.types import Array, Benchmark, Samples, Stream, Task

Note = Callable[[str, str, Array, Samples, Stream], None]
"""Told of each test of a period, once a model has answered it."""


@dataclass(frozen=True)
class Evaluation:
    """The scores of one model: of each period's tests by name, and of what belongs to no period."""

    data: str
    seed: int
    parameters: int
    macs: int
    periods: Mapping[str, Mapping[str, Outcome]]
    static: Mapping[str, Outcome]
    tasks: StaticOutcome | None = None

    @property
    def tests(self) -> list[str]:
        """The names of the periods' tests, the usual one first."""
        return list(dict.fromkeys(name for tests in self.periods.values() for name in tests))

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        found: dict[str, Any] = {
            "data": self.data,
            "seed": self.seed,
            "parameters": self.parameters,
            "macs_per_pair": self.macs,
            "periods": [
                {"period": name, "tests": _plain(tests)} for name, tests in self.periods.items()
            ],
            "static": _plain(self.static),
        }
        return found if self.tasks is None else {**found, "static_tasks": self.tasks.as_json()}


def require_pairs(task: Task, benchmark: str) -> None:
    """Raise if a benchmark's samples are no pairs of image and text."""
    if task.name != ImageText.name:
        raise OnwardError(
            f"expected a benchmark of images and texts, such as tic, found one of {task.name}: "
            f"{benchmark}"
        )


def evaluate(
    clip: Clip,
    benchmark: Benchmark,
    *,
    seed: int = 0,
    static: Path | None = None,
    named: Named | None = None,
    watch: Callable[[str], None] = lambda name: None,
    note: Note | None = None,
) -> Evaluation:
    """Evaluate a model as it is on all tests that a run would have, and on static tasks.

    One test is in memory at a time, as directions; similarities are looked at in blocks.

    Parameters
    ----------
    clip
        The model, see `onward.models.clip_choice.named_clip`.
    benchmark
        What `onward.load` returned; its inputs are pairs of image and text.
    seed
        Decides which samples test and which would be learned.
    static
        A folder with static tasks, see `onward.data.static_tests`.
    named
        Classes by the name of a part, whose mean is wanted too; None stands for TiC-CLIP's parts of
        ImageNet.
    watch
        Called with the name of each test before it is begun.
    note
        Called with the names of each period and test, what was decided, the samples and the stream.
    """
    require_pairs(benchmark.task, benchmark.name)
    # What can be wrong is found out before anything takes time.
    tasks = None if static is None else find_static(static)
    stream, examinee = benchmark.stream(seed), Examinee(clip)
    _require_parts(named, [stream[-1].classes, *classes_of(tasks or {})])

    def sat(name: str, samples: Samples, period: str | None = None) -> Outcome:
        watch(name if period is None else f"{period}, {name}")
        decided = decisions(examinee, stream.table, [samples])
        if note is not None and period is not None:
            note(period, name, decided, samples, stream)
        return outcome(decided, samples, stream[-1].classes, named)

    return Evaluation(
        data=benchmark.data,
        seed=seed,
        parameters=clip.size,
        macs=clip.macs,
        periods={
            period.name: {
                name: sat(name, samples, period.name)
                for name, samples in period.tests.items()
                if len(samples)
            }
            for period in stream
        },
        static={name: sat(name, samples) for name, samples in stream.static.items()},
        tasks=None if tasks is None else evaluate_static(clip, tasks, named, watch),
    )


def _require_parts(named: Named | None, sets: Sequence[Sequence[str]]) -> None:
    if named is not None and not any(parts_of(classes, named) for classes in sets):
        raise OnwardError(
            "expected parts made of the classes of one test or more, found none that has all of "
            f"{', '.join(one for part in named.values() for one in part)}. The classes of the "
            f"periods are {', '.join(sets[0])}; those of a task are in its classnames.txt"
        )


def _plain(tests: Mapping[str, Outcome]) -> dict[str, Any]:
    return {name: found.as_json() for name, found in tests.items()}
