"""How many accepted labels are wrong, told from the votes alone, with an interval.

An image that was retrieved for a concept either shows it and nothing else, or it does not; nobody
knows. Each vote says yes or no. How often somebody says yes depends on the truth, on who it is, on
the concept, and on the image, since some are hard for everybody:

    logit P(yes | truth t) = m[t] + who[t, annotator] + what[t, concept] + spread[t] · hardness

with a hardness of its own for each image, normally distributed. How often a concept's candidates
are true is another unknown. All of these are estimated together (the largest posterior), their
uncertainty is that of Laplace's approximation, and the interval is of the errors among just those
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
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
_NODES = 7
_DRAWS = 200
# More annotators than this are put together with those who agree with the majority as often.
_PEOPLE = 40
# Images from which the rates are told; more would not make them better known.
_IMAGES = 12_000
_STEPS = 80
# What is thought likely before a vote is seen: means and standard deviations.
_PRIORS = {
    "share": (1.0, 1.5),
    "rate": (2.0, 1.0),
    "who": (0.0, 1.0),
    "what": (0.0, 0.5),
    "spread": (-0.4, 0.6),
}

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Questions:
    """What was asked and answered: is this image of that concept, and of nothing else?

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
    best, spread = model.fitted(_part(whole, rng))
    found = model.shares(whole, accepted, best, spread, rng)
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return LabelError(float(np.mean(found)), float(low), float(high), int(accepted.sum()))


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
    return Questions(asked.yes[voted], asked.who[voted], asked.concept[voted], asked.known[voted])


class _Model:
    """The unknowns as one vector, and how likely they are."""

    def __init__(self, people: int, concepts: int) -> None:
        self._sizes = {
            "share": concepts,
            "rate": 2,
            "who": 2 * people,
            "what": 2 * concepts,
            "spread": 2,
        }
        self._shapes = {"who": (2, people), "what": (2, concepts)}
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        self._nodes, self._weights = nodes, np.log(weights / weights.sum())

    def fitted(self, asked: Questions) -> tuple[Any, Any]:
        """Return the likeliest unknowns, and a matrix that makes normal draws around them."""
        import torch

        likely = _Votes(asked)
        best = torch.cat([torch.full((n,), _PRIORS[k][0]) for k, n in self._sizes.items()])
        best = best.double().requires_grad_()
        search = torch.optim.LBFGS(
            [best], max_iter=_STEPS, tolerance_change=1e-7, line_search_fn="strong_wolfe"
        )

        def loss(values: Any) -> Any:
            return -(self._prior(values) + self._states(values, likely).logsumexp((0, 2)).sum())

        def step() -> Any:
            search.zero_grad()
            value = loss(best)
            value.backward()
            return value

        search.step(step)
        curve = torch.autograd.functional.hessian(loss, best.detach())
        values, vectors = torch.linalg.eigh((curve + curve.T) / 2)
        # Nothing is known less than before the votes were seen.
        least = min(1 / deviation**2 for _, deviation in _PRIORS.values())
        return best.detach(), vectors / values.clamp(min=least).sqrt()

    def shares(
        self,
        asked: Questions,
        accepted: NDArray[np.bool_],
        best: Any,
        spread: Any,
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Return draws of the share of wrong labels among the accepted."""
        import torch

        rows = np.flatnonzero(accepted)
        likely = _Votes(
            Questions(asked.yes[rows], asked.who[rows], asked.concept[rows], asked.known[rows])
        )
        found = []
        for normal in rng.standard_normal((_DRAWS, len(best))):
            drawn = best + spread @ torch.from_numpy(normal)
            states = self._states(drawn, likely).logsumexp(2)
            wrong = states.softmax(0)[0].numpy()
            found.append(float((rng.random(len(rows)) < wrong).mean()))
        return np.array(found)

    def _named(self, values: Any) -> dict[str, Any]:
        parts = dict(zip(self._sizes, values.split([*self._sizes.values()]), strict=True))
        return {name: part.reshape(self._shapes.get(name, -1)) for name, part in parts.items()}

    def _prior(self, values: Any) -> Any:
        parts = self._named(values)
        return -sum(
            (((parts[name] - mean) / deviation) ** 2).sum() / 2
            for name, (mean, deviation) in _PRIORS.items()
        )

    def _states(self, values: Any, votes: "_Votes") -> Any:
        """Return how likely (truth, image, hardness) is together with an image's votes."""
        import torch
        from torch.nn.functional import logsigmoid

        parts = self._named(values)
        nodes, weights = torch.from_numpy(self._nodes), torch.from_numpy(self._weights)
        share = parts["share"][votes.concept]
        found = []
        for truth, sign in ((0, -1.0), (1, 1.0)):
            base = sign * parts["rate"][truth] + parts["what"][truth][votes.concept][:, None]
            base = base + parts["who"][truth][votes.who]
            logit = base[..., None] + parts["spread"][truth].exp() * nodes
            said = (logsigmoid(votes.sign[..., None] * logit) * votes.there[..., None]).sum(1)
            chance = logsigmoid(sign * share) + votes.possible[truth]
            found.append(said + weights + chance[:, None])
        return torch.stack(found)


class _Votes:
    """Votes as tensors."""

    def __init__(self, asked: Questions) -> None:
        import torch

        self.who = torch.from_numpy(np.ascontiguousarray(asked.who))
        self.concept = torch.from_numpy(np.ascontiguousarray(asked.concept))
        self.there = torch.from_numpy((asked.yes >= 0).astype(np.float64))
        self.sign = torch.from_numpy(np.where(asked.yes == 1, 1.0, -1.0))
        # What contradicts a known truth is out of the question.
        self.possible = [
            torch.from_numpy(np.where(asked.known == 1 - truth, -1e9, 0.0)) for truth in (0, 1)
        ]
