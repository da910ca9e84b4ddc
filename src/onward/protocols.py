"""The protocols, as literals."""

from collections.abc import Mapping

from onward.types import Folds, Holdout, Protocol, Released


def _by_name(*protocols: Protocol) -> Mapping[str, Protocol]:
    return {protocol.name: protocol for protocol in protocols}


IID = Protocol(
    name="iid",
    summary="learn 70 % of the groups of each period, test the other 30 % in every period",
    tests="all",
    split=Holdout(0.3),
)

STREAMING = Protocol(
    name="streaming",
    summary="learn now, test in the future: only periods that have not come yet are tested",
    tests="future",
    split=Folds(5),
)

ONLINE = Protocol(
    name="online",
    summary="one pass in order of time, ten samples at a time, no word of where a period ends",
    tests="all",
    split=Holdout(0.3),
    batch=10,
    limits={"passes": 1},
)

SEMI_SUPERVISED = Protocol(
    name="semi_supervised",
    summary="as streaming, but only a quarter of the groups show their labels",
    tests="future",
    split=Folds(5),
    labelled=0.25,
)

OFFLINE = Protocol(
    name="offline",
    summary="learn all periods at once, then test each: an upper bound, which no stream offers",
    tests="last",
    split=Holdout(0.3),
)

INCOMPLETE = Protocol(
    name="incomplete",
    summary="show the labels that a period introduces and no others; test all of the past",
    tests="past",
    split=Released(1),
    pooled=True,
)

COMPLETE = Protocol(
    name="complete",
    summary="as incomplete, but show all labels among the classes so far",
    tests="past",
    split=Released(1),
    pooled=True,
    complete=True,
)

JOINT = Protocol(
    name="joint",
    summary="learn all periods at once, with all labels: an upper bound, which no stream offers",
    tests="last",
    split=Released(1),
    pooled=True,
    complete=True,
)

# 5 % more than ResNet-50 has with its 1,000 classes.
_RESNET50_AND_A_BIT = int(1.05 * 25_557_032)

DRIVE = Protocol(
    name="online",
    summary="one pass in order of time, ten objects at a time, no word of where a day ends; by the "
    "rules of CLAD's challenge",
    tests="static",
    split=Released(1),
    batch=10,
    limits={
        "passes": 1,
        "new_in_batch": 10,
        "stored_samples": 1000,
        "parameters": _RESNET50_AND_A_BIT,
    },
)

AT_ONCE = Protocol(
    name="joint",
    summary="learn everything at once: an upper bound, which no stream offers",
    tests="last",
    split=Released(1),
)

DOMAINS = Protocol(
    name="domains",
    summary="learn one domain after the other, test all of them after each",
    tests="all",
    split=Released(1),
)

BUDGET = Protocol(
    name="budget",
    summary="learn one year after the other with the same compute for each, test all years",
    tests="all",
    split=Released(None),
    exempt=("oracle", "cumulative_more", "lwf"),
)

PROTOCOLS = _by_name(STREAMING, IID, ONLINE, SEMI_SUPERVISED, OFFLINE)
"""Where a sample has one label."""

MANY_LABELS = _by_name(INCOMPLETE, COMPLETE, JOINT)
"""Where it has many, which are introduced one after the other."""

DRIVING = _by_name(DRIVE, AT_ONCE)
"""Where objects come by on a drive through days and nights."""

DETECTION = _by_name(DOMAINS, AT_ONCE)
"""Where boxes are to be found in images of one domain after the other."""

BUDGETED = _by_name(BUDGET)
"""Where a model of images and texts is kept fresh."""
