"""Two methods side by side, paired by seed, claiming no more than the seeds can show."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onward.metrics.paired import Verdict, compare, seeds_to_decide
from onward.report.numbers import percent, points
from onward.report.summary import Measure, Summary
from onward.report.words import decision, votes


@dataclass(frozen=True)
class Comparison:
    """One method against another on one metric, over the seeds that both have run.

    ``gain`` is the difference per seed, in the unit of the scores.
    """

    method: str
    baseline: str
    metric: str
    seeds: tuple[int, ...]
    gain: Measure
    verdict: Verdict

    def points(self) -> str:
        """Return the mean difference in percentage points, with its deviation over seeds."""
        return signed_points(self.gain)

    def phrase(self) -> str:
        """Return size, agreement and decision in half a sentence."""
        if not any(self.gain.values):
            return votes(self.verdict)
        return f"{self.points()} points, {votes(self.verdict)} ({decision(self.verdict)})"

    @property
    def more_seeds(self) -> int | None:
        """How many more seeds would probably decide; None if they have, or nobody knows."""
        undecided = self.verdict.answer == "cannot tell" and not self.verdict.same_rows
        if not undecided or not any(self.gain.values):
            return None
        wanted = seeds_to_decide(self.gain.values) or self.verdict.needed
        return None if wanted is None else max(wanted - len(self.seeds), 1)

    def sentence(self) -> str:
        """Return the whole comparison in one sentence."""
        return f"{self.method} against {self.baseline} on {self.metric}: {self.phrase()}."


def signed_points(gain: Measure) -> str:
    """Return a difference of scores in percentage points, with its deviation over seeds."""
    mean = points(gain.mean)
    return mean if np.isnan(gain.deviation) else f"{mean} ± {percent(gain.deviation)}"


def compare_methods(a: Summary, b: Summary, metric: str) -> Comparison | None:
    """Compare method a with method b on a metric of `Summary.metrics`.

    Returns
    -------
        None if no seed has been run with both, the protocol has no number for the metric, or one
        of them is not metered where compute is limited: it may have spent any amount.
    """
    if a.unmetered or b.unmetered:
        return None
    of_a = dict(zip(a.seeds, a.metrics[metric].values, strict=True))
    of_b = dict(zip(b.seeds, b.metrics[metric].values, strict=True))
    seeds = tuple(seed for seed in a.seeds if seed in of_b)
    values_a, values_b = [of_a[seed] for seed in seeds], [of_b[seed] for seed in seeds]
    if not seeds or np.isnan([*values_a, *values_b]).any():
        return None
    gain = Measure(tuple(x - y for x, y in zip(values_a, values_b, strict=True)))
    verdict = compare(values_a, values_b, same_rows=a.spec.same_rows or b.spec.same_rows)
    return Comparison(a.label, b.label, metric, seeds, gain, verdict)


def against(
    summaries: Sequence[Summary], baseline: str, metric: str = "next_domain"
) -> dict[str, Comparison]:
    """Compare every method of one setting with the baseline.

    Parameters
    ----------
    summaries
        One setting's, as `onward.report.summary.by_setting` returns them.
    baseline
        The label of the method that the others are measured against.
    metric
        A name of `onward.report.summary.METRICS`.

    Returns
    -------
        By label; empty if the baseline is not among the methods.
    """
    base = next((summary for summary in summaries if summary.label == baseline), None)
    if base is None:
        return {}
    found = {
        summary.label: compare_methods(summary, base, metric)
        for summary in summaries
        if summary is not base
    }
    return {label: comparison for label, comparison in found.items() if comparison is not None}


def decided_best(summaries: Sequence[Summary], metric: str) -> Summary | None:
    """Return the method that is better than every other one by the paired test, if there is one.

    The highest mean alone is no such proof: with few seeds there is often none.
    """
    measured = [item for item in summaries if item.metrics[metric].known and not item.unmetered]
    if len(measured) < 2:
        return None
    best = max(measured, key=lambda summary: summary.metrics[metric].mean)
    rivals = [compare_methods(best, other, metric) for other in measured if other is not best]
    if all(rival is not None and rival.verdict.answer == "better" for rival in rivals):
        return best
    return None
