"""What a paper concludes from a table, as pairs of cells, and whether our runs agree.

A claim says that in each of its pairs one cell is above the other. Each pair is tested over the
seeds that both cells have, with the exact sign-flip test of `onward.metrics.paired`.

*Holds*: every pair is decided in favour. As all must be, no correction is needed: if any pair is
not so in truth, the claim passes with a probability of at most the level.
*Does not hold*: some pair is decided against, at the level divided by the number of pairs, since
with many pairs one of them would be by chance.
*Cannot tell*: anything else, also if some pair could not be run.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from onward.metrics.interval import sign_flip_interval
from onward.metrics.paired import Verdict, compare
from onward.reproduce.published import Value

LEVEL = 0.05
Answer = Literal["holds", "does not hold", "cannot tell"]


@dataclass(frozen=True)
class Cell:
    """A place in a table, by the names of its row and its column."""

    row: str
    column: str

    def __str__(self) -> str:
        return f"{self.row}, {self.column}"


@dataclass(frozen=True)
class Pair:
    """One cell that is said to be above another."""

    above: Cell
    below: Cell


def above(columns: str | Iterable[str], *rows: tuple[str, str]) -> tuple[Pair, ...]:
    """Return pairs of rows, the first said to be above the second in a column, or in each of some.

    Examples
    --------
    >>> above("mean", ("er", "finetune"))
    (Pair(above=Cell(row='er', column='mean'), below=Cell(row='finetune', column='mean')),)
    """
    return tuple(
        Pair(Cell(above, column), Cell(below, column))
        for column in ([columns] if isinstance(columns, str) else columns)
        for above, below in rows
    )


@dataclass(frozen=True)
class Claim:
    """Something that a paper concludes.

    Parameters
    ----------
    name
        A few words.
    text
        The claim, in a sentence of ours.
    where
        Where the paper says it.
    pairs
        What would have to be so in the table.
    note
        What a reader should know before believing or doubting the answer.
    seeds
        How many seeds the pairs are run with. The test can refute one of k pairs at 5 % only with
        n seeds such that 2^(1 - n) ≤ 0.05 / k.
    """

    name: str
    text: str
    where: str
    pairs: tuple[Pair, ...]
    note: str = ""
    seeds: int = 8

    @property
    def cells(self) -> list[Cell]:
        """Every cell that it names."""
        return [cell for pair in self.pairs for cell in (pair.above, pair.below)]


@dataclass(frozen=True)
class Tested:
    """A pair and what the seeds say of it; the interval is of above minus below."""

    pair: Pair
    repetitions: tuple[int, ...]
    interval: tuple[float, float]
    verdict: Verdict


@dataclass(frozen=True)
class Published:
    """Whether the published numbers satisfy a claim: in how many pairs, of how many readable."""

    satisfied: int
    equal: int
    readable: int
    pairs: int

    def sentence(self) -> str:
        """Return it in words.

        Examples
        --------
        >>> Published(9, 0, 9, 9).sentence()
        'the published numbers satisfy it in 9 of 9 pairs'
        """
        if not self.readable:
            return "the paper shows it in figures, without numbers"
        text = f"the published numbers satisfy it in {self.satisfied} of {self.readable} pairs"
        text += f", {self.equal} equal" if self.equal else ""
        lost = self.pairs - self.readable
        return f"{text}; {lost} cannot be read" if lost else text


@dataclass(frozen=True)
class Judgement:
    """The answer to one claim, and what it rests on."""

    claim: Claim
    answer: Answer
    tested: tuple[Tested, ...]
    published: Published

    @property
    def weakest(self) -> Tested | None:
        """The pair with the smallest gain: what the answer hangs on."""
        return min(self.tested, key=lambda pair: pair.verdict.difference, default=None)

    def counts(self) -> dict[str, int]:
        """Return how many pairs are decided for it, against it, undecided and not run."""
        answers = [pair.verdict.answer for pair in self.tested]
        return {
            "for": answers.count("better"),
            "against": answers.count("worse"),
            "undecided": answers.count("cannot tell"),
            "not run": len(self.claim.pairs) - len(self.tested),
        }


def judge(
    claim: Claim,
    scores: Mapping[Cell, Mapping[int, float]],
    published: Callable[[Cell], Value],
    *,
    same_rows: Set[str] = frozenset(),
) -> Judgement:
    """Answer a claim, by our scores of cells and repetitions; those not run are not there.

    `same_rows` names the table's rows whose runs share one split, whatever their seed.
    """
    found = [_test(pair, scores, same_rows) for pair in claim.pairs]
    tested = tuple(pair for pair in found if pair is not None)
    return Judgement(claim, _answer(claim, tested), tested, _published(claim.pairs, published))


def _test(
    pair: Pair, scores: Mapping[Cell, Mapping[int, float]], same_rows: Set[str]
) -> Tested | None:
    above, below = scores.get(pair.above, {}), scores.get(pair.below, {})
    both = tuple(sorted(set(above) & set(below)))
    if not both:
        return None
    verdict = compare(
        [above[n] for n in both],
        [below[n] for n in both],
        level=LEVEL,
        same_rows=not same_rows.isdisjoint((pair.above.row, pair.below.row)),
    )
    gains = tuple(above[number] - below[number] for number in both)
    interval = -math.inf, math.inf
    if not verdict.same_rows:
        interval = sign_flip_interval(gains, level=LEVEL)
    return Tested(pair, both, interval, verdict)


def _answer(claim: Claim, tested: Sequence[Tested]) -> Answer:
    strict = LEVEL / len(claim.pairs)
    if any(pair.verdict.answer == "worse" and pair.verdict.p <= strict for pair in tested):
        return "does not hold"
    decided = all(pair.verdict.answer == "better" for pair in tested)
    return "holds" if decided and len(tested) == len(claim.pairs) else "cannot tell"


def _published(pairs: Sequence[Pair], published: Callable[[Cell], Value]) -> Published:
    values = [(published(pair.above).mean, published(pair.below).mean) for pair in pairs]
    known = [(above, below) for above, below in values if above is not None and below is not None]
    return Published(
        satisfied=sum(above > below for above, below in known),
        equal=sum(above == below for above, below in known),
        readable=len(known),
        pairs=len(pairs),
    )
