"""In which period each class arrives: every superclass strictly before its subclasses."""

import numpy as np

from onward.data.iirc_hierarchy import Classes, Hierarchy, Periods
from onward.errors import OnwardError, unknown
from onward.seeds import Draws, draws

_TRIES = 1000


def require_order(periods: Periods, classes: Classes) -> None:
    """Raise unless every class comes at most once, and after its superclass."""
    if not periods:
        raise OnwardError("expected one period or more, found none")
    known = set(classes.classes)
    arrival: dict[str, int] = {}
    for index, names in enumerate(periods):
        if not names:
            raise OnwardError(f"expected classes in every period, found none in period {index}")
        for name in names:
            if name not in known:
                raise unknown(f"class of period {index}", name, known, "the hierarchy")
            if name in arrival:
                raise OnwardError(
                    f"expected every class in one period, found {name!r} in period "
                    f"{arrival[name]} and in period {index}"
                )
            arrival[name] = index
    for name, index in arrival.items():
        above = classes.parent.get(name)
        if above in arrival and arrival[above] >= index:
            raise OnwardError(
                f"expected every superclass in an earlier period than its subclasses, found "
                f"{name!r} in period {index} and its superclass {above!r} in period "
                f"{arrival[above]}"
            )


def draw_order(
    hierarchy: Hierarchy, seed: int, *, first: int | None = None, each: int | None = None
) -> Periods:
    """Draw the classes of every period.

    The first period has superclasses only. All others have the same number of classes, as far as
    the hierarchy allows it; a last class that would come alone joins the period before.

    By default two of three superclasses come `first`, as in IIRC-CIFAR, and half as many classes,
    two at least, in `each` later period.

    Examples
    --------
    >>> draw_order(Hierarchy({"bear": ("polar bear", "brown bear")}), seed=0)
    (('bear',), ('brown bear', 'polar bear'))
    """
    count = len(hierarchy.superclasses)
    first = max(1, round(2 * count / 3)) if first is None else first
    each = max(2, -(-first // 2)) if each is None else each
    if not 1 <= first <= count:
        raise OnwardError(f"expected 1 to {count} superclasses in the first period, found {first}")
    if each < 1:
        raise OnwardError(f"expected 1 class or more in every later period, found {each}")
    rng = draws(Draws.CLASSES, seed)
    best: Periods = ()
    for _ in range(_TRIES):
        found = _joined(_draw(hierarchy, rng, first, each), hierarchy, each)
        uneven = sum(len(names) < each for names in found[1:-1])
        if not uneven and (len(found[-1]) > 1 or each == 1 or len(found) == 1):
            return found
        best = best or found
    return best


def _draw(hierarchy: Hierarchy, rng: np.random.Generator, first: int, each: int) -> list[list[str]]:
    names = list(hierarchy.superclasses)
    begin = [names[number] for number in rng.permutation(len(names))[:first]]
    rest = [name for name in hierarchy.classes if name not in begin]
    waiting = [rest[number] for number in rng.permutation(len(rest))]
    for name in hierarchy.superclasses:
        # A superclass takes the earliest place that it or one of its subclasses has drawn.
        if name in waiting:
            family = (name, *hierarchy.superclasses[name])
            place = min(waiting.index(one) for one in family)
            here = waiting.index(name)
            waiting[place], waiting[here] = waiting[here], waiting[place]
    periods, seen = [begin], {None, *begin}
    while waiting:
        ready = [name for name in waiting if hierarchy.parent.get(name) in seen][:each]
        waiting = [name for name in waiting if name not in ready]
        periods.append(ready)
        seen.update(ready)
    return periods


def _joined(periods: list[list[str]], hierarchy: Hierarchy, each: int) -> Periods:
    """Let a single last class come with the period before, unless its superclass is there."""
    if len(periods) > 2 and each > 1 and len(periods[-1]) == 1:
        (last,) = periods[-1]
        if hierarchy.parent.get(last) not in periods[-2]:
            periods = [*periods[:-2], [*periods[-2], last]]
    return tuple(tuple(names) for names in periods)


def without_superclasses(periods: Periods, classes: Classes) -> Periods:
    """Return the periods without superclasses; one that has no other class is left out."""
    kept = (tuple(n for n in names if n not in classes.superclasses) for names in periods)
    return tuple(names for names in kept if names)
