"""What the runs say, in plain sentences, each with its uncertainty."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from onward.metrics.paired import compare
from onward.report.comparison import Comparison, compare_methods, decided_best
from onward.report.decay import staleness
from onward.report.provenance import StreamCard, years_by_distance
from onward.report.summary import TEST, Summary, headline
from onward.report.words import (
    capital,
    decision,
    joined,
    limits,
    metric_words,
    same_rows_words,
    score_words,
    seeds,
)

BASELINE = "finetune"
# Settings and static tests beyond the first have a sentence each, up to so many.
_MOST = 3
_QUESTIONS = {
    "next_domain": "What is right tomorrow?",
    "backward_transfer": "What remembers the past?",
    "in_domain": "What learns the present?",
    "pooled": "What knows everything so far?",
    "amca": "What knows every class, at every hour?",
    "final": "What is best in the end?",
}


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
    past = _first(settings, "all")
    main = _first(settings, "future") or past or settings[0]
    metric = headline(main)
    found = [
        _stale(past, card) if past else None,
        _leader(main, metric) if metric else None,
        _leader(past, "backward_transfer") if past and metric != "backward_transfer" else None,
        _cost(main),
        *_elsewhere(main),
        *_other_settings([group for group in settings if group not in (main, past)]),
        _sure(settings),
    ]
    return [finding for finding in found if finding is not None]


def _first(settings: Sequence[Sequence[Summary]], tests: str) -> Sequence[Summary] | None:
    """Return the setting with such tests that says most: with the baseline, with most methods."""
    those = [group for group in settings if group[0].spec.protocol["tests"] == tests]
    told = sorted(those, key=lambda group: (_named(group, BASELINE) is None, -len(group)))
    return told[0] if told else None


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
    same_rows = scratch.spec.same_rows
    verdict = compare(found.home.values, found.abroad.values, same_rows=same_rows)
    return Finding(
        "What goes stale?",
        f"{time} a model {found.loss.percent()} points.",
        f"Learned from one period alone (scratch, {scratch.protocol}), the models of {first} and "
        f"{last} reach {found.home.percent()} % {score_words(scratch.spec.task)} on their own "
        f"period, and {found.abroad.percent()} % on each other's; own beats other in "
        f"{verdict.wins} of {seeds(verdict.n)} ({decision(verdict)}). On the samples of {last}, "
        f"the model of {first} is {found.behind.percent()} points behind the model of {last}.",
    )


def _leader(
    summaries: Sequence[Summary], metric: str, question: str | None = None
) -> Finding | None:
    ranked = sorted(
        (item for item in summaries if item.metrics[metric].known and not item.unmetered),
        key=lambda summary: -summary.metrics[metric].mean,
    )
    if len(ranked) < 2:
        return None
    best, others = ranked[0], ranked[1:]
    name, what = metric_words(metric)
    found = {other.label: compare_methods(best, other, metric) for other in others}
    compared = {label: item for label, item in found.items() if item is not None}
    answer = _answer(ranked, metric, compared)
    if decided_best(summaries, metric) is best:
        answer = f"{best.label} is best: {best.metrics[metric].percent()} %."
    parts = [f"{capital(score_words(best.spec.task))}, tested on {what} ({name}, {best.protocol})."]
    parts += _tally(compared)
    roles = {others[-1].label: ", the lowest", others[0].label: ", the runner-up"}
    for label in dict.fromkeys([others[0].label, BASELINE, others[-1].label]):
        if label in compared:
            parts.append(f"Against {label}{roles.get(label, '')}: {compared[label].phrase()}.")
    parts += _more_seeds(compared.get(others[0].label))
    asked = question or _QUESTIONS.get(metric, f"Which is best on {name}?")
    return Finding(asked, answer, " ".join(parts))


def _answer(ranked: Sequence[Summary], metric: str, compared: dict[str, Comparison]) -> str:
    """Say whose mean is highest; means over different seeds are not taken for a comparison."""
    best, others = ranked[0], ranked[1:]
    reached = f"{best.metrics[metric].percent()} %"
    # Those whose means stand beside each other, as far as they have not run the same seeds.
    named = [other for other in dict.fromkeys([others[0], others[-1]]) if other.seeds != best.seeds]
    ran = [f"{other.label} {_seeds_beside(best, other)}" for other in named]
    over = f" ({'; '.join([seeds(len(best.seeds)), *ran])})" if ran else ""
    ahead = next((item for item in compared.values() if item.gain.mean < 0), None)
    if ahead is not None:
        return (
            f"{ahead.baseline} is ahead of {best.label} over the {seeds(len(ahead.seeds))} that "
            f"both have run, though {best.label} has the highest mean over all of its own, "
            f"{reached}{over}."
        )
    if all(other.metrics[metric] == best.metrics[metric] for other in others):
        return f"There is no difference: {joined([item.label for item in ranked])} reach {reached}."
    return (
        f"{best.label} has the highest mean, {reached}{over}; "
        f"{others[-1].label} the lowest, {others[-1].metrics[metric].percent()} %."
    )


def _seeds_beside(best: Summary, other: Summary) -> str:
    return f"{len(other.seeds)}{'' if set(other.seeds) & set(best.seeds) else ' others'}"


def _tally(compared: dict[str, Comparison]) -> Iterator[str]:
    """Say whom the paired test finds it better or worse than, and of whom it cannot tell."""
    by_answer: dict[str, list[str]] = {}
    for label, item in compared.items():
        by_answer.setdefault(item.verdict.answer, []).append(label)
    if len(compared) < 2:
        return
    if "better" in by_answer:
        yield f"Better than {joined(by_answer['better'])}."
    if "worse" in by_answer:
        yield f"Worse than {joined(by_answer['worse'])} over the seeds that both have run."
    if "cannot tell" in by_answer:
        yield f"The seeds cannot tell it from {joined(by_answer['cannot tell'])}."


def _more_seeds(runner_up: Comparison | None) -> Iterator[str]:
    """Say how many more seeds would probably part the first two."""
    wanted = runner_up.more_seeds if runner_up is not None else None
    if runner_up is None or wanted is None:
        return
    if wanted > 1000:
        yield f"{runner_up.method} and {runner_up.baseline} are equally good for all that is known."
    elif len(runner_up.seeds) < 2:
        yield f"At least {seeds(wanted, more=True)} could tell them apart."
    else:
        yield (
            f"If the difference to {runner_up.baseline} stays as it is, about "
            f"{seeds(wanted, more=True)} would decide."
        )


def _cost(summaries: Sequence[Summary]) -> Finding | None:
    base = _named(summaries, BASELINE)
    others = sorted(
        (summary for summary in summaries if summary is not base),
        key=lambda summary: -summary.cost["cpu_seconds"],
    )
    if base is None or not others or not base.cost["cpu_seconds"]:
        return None
    answer = f"{base.label} takes {base.cost['cpu_seconds']:.2f} CPU seconds{_keeps(base)}."
    # Of many, the dearest, the best and the cheapest say enough.
    named = others if len(others) <= 6 else [*others[:2], summaries[0], others[-1]]
    times = [
        f"{other.label} takes {other.cost['cpu_seconds'] / base.cost['cpu_seconds']:.1f} times "
        f"that{_keeps(other)}"
        for other in dict.fromkeys(named)
        if other is not base
    ]
    return Finding("What does it cost?", answer, "; ".join(times) + ".")


def _keeps(summary: Summary) -> str:
    stored = summary.cost["stored_samples"]
    return f" and keeps {stored:,.0f} samples" if stored else " and keeps no sample"


def _elsewhere(summaries: Sequence[Summary]) -> Iterator[Finding]:
    # The one test of an online stream is what its headline is about.
    tests = sorted({name for summary in summaries for name in summary.static} - {TEST})
    for test in tests[:_MOST]:
        scores = {
            summary.label: summary.static[test]
            for summary in summaries
            if test in summary.static and summary.static[test].known and not summary.unmetered
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


def _other_settings(settings: Sequence[Sequence[Summary]]) -> Iterator[Finding | None]:
    for group in settings[:_MOST]:
        metric = headline(group)
        if metric is not None:
            spec = group[0].spec
            words = f"{group[0].protocol}, {spec.recipe_name} recipe"
            if spec.limits or spec.protocol.get("limits"):  # whom a protocol exempts, has none
                words += f", {limits(spec)}"
            yield _leader(group, metric, f"And under {words}?")


def _sure(settings: Sequence[Sequence[Summary]]) -> Finding:
    question = "How sure is this?"
    changing = [group for group in settings if not group[0].spec.same_rows]
    why = same_rows_words(settings[0][0].spec)
    if not changing:
        return Finding(question, "Seeds cannot tell here: all of them share one split.", why)
    fixed = len(changing) < len(settings)
    counts = sorted({len(summary.seeds) for group in changing for summary in group})
    fewest = counts[0]
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
        "gives p ≤ 0.05." + (f" Where the split is always the same: {why}" if fixed else "")
    )
    needed = compare([0.0] * fewest, [0.0] * fewest).needed
    if needed is None:
        return Finding(
            question, f"{number} seeds can decide; where they do not, the page says so.", grounds
        )
    few = [count for count in counts if count < needed]
    most = few[-1]
    number = seeds(fewest) if len(few) == 1 else f"{fewest} to {seeds(most)}"
    answer = f"{number} cannot decide, {needed} could."
    if len(few) < len(counts):
        answer = f"Comparisons over {number} cannot decide; those over {needed} or more can."
    return Finding(
        question,
        answer,
        f"{grounds} {seeds(most)} that all agree give p = {2.0 ** (1 - most):.3g} at best, however "
        "large the difference: read “ahead in all seeds” as a strong hint, not as proof.",
    )
