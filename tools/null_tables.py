"""How often two learners that are equally good are told apart on tables in which nothing changes.

A null table has labels that depend on the features and dates that were shuffled, so that no period
differs from another. The two learners are exchangeable: each computes the nearest class mean in a
random projection of its own, drawn once, and adds a little noise from the seed. Whatever is said to
be "best" or "worse" is a false claim.

    python tools/null_tables.py --tables 8
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np

import onward
from onward.report.comparison import compare_methods, decided_best
from onward.report.summary import headline, summarise
from onward.types import Array, Budget, Setting, View

FEATURES, CLASSES = 12, 3


def write_null_table(path: Path, seed: int, *, rows: int = 400, groups: int | None = None) -> Path:
    """Write a CSV with `time`, `label`, features and, if asked for, a column `group`."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, rows)
    means = rng.normal(0, 0.5, (CLASSES, FEATURES))
    features = means[labels] + rng.normal(0, 1, (rows, FEATURES))
    days = rng.permutation(np.arange(rows) * 4 * 365 // rows)
    columns = ["time", "label", *(f"x{number}" for number in range(FEATURES))]
    who = None if groups is None else rng.integers(0, groups, rows)
    lines = [",".join([*columns, *(["group"] if groups else [])])]
    for row in range(rows):
        day = date(2018, 1, 1) + timedelta(days=int(days[row]))
        cells = [day.isoformat(), f"class {labels[row]}", *(f"{x:.5f}" for x in features[row])]
        lines.append(",".join([*cells, *([] if who is None else [f"group {who[row]}"])]))
    path.write_text("\n".join(lines) + "\n")
    return path


class ProjectedMean:
    """Nearest class mean in a random projection.

    Parameters
    ----------
    setting
        Has the seed of the run, which draws a little noise.
    projection
        Draws the projection, the same with every seed of a run.
    """

    def __init__(self, setting: Setting, projection: int) -> None:
        self._projection = np.random.default_rng(projection).normal(0, 1, (FEATURES, FEATURES // 2))
        self._noise = np.random.default_rng(setting.seed)
        self._sums: Array = np.zeros((0, FEATURES // 2))
        self._counts: Array = np.zeros(0)

    def learn(self, view: View, budget: Budget) -> None:
        """Add the samples to the means of their classes."""
        more = len(view.classes) - len(self._counts)
        self._sums = np.pad(self._sums, ((0, more), (0, 0)))
        self._counts = np.pad(self._counts, (0, more))
        np.add.at(self._sums, view.labels, view.inputs() @ self._projection)
        np.add.at(self._counts, view.labels, 1)
        self._means = self._sums / np.maximum(self._counts, 1)[:, None]
        self._means += self._noise.normal(0, 0.02, self._means.shape)

    def predict(self, view: View) -> Array:
        """Return how near each class mean is."""
        found = view.inputs() @ self._projection
        return np.asarray(found @ self._means.T - (self._means**2).sum(1) / 2)


def claims_on(table: Path, number: int, seeds: Sequence[int], *, grouped: bool) -> dict[str, bool]:
    """Run both learners on a table; return what is said about them."""
    asked = {"group_column": "group"} if grouped else {}
    benchmark = onward.load("yours", str(table), "streaming", periods="yearly", **asked)
    records = [
        onward.run(benchmark, ProjectedMean, seed, options={"projection": 2 * number + which})
        for which in (0, 1)
        for seed in seeds
    ]
    first, second = summarise(records)
    metric = headline([first, second])
    if metric is None:
        raise SystemExit("expected a metric to compare the learners by, found none")
    compared = compare_methods(first, second, metric)
    answer = "cannot tell" if compared is None else compared.verdict.answer
    return {
        "best": decided_best([first, second], metric) is not None,
        "better or worse": answer != "cannot tell",
        "ahead with every seed": compared is not None
        and compared.verdict.losses in (0, len(seeds)),
    }


def main() -> None:
    """Print how many tables have which claim, with and without a group column."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tables", type=int, default=8, help="how many tables")
    parser.add_argument(
        "--seeds", type=int, default=6, help="how many seeds each learner is run with"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    found: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, groups in (("without groups", None), ("with groups", 80)):
            counts = found.setdefault(name, {})
            for number in range(asked.tables):
                table = write_null_table(Path(folder) / f"{number}.csv", number, groups=groups)
                said = claims_on(table, number, range(asked.seeds), grouped=groups is not None)
                for claim, made in said.items():
                    counts[claim] = counts.get(claim, 0) + made
    if asked.json:
        print(json.dumps({"tables": asked.tables, "seeds": asked.seeds, "claims": found}))
        return
    for name, counts in found.items():
        said = ", ".join(f"{claim} on {count}" for claim, count in counts.items())
        print(f"{asked.tables} null tables, {asked.seeds} seeds, {name}: {said}")


if __name__ == "__main__":
    main()
