"""What was found, in sentences."""

from onward.drift.measure import Drift
from onward.drift.pairs import Pair
from onward.drift.slices import brief
from onward.drift.texts import LEAST_WORDS
from onward.errors import first_few
from onward.report.verdict import Finding

_FAR = 0.7


def findings(found: Drift) -> list[Finding]:
    """Return what a reader wants to know first."""
    told = [_when(found), _how_far(found)]
    for name, what in (("labels", "the mix of labels"), ("nouns", "what captions are about")):
        if any(name in pair.tags for pair in found.pairs):
            told.append(_mix(found, name, what))
    told.append(_come_and_go(found))
    told += _hurts(found)
    return told


def headline(found: Drift) -> str:
    """Return the verdict in one sentence."""
    steps = [pair for pair in found.pairs if pair.neighbours]
    moved = [pair for pair in steps if pair.drift]
    asked = [pair for pair in steps if pair.told is not None]
    if not asked:
        return "No step could be tested: periods have too few groups to hold some out."
    if not moved:
        whole = _ends(found)
        if whole is not None and whole.drift:
            return (
                f"No single step of {len(asked)} shows drift, but the last period is told from "
                f"the first, {_percent(whole)} right where chance is 50 %."
            )
        most = max(asked, key=lambda pair: pair.told.accuracy if pair.told else 0)
        if most.told is not None and most.told.accuracy > _FAR and "groups" in found.notes:
            return (
                f"Nothing is proven, since periods have few groups, but much may move: "
                f"{_step(found, most)} are told apart where chance is 50 %."
            )
        return f"No drift: none of {len(asked)} steps can be told apart better than by chance."
    most = max(moved, key=lambda pair: pair.told.accuracy if pair.told else 0)
    names = found.parts
    return (
        f"The data moves in {len(moved)} of {len(asked)} steps, most from "
        f"{brief(names[most.before].name)} to {brief(names[most.after].name)}: a classifier tells "
        f"these two apart, {_percent(most)} right where chance is 50 %."
    )


def _when(found: Drift) -> Finding:
    steps = [pair for pair in found.pairs if pair.neighbours]
    moved = [pair for pair in steps if pair.drift]
    ranked = sorted(moved, key=lambda pair: -(pair.told.accuracy if pair.told else 0))
    answer = first_few([_step(found, pair) for pair in ranked], "; ", 4) or "Nowhere"
    still = [_step(found, pair) for pair in steps if not pair.drift and pair.told is not None]
    untold = [pair.why_not for pair in steps if pair.told is None]
    grounds = [
        "A linear classifier, on groups that it has not seen; p after Holm's rule over all "
        f"{len(found.pairs)} pairs at {100 * found.held.level:g} %."
    ]
    if moved and still:
        grounds.append(f"Not told apart: {first_few(still, '; ', 4)}.")
    if untold:
        grounds.append(f"Not tested: {first_few(untold, '; ', 2)}.")
    return Finding("Where does it move?", answer, " ".join(grounds))


def _how_far(found: Drift) -> Finding:
    whole = _ends(found) or found.pairs[-1]
    first, last = (brief(found.parts[at].name) for at in (whole.before, whole.after))
    far, chance = whole.frechet.distance, whole.frechet.middle
    times = f"{far / chance:.1f} times what chance makes" if chance > 0 else "where chance makes 0"
    steps = [pair for pair in found.pairs if pair.neighbours]
    above = [pair for pair in steps if pair.frechet.above]
    return Finding(
        f"How far from {first} to {last}?",
        f"Fréchet distance {far:.3g}, {times}",
        f"Without drift, samples of these numbers are {chance:.3g} apart, and above "
        f"{whole.frechet.high:.3g} once in twenty; with samples without end it would be about "
        f"{whole.frechet.endless or 0:.3g}. Of {len(steps)} steps, {len(above)} are above chance.",
    )


def _mix(found: Drift, name: str, what: str) -> Finding:
    whole = _ends(found) or found.pairs[-1]
    measured = [pair for pair in found.pairs if pair.neighbours and name in pair.tags]
    above = [pair for pair in measured if pair.tags[name].above]
    most = max(measured, key=lambda pair: pair.tags[name].distance, default=None)
    answer = "Hardly: no step is above chance"
    if above and most is not None:
        answer = f"Yes, in {len(above)} of {len(measured)} steps, most {_step_names(found, most)}"
    grounds = ""
    if name in whole.tags:
        one = whole.tags[name]
        grounds = (
            f"From the first period to the last, total variation {one.distance:.3f}; by chance "
            f"{one.middle:.3f}, seldom above {one.high:.3f}. 0 is the same mix, 1 is nothing in "
            "common."
        )
    return Finding(f"Does {what} change?", answer, grounds)


def _come_and_go(found: Drift) -> Finding:
    names = [part.name for part in found.parts]
    come = {} if found.labels is None else found.labels.new()
    gone = {} if found.labels is None else found.labels.vanished()
    said = [
        f"{sum(map(len, some.values()))} classes {word}"
        for some, word in ((come, "come"), (gone, "go"))
        if some
    ]
    grounds = [f"{names[at]}: {first_few(some)}" for at, some in list(come.items())[-3:]]
    if found.words is not None:
        fresh = found.words.new(LEAST_WORDS)
        count = sum(map(len, fresh.values()))
        if count:
            said.append(f"{count} words come")
            last = max(fresh)
            grounds.append(f"Words of {names[last]}: {first_few(fresh[last], most=8)}")
    return Finding(
        "What is new, and what is gone?",
        ", ".join(said).capitalize() if said else "No class comes or goes",
        "; ".join(grounds) or "Every class of the first period is in the last.",
    )


def _hurts(found: Drift) -> list[Finding]:
    told = []
    for hurt in found.hurts:
        known = {part: one for part, one in hurt.correlations.items() if one.p == one.p}
        sure = {part: one for part, one in known.items() if one.p <= found.held.level}
        best = max(sure or known, key=lambda part: abs(known[part].value), default=None)
        if best is None:
            continue
        one = known[best]
        answer = (
            f"Classes whose {best} drifts lose {'more' if one.value > 0 else 'less'}: Spearman "
            f"{one.value:+.2f}"
            if best in sure
            else f"Cannot tell: the closest is {best}, Spearman {one.value:+.2f}"
        )
        told.append(
            Finding(
                f"What hurts {hurt.method}?",
                answer,
                f"Interval {one.low:+.2f} to {one.high:+.2f}, p = {one.p:.2g}, over {one.units} "
                f"classes and {one.points} points: few, so only strong links are seen.",
            )
        )
    return told


def _ends(found: Drift) -> Pair | None:
    last = len(found.parts) - 1
    return next((pair for pair in found.pairs if (pair.before, pair.after) == (0, last)), None)


def _step_names(found: Drift, pair: Pair) -> str:
    return f"from {brief(found.parts[pair.before].name)} to {brief(found.parts[pair.after].name)}"


def _step(found: Drift, pair: Pair) -> str:
    names = f"{brief(found.parts[pair.before].name)} → {brief(found.parts[pair.after].name)}"
    return f"{names} ({_percent(pair)})"


def _percent(pair: Pair) -> str:
    return "" if pair.told is None else f"{100 * pair.told.accuracy:.0f} %"
