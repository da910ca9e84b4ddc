"""Checks of what a method keeps."""

from collections.abc import Iterator

from onward.budget import Budget
from onward.checks.method_subject import MethodSubject, let_learn
from onward.checks.report import expected
from onward.checks.trace import trace
from onward.errors import BudgetSpentError, OnwardError
from onward.learners import Chosen, choose

# Awkward on purpose: single samples, views smaller and larger than the memory, odd remainders.
_SIZES = (1, 1, 2, 1, 7, 3, 20, 1, 13, 5)
_CAPACITIES = (1, 2, 5, 11)


def keeps_only_what_it_holds(subject: MethodSubject) -> str:
    """No copies are kept of samples that the budget does not hold.

    Copies are recognised if they are kept as they were shown, in arrays or tensors. A copy that
    was transformed cannot be told from other numbers.
    """
    noted = subject.observed.log.problems["keeps_only_what_it_holds"]
    if noted:
        raise expected("no samples but those held", noted[0], "Keep them with budget.hold(rows)")
    cost = subject.clean.cost
    return f"holds up to {cost.stored_samples if cost else 0} samples"


def memory_stays_in_bounds(subject: MethodSubject) -> str:
    """Whatever views come, the method holds no more than its ``memory`` option and the budget."""
    cost = subject.clean.cost
    if _with_memory(subject, _CAPACITIES[0]) is not None:
        for capacity in _CAPACITIES:
            chosen = _with_memory(subject, capacity)
            for view, most in _drive(subject, chosen) if chosen else ():
                if most > capacity:
                    raise expected(
                        f"at most {capacity} samples with memory={capacity}",
                        f"{most} after view number {view} of sizes {_SIZES}",
                        "Count what is kept after every admission, not per class",
                    )
        return f"tried with memory = {', '.join(map(str, _CAPACITIES))}"
    if cost is None or not cost.stored_samples:
        return "it holds no samples"
    limit = cost.stored_samples - 1
    try:
        limits: dict[str, float] = {"stored_samples": limit}
        trace(subject.benchmark, subject.chosen, subject.seed, limits=limits)
    except BudgetSpentError:
        return f"it holds {limit + 1} samples, and is refused with a budget of {limit}"
    return f"it keeps to a budget of {limit} samples"


def _with_memory(subject: MethodSubject, capacity: int) -> Chosen | None:
    """Return the method with this option, or None if it takes no such option."""
    try:
        chosen = choose(subject.method, {**subject.options, "memory": capacity})
        chosen.build(subject.setting)
    except OnwardError:
        return None
    return chosen


def _drive(subject: MethodSubject, chosen: Chosen) -> Iterator[tuple[int, int]]:
    """Show views of awkward sizes; yield the view's number and the most that was ever held."""
    stream = subject.benchmark.stream(subject.seed)
    learner = chosen.build(subject.setting)
    budget = Budget(subject.limits)
    for period in stream:
        start = 0
        for number, size in enumerate(_SIZES):
            shown = period.train[start : start + size]
            start += size
            if not len(shown):
                break
            let_learn(learner, stream.table, shown, period.validation, period.classes, budget)
            yield number, budget.most_stored
