"""What the runs say, in plain sentences, each with its uncertainty."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from onward.metrics.paired import compare
from onward.report.comparison import compare_methods, decided_best
from onward.report.decay import staleness
from onward.report.provenance import StreamCard, years_by_distance
from onward.report.summary import Summary
from onward.report.words import decision, metric_words, seeds

BASELINE = "finetune"


@dataclass(frozen=True)
class Finding:
    """One thing the runs say: the question, the answer, and what it rests on."""

    question: str
    answer: str
    grounds: str


def findings(settings: Sequence[Sequence[Summary]], card: StreamCard | None) -> list[Finding]:
    """Say what goes stale, what keeps it fresh, at what cost, and how sure that is.

    A sentence whose runs are not there is left out.

    Parameters
    ----------
    settings
        The summaries of one benchmark, as `onward.report.summary.by_setting` returns them.
    card
        The stream's card, for dates; None leaves the years out.
    """
    past = next((list(group) for group in settings if _tests(group) == "all"), [])
    future = next((list(group) for group in settings if _tests(group) == "future"), past)
    found = [
        _stale(past, card),
        _leader("What is right tomorrow?", future, "next_domain"),
        _leader("What remembers the past?", past, "backward_transfer"),
        _cost(future),
        *_elsewhere(future),
        _sure(settings),
    ]
    return [finding for finding in found if finding is not None]


def _tests(group: Sequence[Summary]) -> str:
    return str(group[0].spec.protocol["tests"])


def _named(summaries: Sequence[Summary], label: str) -> Summary | None:
    return next((summary for summary in summaries if summary.label == label), None)


def _stale(past: Sequence[Summary], card: StreamCard | None) -> Finding | None:
    scratch = _named(past, "scratch")
    found = staleness(scratch) if scratch is not None else None
    if scratch is None or found is None:
        return None
    first, last = scratch.spec.periods[0], scratch.spec.periods[-1]
    apart = len(scratch.spec.periods) - 1
    time = "1 period costs" if apart == 1 else f"{apart} periods cost"
    if card is not None and len(card.periods) == apart + 1:
        years = years_by_distance(card.periods)
        time = f"{years[apart]:.1f} years cost" if years else time
    verdict = compare(found.home.values, found.abroad.values)
    return Finding(
        "What goes stale?",
        f"{time} a model {found.loss.percent()} points.",
        f"Learned from one period alone (scratch, {scratch.protocol}), the models of {first} and "
        f"{last} are right on {found.home.percent()} % of the samples of their own period, and on "
        f"{found.abroad.percent()} % of each other's; own beats other in {verdict.wins} of "
        f"{seeds(verdict.n)} ({decision(verdict)}). On the samples of {last}, the model of "
        f"{first} is {found.behind.percent()} points behind the model of {last}.",
    )


def _leader(question: str, summaries: Sequence[Summary], metric: str) -> Finding | None:
    ranked = sorted(
        (summary for summary in summaries if summary.metrics[metric].known),
        key=lambda summary: -summary.metrics[metric].mean,
    )
    if len(ranked) < 2:
        return None
    best, others = ranked[0], ranked[1:]
    name, periods = metric_words(metric)
    answer = (
        f"{best.label} has the highest mean, {best.metrics[metric].percent()} %; "
        f"{others[-1].label} the lowest, {others[-1].metrics[metric].percent()} %."
    )
    if decided_best(summaries, metric) is best:
        answer = f"{best.label} is best: {best.metrics[metric].percent()} %."
    parts = [f"Tested on {periods} ({name}, {best.protocol})."]
    base = _named(others, BASELINE)
    roles = {others[-1].label: ", the lowest", others[0].label: ", the runner-up"}
    rivals = [others[0], *([base] if base else []), others[-1]]
    for rival in {rival.label: rival for rival in rivals}.values():
        comparison = compare_methods(best, rival, metric)
        if comparison is not None:
            role = roles.get(rival.label, "")
            parts.append(f"Against {rival.label}{role}: {comparison.phrase()}.")
    return Finding(question, answer, " ".join(parts))


def _cost(summaries: Sequence[Summary]) -> Finding | None:
    base = _named(summaries, BASELINE)
    others = sorted(
        (summary for summary in summaries if summary is not base),
        key=lambda summary: -summary.cost["cpu_seconds"],
    )
    if base is None or not others or not base.cost["cpu_seconds"]:
        return None
    answer = f"{base.label} takes {base.cost['cpu_seconds']:.2f} CPU seconds{_keeps(base)}."
    times = [
        f"{other.label} takes {other.cost['cpu_seconds'] / base.cost['cpu_seconds']:.1f} times "
        f"that{_keeps(other)}"
        for other in others
    ]
    return Finding("What does it cost?", answer, "; ".join(times) + ".")


def _keeps(summary: Summary) -> str:
    stored = summary.cost["stored_samples"]
    return f" and keeps {stored:,.0f} samples" if stored else " and keeps no sample"


def _elsewhere(summaries: Sequence[Summary]) -> Iterator[Finding]:
    for test in sorted({name for summary in summaries for name in summary.static}):
        scores = {
            summary.label: summary.static[test]
            for summary in summaries
            if test in summary.static and summary.static[test].known
        }
        if len(scores) > 1:
            ranked = sorted(scores, key=lambda label: -scores[label].mean)
            yield Finding(
                f"And on {test}?",
                f"{ranked[0]} has the highest mean, {scores[ranked[0]].percent()} %; "
                f"{ranked[-1]} the lowest, {scores[ranked[-1]].percent()} %.",
                f"{test} is a test that belongs to no period; these are the models that have "
                f"learned the whole stream ({summaries[0].protocol}).",
            )


def _sure(settings: Sequence[Sequence[Summary]]) -> Finding:
    counts = sorted({len(summary.seeds) for group in settings for summary in group})
    fewest, question = counts[0], "How sure is this?"
    if counts == [1]:
        return Finding(
            question,
            "One seed cannot tell.",
            "There is no deviation, and no difference can be told from chance. Run more seeds.",
        )
    number = str(fewest) if len(counts) == 1 else f"{fewest} to {counts[-1]}"
    grounds = (
        f"± is one standard deviation over {number} seeds. Methods share the split of a seed, so "
        "they are compared seed by seed; a difference is decided if the exact sign-flip test "
        "gives p ≤ 0.05."
    )
    needed = compare([0.0] * fewest, [0.0] * fewest).needed
    if needed is None:
        return Finding(
            question, f"{number} seeds can decide; where they do not, the page says so.", grounds
        )
    best = f"p = {2.0 ** (1 - fewest):.3g}"
    return Finding(
        question,
        f"{fewest} seeds cannot decide, {needed} could.",
        f"{grounds} {fewest} seeds that all agree give {best} at best, however large the "
        "difference: read “ahead in all seeds” as a strong hint, not as proof.",
    )
