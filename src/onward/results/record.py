"""What came out of a run, to compute with."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.errors import DamagedFolderError, OnwardError, unknown
from onward.results import predictions
from onward.results.read import (
    check_mark,
    read_cost,
    read_curve,
    read_environment,
    read_manifest,
    read_resumed,
    read_scores,
    read_spec,
    read_stored_spec,
)
from onward.results.schema import Cost, Environment, Manifest, Point, RunSpec, Score
from onward.tasks import TASKS
from onward.types import PERIOD


@dataclass(frozen=True, eq=False)
class RunRecord:
    """One run: what was asked, its scores, its cost, and each single decision.

    ``path`` is None for a run that left no folder. ``decisions`` maps a period to the table of
    predictions made after it, with the classes it indexes into. ``points`` are the tests between
    two calls of learn.
    """

    spec: RunSpec
    scores: tuple[Score, ...]
    cost: Cost | None
    path: Path | None
    decisions: Mapping[int, tuple[pa.Table, tuple[str, ...]]]
    points: tuple[Point, ...] = ()

    @property
    def environment(self) -> Environment | None:
        """Where it was begun; None where its folder does not say."""
        manifest = None if self.path is None else read_manifest(self.path)
        if self.path is None or manifest is None:
            return None
        return read_environment(self.path, manifest)

    @property
    def resumed(self) -> list[Environment]:
        """Where it was resumed, as often as that was on another device, or with other versions."""
        manifest = None if self.path is None else read_manifest(self.path)
        if self.path is None or manifest is None:
            return []
        return read_resumed(self.path, manifest)

    @property
    def changed_on_resume(self) -> list[str]:
        """What was different after it had been resumed, such as the device, in words."""
        environments = [*filter(None, [self.environment]), *self.resumed]
        found = (word for one, next_one in pairwise(environments) for word in one.changed(next_one))
        return list(dict.fromkeys(found))

    @property
    def hash(self) -> str:
        """The hash of its spec as it is stored, which is the name of its folder."""
        return self.spec.hash if self.path is None else read_stored_spec(self.path).hash

    @property
    def complete(self) -> bool:
        """Whether the run is finished."""
        return self.cost is not None

    def matrix(self, metric: str | None = None, test: str = PERIOD) -> NDArray[np.float64]:
        """Return the score matrix: R[i, j] is the score on period j after learning period i.

        Cells that the protocol leaves empty, or that are not there yet, are NaN.

        Parameters
        ----------
        metric
            The name of a score; by default the headline of the task kind.
        test
            Which test of each period, where it has several.
        """
        known = self.period_tests
        if known and test not in known:
            raise unknown("test of periods", test, known, "onward list benchmarks")
        periods = len(self.spec.periods)
        matrix = np.full((periods, periods), np.nan)
        for score in self.scores:
            if score.tested_on is not None and score.test == test:
                matrix[score.learned_upto, score.tested_on] = self._value(score, metric)
        return matrix

    @property
    def period_tests(self) -> list[str]:
        """The names of the tests that each period has, the usual one first."""
        return list(dict.fromkeys(s.test for s in self.scores if s.tested_on is not None))

    @property
    def static_tests(self) -> list[str]:
        """The names of the tests that belong to no period."""
        return sorted({score.test for score in self.scores if score.tested_on is None})

    def static(self, test: str, metric: str | None = None) -> NDArray[np.float64]:
        """Return the scores on a static test after each period."""
        known = self.static_tests
        if test not in known:
            raise unknown("static test", test, known or ["(none)"], "onward list benchmarks")
        values = np.full(len(self.spec.periods), np.nan)
        for score in self.scores:
            if score.tested_on is None and score.test == test:
                values[score.learned_upto] = self._value(score, metric)
        return values

    def curve(
        self, test: str, metric: str | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return how many samples had been shown at each test on the way, and its scores."""
        mine = [point for point in self.points if point.test == test]
        values = [self._value(point, metric) for point in mine]
        return np.array([point.seen for point in mine], np.int64), np.array(values, np.float64)

    def class_matrix(self, test: str | None = None) -> tuple[NDArray[np.float64], tuple[str, ...]]:
        """Return how well each class is found, such as the share of its samples, and the classes.

        An array (learned_upto, tested_on, class) of one test of each period, by default of the
        first that asks for classes.
        """
        for name in [test] if test else self.period_tests:
            found = self._by_class(name)
            if test or np.isfinite(found).any():
                return found, self._classes()
        periods, classes = len(self.spec.periods), self._classes()
        return np.full((periods, periods, len(classes)), np.nan), classes

    def _by_class(self, test: str) -> NDArray[np.float64]:
        periods, classes, task = len(self.spec.periods), self._classes(), TASKS.find(self.spec.task)
        result = np.full((periods, periods, len(classes)), np.nan)
        for learned_upto, (table, _) in self.decisions.items():
            tested_on = table.column("tested_on").to_numpy()
            targets, decisions = predictions.judged(table)
            mine = table.column("test").to_numpy(zero_copy_only=False) == test
            for period in np.unique(tested_on[mine]):
                cell = mine & (tested_on == period)
                found = task.by_class(decisions[cell], targets[cell], len(classes))
                result[learned_upto, period] = found
        return result

    def static_by_class(self, test: str) -> tuple[NDArray[np.float64], tuple[str, ...]]:
        """Return how well each class is found in a static test, and the classes.

        An array (learned_upto, class).
        """
        classes = self._classes()
        result = np.full((len(self.spec.periods), len(classes)), np.nan)
        for learned_upto, (table, _) in self.decisions.items():
            here = table.column("test").to_numpy(zero_copy_only=False) == test
            targets, decisions = predictions.judged(table.filter(pa.array(here)))
            found = TASKS.find(self.spec.task).by_class(decisions, targets, len(classes))
            result[learned_upto] = found
        return result, classes

    def _classes(self) -> tuple[str, ...]:
        """Return the classes of the last period; raise if no decision was kept."""
        if not self.decisions:
            raise OnwardError("this run kept no predictions; run it without --no-predictions")
        return self.decisions[max(self.decisions)][1]

    def _value(self, score: Score | Point, metric: str | None) -> float:
        name = metric or TASKS.find(self.spec.task).headline
        if name not in score.scores:
            raise unknown("score", name, score.scores, "onward show DIR --json")
        value = score.scores[name]
        return np.nan if value is None else value


def load_record(folder: Path) -> RunRecord:
    """Read a run's own folder, the one with ``spec.json``, complete or not.

    All of it is checked against its manifest; decisions are read when they are asked for.
    """
    manifest = read_manifest(folder) or Manifest()
    kept = {}
    for name, expected in manifest.files.items():
        if name == "spec.json" or name.startswith("predictions/"):
            check_mark(folder, name, expected)
        if name.startswith("predictions/") and Path(name).stem.isdecimal():
            kept[int(Path(name).stem)] = folder / name
    spec, scores = read_spec(folder), read_scores(folder, manifest)
    periods = range(len(spec.periods))
    for score in scores:
        if not {score.learned_upto, score.tested_on} <= {None, *periods}:
            raise DamagedFolderError(
                f"scores.jsonl in {folder} is damaged: expected scores on {len(periods)} periods, "
                f"found one on period {score.tested_on} after period {score.learned_upto}; move "
                "that folder away and run again; nothing in it has been changed"
            )
    return RunRecord(
        spec=spec,
        scores=tuple(scores),
        cost=read_cost(folder, manifest),
        path=folder,
        decisions=predictions.Stored(kept),
        points=tuple(read_curve(folder, manifest)),
    )
