"""What is revealed for training, and what is tested, when: what a protocol is, and all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from onward.budget import COMPUTE
from onward.errors import OnwardError
from onward.fit import FULL_MEMORY, ONE_LOOK, SECOND_LOOK
from onward.splits import Folds, Holdout, Released, Split
from onward.stored import LATER

Tests = Literal["all", "future", "past", "last", "static"]
TESTS: tuple[Tests, ...] = get_args(Tests)
"""The words for what is tested when."""


@dataclass(frozen=True)
class Protocol:
    """What is revealed for training, and what is tested, when. Pure data.

    Parameters
    ----------
    tests
        The periods tested after each one: ``all``, only those in its ``future``, or only those of
        the ``past``, itself included; ``last`` is all of them, once, after the last one, which then
        brings everything that there is to learn. ``static`` is none of them: all tests belong to
        no period.
    split
        How training and test samples are kept apart.
    batch
        ``None`` reveals a period at a time. A number b is online: views of at most b samples, in
        order of time, each once, with no word of where a period ends; ``day`` shows the samples
        of one calendar day at a time.
    labelled
        The share of the training groups whose labels are shown. The samples of the others come
        with each period as `Period.unlabelled`.
    pooled
        Whether the tests of all periods that are due are also scored as one, each sample once.
    complete
        Of samples with many labels: whether a learner sees all labels among the classes so far,
        or only those that a period introduces.
    curve
        Online: also test after so many samples, between two calls of learn, on the static tests.
    limits
        The budget, by the names of `onward.budget.LIMITS`.
    exempt
        Methods of the catalogue that are defined by computing more than others: the limits of
        compute are not theirs. What they spend is counted, and stands beside their scores.
    """

    name: str
    summary: str
    tests: Tests
    split: Split
    batch: int | Literal["day"] | None = None
    labelled: float = 1.0
    pooled: bool = field(default=False, metadata=LATER)
    complete: bool = field(default=False, metadata=LATER)
    curve: int | None = field(default=None, metadata=LATER)
    limits: Mapping[str, float] = field(default_factory=dict)
    exempt: tuple[str, ...] = field(default=(), metadata=LATER)

    def __post_init__(self) -> None:
        if not 0 < self.labelled <= 1:
            raise OnwardError(
                f"expected a labelled share above 0 and up to 1, found {self.labelled}"
            )
        if self.batch is not None and self.labelled < 1:
            raise OnwardError(
                "unlabelled samples come with a whole period; online there is no such moment. "
                "Choose a protocol that reveals a period at a time"
            )
        if self.batch not in (None, "day") and not (isinstance(self.batch, int) and self.batch > 0):
            raise OnwardError(
                f"expected to be shown 'day' or 1 or more samples at a time, found {self.batch!r}"
            )
        if self.curve is not None and (self.batch is None or self.curve < 1):
            raise OnwardError(
                "expected a curve of tests after every 1 or more samples, where samples are shown "
                f"a few at a time; found {self.curve} with batch {self.batch!r}"
            )

    @property
    def lacks(self) -> Mapping[str, str]:
        """What a method cannot have under it, and why: see `onward.fit`."""
        found = {}
        if not self.limits.keys().isdisjoint({"passes", "macs"}):
            found[SECOND_LOOK] = ONE_LOOK
        if "stored_samples" in self.limits:
            found[FULL_MEMORY] = f"{self.limits['stored_samples']:,} samples may be stored"
        return found

    def limits_of(self, method: str, asked: Mapping[str, float]) -> Mapping[str, float]:
        """Return the limits that a method of the catalogue has, with others in their place.

        Who is exempt from a limit of the protocol is so too from what was asked in its place.
        """
        free = self.limits.keys() & COMPUTE if method in self.exempt else frozenset()
        return {n: limit for n, limit in {**self.limits, **asked}.items() if n not in free}

    def tested(self, learned_upto: int, periods: int) -> range:
        """Return the periods to test once period `learned_upto` has been learned."""
        return tested_periods(self.tests, learned_upto, periods)


def tested_periods(tests: str, learned_upto: int, periods: int) -> range:
    """Return the periods that are tested after one, by the word that a protocol has for it."""
    if tests == "last" and learned_upto + 1 < periods:
        return range(0)
    return {
        "all": range(periods),
        "last": range(periods),
        "past": range(learned_upto + 1),
        "future": range(learned_upto + 1, periods),
        "static": range(0),
    }[tests]


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

SEMI_SUPERVISED = replace(
    STREAMING,
    name="semi_supervised",
    summary="as streaming, but only a quarter of the groups show their labels",
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

COMPLETE = replace(
    INCOMPLETE,
    name="complete",
    summary="as incomplete, but show all labels among the classes so far",
    complete=True,
)

JOINT = replace(
    COMPLETE,
    name="joint",
    summary="learn all periods at once, with all labels: an upper bound, which no stream offers",
    tests="last",
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
