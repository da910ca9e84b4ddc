"""What the short names mean, for people who have not read the papers."""

import math
from collections.abc import Sequence

from onward.metrics import METRICS as CATALOGUE
from onward.metrics.paired import Verdict
from onward.report.numbers import several
from onward.results.schema import RunSpec
from onward.tasks import shown_of

_METRICS = {
    "next_domain": ("next-domain", "the period right after"),
    "forward_transfer": ("forward transfer", "all later periods"),
    "in_domain": ("in-domain", "the period just learned"),
    "accuracy": ("accuracy", "all periods so far"),
    "backward_transfer": ("backward transfer", "all earlier periods"),
    "final": ("final", "all periods, once all are learned"),
    "amca": ("AMCA", "each class of the test alike, at every change of day and night"),
    "area_below_curve": ("area below curve", "the same, all along the way"),
    "pooled": ("pooled", "all samples so far as one test, after the last period"),
    "pooled_mean": ("pooled mean", "the same after each period, on average"),
}


_MOST_JOINED = 4
_UNITS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


def score_words(task: str) -> str:
    """Say what the headline score of a task kind counts.

    Examples
    --------
    >>> score_words("one_label")
    'right answers'
    """
    return shown_of(task).counts


def capital(text: str) -> str:
    """Return words as they begin a sentence.

    Examples
    --------
    >>> capital("Jaccard score"), capital("next-domain of TiC")
    ('Jaccard score', 'Next-domain of TiC')
    """
    return text[:1].upper() + text[1:]


NOT_METERED = "not metered"
"""What stands where a learner did not report a cost: a zero would be a claim."""


def amount(value: float) -> str:
    """Write a large number in words that fit into a line.

    Examples
    --------
    >>> amount(63434981376.0), amount(1000), amount(0.5)
    ('63.4 billion', '1,000', '0.5')
    """
    if math.isnan(value):
        return NOT_METERED
    size, word = unit(value)
    return f"{value / size:.3g} {word}" if word else f"{value:,.6g}"


def unit(value: float) -> tuple[float, str]:
    """Return what a large number is counted in, and its name; small ones are counted in ones.

    Examples
    --------
    >>> unit(2.5e9), unit(950)
    ((1000000000.0, 'billion'), (1.0, ''))
    """
    return next((found for found in _UNITS if value >= found[0]), (1.0, ""))


def limits(spec: RunSpec) -> str:
    """Say what a run may spend."""
    told = [f"{name} ≤ {amount(value)}" for name, value in spec.limits.items()]
    return ", ".join(told) or "no limits"


def lateness(spec: RunSpec) -> str:
    """Say how late labels came; nothing where they came with their samples."""
    late = spec.label_delay
    return f"labels {several(late, 'period')} late" if late else ""


def joined(names: Sequence[str]) -> str:
    """Write names one after the other; of many, the first few and how many there are.

    Examples
    --------
    >>> joined(["er", "nap", "si"])
    'er, nap and si'
    >>> joined(["a", "b", "c", "d", "e", "f"])
    'a, b, c, d and 2 others'
    """
    if len(names) > _MOST_JOINED + 1:
        shown = ", ".join(names[:_MOST_JOINED])
        return f"{shown} and {len(names) - _MOST_JOINED} others"
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def metric_words(name: str) -> tuple[str, str]:
    """Return how a metric is written, and what it averages: of the catalogue's, what it measures.

    Examples
    --------
    >>> metric_words("in_domain")
    ('in-domain', 'the period just learned')
    """
    return _METRICS[name] if name in _METRICS else (name, CATALOGUE[name].summary)


SAME_ROWS = (
    "All seeds share one split: they test the same rows and differ by the randomness of training "
    "alone. A method that happens to suit these rows is ahead with every seed: that is no evidence "
    "for other samples."
)


def same_rows_words(spec: RunSpec) -> str:
    """Say why seeds that share one split cannot tell, and what would change that."""
    grouped = " With --group-column the split changes with the seed."
    return SAME_ROWS + (grouped if spec.benchmark == "yours" else "")


def decision(verdict: Verdict) -> str:
    """Say in a few words whether the seeds decide.

    Examples
    --------
    >>> from onward.metrics.paired import compare
    >>> decision(compare([3, 3, 3, 3, 3], [1, 1, 1, 1, 2]))
    'cannot tell: 6 seeds needed'
    >>> decision(compare([3, 3, 3, 3, 3, 3], [1, 1, 1, 1, 2, 1]))
    'p = 0.031'
    """
    if verdict.same_rows:
        return "cannot tell: one split for all seeds"
    if verdict.answer != "cannot tell":
        return f"p = {verdict.p:.2g}"
    if verdict.needed is not None:
        return f"cannot tell: {verdict.needed} seeds needed"
    return f"cannot tell, p = {verdict.p:.2g}"


def votes(verdict: Verdict) -> str:
    """Say in how many seeds the first one is ahead, or behind where that is the rule.

    Examples
    --------
    >>> from onward.metrics.paired import compare
    >>> votes(compare([1, 1, 3], [2, 2, 2]))
    'behind in 2 of 3 seeds'
    >>> votes(compare([1, 2], [1, 2]))
    'no difference in 2 seeds'
    """
    if not verdict.wins and not verdict.losses:
        return f"no difference in {seeds(verdict.n)}"
    side, count = ("ahead", verdict.wins)
    if verdict.losses > verdict.wins:
        side, count = ("behind", verdict.losses)
    return f"{side} in {count} of {seeds(verdict.n)}"


def seeds(number: int, *, more: bool = False) -> str:
    """Count seeds, or those that would be added.

    Examples
    --------
    >>> seeds(1), seeds(3, more=True)
    ('1 seed', '3 more seeds')
    """
    return several(number, "more seed" if more else "seed")
