"""How many accepted labels are wrong, told from the votes alone, with an interval.

An image that was retrieved for a concept either shows it and nothing else, or it does not; nobody
knows. Each vote says yes or no. How often somebody says yes depends on the truth, on who it is, on
the concept, and on the image, since some are hard for everybody:

    logit P(yes | truth t) = m[t] + who[t, annotator] + what[t, concept] + spread[t] · hardness

with a hardness of its own for each image, normally distributed. How often a concept's candidates
are true is another unknown. All of these are estimated together (the largest posterior, found by
the method of Berndt, Hall, Hall and Hausman), their uncertainty is that of Student's t
with the information of all images' scores, and the interval is of the errors among just those
images that were accepted: what is unknown about the rates, and chance on top of it.

What is assumed: two people who look at an image err for reasons of their own, or because the image
is hard, and on every kind of image they are more often right than wrong. If they copy from each
other, or share a misconception of a concept, no estimate from votes alone can know: let somebody
whom you trust look at a random part of the accepted images, and hand that in as known.

Dawid and Skene, Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm, 1979,
is this without hardness and concepts; Whitehill et al., Whose Vote Should Count More, 2009, has
hardness.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
_NODES = 7
_DRAWS, _FREEDOM = 200, 8
# More annotators than this are put together with those who agree with the majority as often.
_PEOPLE = 40
# Images from which the rates are told; more would not make them better known.
_IMAGES = 12_000
_NEVER = -1e9
_STEPS, _HALVINGS, _SETTLED = 200, 12, 1e-3
# What is thought likely before a vote is seen: means and standard deviations.
_PRIORS = {
    "share": (1.0, 1.5),
    "rate": (2.0, 1.0),
    "who": (0.0, 1.0),
    "what": (0.0, 0.5),
    "spread": (-0.7, 0.8),
}

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Questions:
    """What was asked and answered: is an image of a concept, and of nothing else.

    Parameters
    ----------
    yes
        (image, vote): 1 for yes, 0 for no, -1 where there is no vote.
    who
        (image, vote): the number of the annotator.
    concept
        (image): the number of the concept.
    known
        (image): 1 or 0 where the truth is known, -1 elsewhere.
    """

    yes: Ints
    who: Ints
    concept: Ints
    known: Ints


@dataclass(frozen=True)
class LabelError:
    """The share of wrong labels among accepted images, and where it lies with 95 % certainty."""

    estimate: float
    low: float
    high: float
    images: int

    def as_json(self) -> dict[str, float]:
        """Return plain numbers."""
        return {**vars(self), "level": LEVEL}


def label_error(asked: Questions, accepted: NDArray[np.bool_], seed: int = 0) -> LabelError | None:
    """Estimate how many labels of the accepted images are wrong; None if there is no image."""
    if not accepted.any():
        return None
    rng = np.random.default_rng([seed, 3])
    people = _pooled(asked)
    concepts = np.unique(asked.concept, return_inverse=True)[1]
    whole = Questions(asked.yes, people, concepts, asked.known)
    model = _Model(int(people.max()) + 1, int(concepts.max()) + 1)
    best, information = model.fitted(_part(whole, rng))
    found = model.shares(_rows(whole, np.flatnonzero(accepted)), best, information, rng)
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    images, unknown = int(accepted.sum()), int((accepted & (asked.known < 0)).sum())
    # However sure the model is: so many images without a known error show no less than this.
    least = (1 - (1 - LEVEL) ** (1 / unknown)) * unknown / images if unknown else 0.0
    return LabelError(float(np.mean(found)), float(low), max(float(high), least), images)


def _pooled(asked: Questions) -> Ints:
    """Return annotators as numbers without gaps, few enough to know each."""
    voted = asked.yes >= 0
    people = np.zeros_like(asked.who)
    people[voted] = np.unique(asked.who[voted], return_inverse=True)[1]
    count = int(people.max()) + 1
    if count <= _PEOPLE:
        return people
    total = np.maximum(voted.sum(1), 1)
    often = (asked.yes * voted).sum(1) * 2 > total
    alike = (asked.yes == often[:, None]) & voted
    votes = np.bincount(people[voted], minlength=count)
    agreed = np.bincount(people[alike], minlength=count) / np.maximum(votes, 1)
    place = np.argsort(np.argsort(agreed, kind="stable"), kind="stable")
    return np.asarray((place * _PEOPLE // count)[people], np.int64)


def _part(asked: Questions, rng: np.random.Generator) -> Questions:
    voted = np.flatnonzero((asked.yes >= 0).any(1))
    if len(voted) > _IMAGES:
        # Those whose truth is known say most.
        keys = rng.random(len(voted)) - (asked.known[voted] >= 0)
        voted = np.sort(voted[np.argsort(keys)[:_IMAGES]])
    return _rows(asked, voted)


def _rows(asked: Questions, rows: Ints) -> Questions:
    return Questions(asked.yes[rows], asked.who[rows], asked.concept[rows], asked.known[rows])


class _Model:
    """The unknowns as one vector, and how likely they are."""

    def __init__(self, people: int, concepts: int) -> None:
        self._people, self._concepts = people, concepts
        sizes = {"share": concepts, "rate": 2, "who": 2 * people, "what": 2 * concepts, "spread": 2}
        ends = np.cumsum([0, *sizes.values()])
        self._at = dict(zip(sizes, ends[:-1].tolist(), strict=True))
        self._size = int(ends[-1])
        priors = [np.tile(_PRIORS[name], (size, 1)) for name, size in sizes.items()]
        self._mean, deviation = np.concatenate(priors).T
        self._precision = deviation**-2
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        self._nodes, self._weights = nodes, np.log(weights / weights.sum())

    def fitted(self, asked: Questions) -> tuple[Floats, Floats]:
        """Return the likeliest unknowns, and how well they are known."""
        best = self._mean.copy()
        value, slope, information = self._looked(asked, best)
        for _ in range(_STEPS):
            step = np.linalg.solve(information, slope)
            promised = float(slope @ step)
            # Half the step, until it leads up.
            for halving in range(_HALVINGS):
                tried = best + step * 0.5**halving
                found = self._looked(asked, tried)
                if found[0] >= value + 1e-4 * promised * 0.5**halving:
                    break
            else:
                break
            best, (value, slope, information) = tried, found
            if promised < _SETTLED:
                break
        return best, information

    def shares(
        self, asked: Questions, best: Floats, information: Floats, rng: np.random.Generator
    ) -> Floats:
        """Return draws of the share of wrong labels among these images."""
        root = np.linalg.cholesky(information)
        found = []
        for normal in rng.standard_normal((_DRAWS, self._size)):
            # With the tails of Student's t, since the information is itself an estimate.
            normal *= np.sqrt(_FREEDOM / rng.chisquare(_FREEDOM))
            chances, _ = self._states(asked, best + np.linalg.solve(root.T, normal))
            wrong = np.exp(_log_sum(chances[0]) - _log_sum(np.concatenate(chances, 1)))
            found.append(float((rng.random(len(wrong)) < wrong).mean()))
        return np.array(found)

    def _states(self, asked: Questions, values: Floats) -> tuple[list[Floats], list[Floats]]:
        """Return how likely each truth and hardness is together with an image's votes.

        And how likely a yes is: (image, vote, hardness) for each truth.
        """
        share = values[asked.concept]
        there, sign = asked.yes >= 0, np.where(asked.yes == 1, 1.0, -1.0)
        chances, rates = [], []
        for truth, side in ((0, -1.0), (1, 1.0)):
            what = values[self._at["what"] + truth * self._concepts + asked.concept]
            base = side * values[self._at["rate"] + truth] + what[:, None]
            base = base + values[self._at["who"] + truth * self._people + asked.who]
            spread = np.exp(values[self._at["spread"] + truth])
            logit = base[..., None] + spread * self._nodes
            said = (_log_sigmoid(sign[..., None] * logit) * there[..., None]).sum(1)
            # What contradicts a known truth is out of the question.
            chance = np.where(asked.known == 1 - truth, _NEVER, _log_sigmoid(side * share))
            chances.append(said + self._weights + chance[:, None])
            rates.append(np.exp(_log_sigmoid(logit)))
        return chances, rates

    def _looked(self, asked: Questions, values: Floats) -> tuple[float, Floats, Floats]:
        """Return how likely the unknowns are, the slope of that, and the information in it."""
        chances, rates = self._states(asked, values)
        whole = _log_sum(np.concatenate(chances, 1))
        images = np.arange(len(whole))
        scores = np.zeros((len(whole), self._size))
        there, yes = asked.yes >= 0, (asked.yes == 1).astype(float)
        share = np.exp(_log_sigmoid(values[asked.concept]))
        for truth, side in ((0, -1.0), (1, 1.0)):
            weight = np.exp(chances[truth] - whole[:, None])
            surprise = (yes[..., None] - rates[truth]) * there[..., None]
            by_vote = (surprise * weight[:, None, :]).sum(2)
            total = by_vote.sum(1)
            known = weight.sum(1)
            scores[images, asked.concept] += known * (truth - share)
            scores[:, self._at["rate"] + truth] = side * total
            scores[images, self._at["what"] + truth * self._concepts + asked.concept] = total
            who = self._at["who"] + truth * self._people + asked.who
            for vote in range(who.shape[1]):
                scores[images, who[:, vote]] += by_vote[:, vote]
            spread = np.exp(values[self._at["spread"] + truth])
            pulled = (surprise * (weight * self._nodes)[:, None, :]).sum((1, 2))
            scores[:, self._at["spread"] + truth] = spread * pulled
        off = values - self._mean
        value = float(whole.sum() - (off**2 * self._precision).sum() / 2)
        slope = scores.sum(0) - off * self._precision
        return value, slope, scores.T @ scores + np.diag(self._precision)


def _log_sigmoid(values: Floats) -> Floats:
    return np.asarray(-np.logaddexp(0, -values))


def _log_sum(values: Floats) -> Floats:
    most = values.max(1, keepdims=True)
    return np.asarray(most[:, 0] + np.log(np.exp(values - most).sum(1)))
