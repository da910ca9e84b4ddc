"""Patching: finetune, then interpolate to the weights before, by scores on earlier periods."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onward.budget import Budget
from onward.seeds import Draws, draws
from onward.train.method import Method, TrainingSet, number
from onward.train.schedules import ConsolidationTrigger
from onward.train.weights import snapshot
from onward.types import Rows, Samples, Setting, View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model

_GRID = 10
# Fewer say little about a coefficient; of a small period, more than a fifth would be missed.
_MIN_HELD_OUT, _MAX_SHARE = 8, 0.2


class Patching(Method):
    """Finetune, then interpolate to the weights before, by the scores on earlier periods.

    patched ← (1 - a) · patched + a · learned, where a is out of 0, 0.1, ..., 1: the one with the
    best mean score on samples of earlier periods, of equally good ones the largest. The next period
    starts from there. These samples come with a period for validation, or are held out of its own
    and not learned; those of a period are first used in the next one, and no test is ever used.
    Running statistics are mixed as weights are. Classes that arrive with a period have no weights
    before it, and keep what was learned.

    Online nothing tells where a period ends: there, weights are mixed after so many samples as the
    recipe's memory holds, and each sample is held out by chance, while there is room for it.

    What scoring costs is not part of the budget, as in the paper.

    Why: Weights with a common start can be interpolated, at no cost at inference; this restores
    what finetuning has lost.

    Known problems: Weights that have moved far apart cannot be mixed. Where samples are held out,
    fewer are learned.

    Parameters
    ----------
    share
        Which share of a period's samples is held out where it comes with none for validation;
        at least eight, unless these are more than a fifth.

    References
    ----------
    Ilharco et al., Patching Open-Vocabulary Models by Interpolating Weights, NeurIPS 2022; Garg et
    al., TiC-CLIP, ICLR 2024. The paper gives neither the grid nor what decides ties.
    """

    saved = ("_patched", "_calls", "_every", "coefficients")

    def __init__(self, *, share: float = 0.1) -> None:
        self._share = number("share", share, 0.0, 0.5)
        self._patched: dict[str, Tensor] = {}
        self._past: list[Samples] = []
        self._calls = 0
        self._every = ConsolidationTrigger(None)
        self.coefficients: list[float] = []

    def begin(self, setting: Setting) -> None:
        """Choose when to mix."""
        super().begin(setting)
        self._every = ConsolidationTrigger(None if setting.online else 1)
        self._every.begin(setting)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples but for those that are held out."""
        held_out = self._held_out(new, budget)
        if not len(held_out):
            return super().training_data(new, budget)
        rest = np.setdiff1d(np.arange(len(new)), held_out)
        view = new.of(new.rows[rest], new.labels[rest])
        return TrainingSet(view, epoch=len(view))

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Mix, and store what later periods are scored on."""
        begins, fresh = self._every.seen == 0, self._to_score_on(new, budget)
        if self._every.due(len(new)):
            # A period is not scored on samples of its own.
            past = self._past if begins else self._past[:-1]
            if past and self._patched:
                self._mix(model, new, past)
            self._patched = snapshot(model)
        if begins:
            self._past.append(fresh)
        else:
            self._past[-1] = Samples.join([self._past[-1], fresh])
        budget.hold(np.concatenate([each.rows for each in self._past]))
        self._calls += 1

    def state(self) -> dict[str, Any]:
        """Return the patched weights, and the samples that they are scored on."""
        return {
            **super().state(),
            "past": {
                str(place): {"rows": each.rows, "labels": each.labels}
                for place, each in enumerate(self._past)
            },
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore them."""
        super().restore(state)
        self._past = [Samples(each["rows"], each["labels"]) for each in state["past"].values()]

    def _held_out(self, new: View, budget: Budget) -> Rows:
        """Return the positions of the new samples that are not trained on."""
        rng = draws(Draws.HELD_OUT, self.setting.seed, self._calls)
        if self.setting.online:
            stored = sum(len(each) for each in self._past)
            room = max(budget.limits.get("stored_samples", math.inf) - stored, 0)
            chosen = np.flatnonzero(rng.random(len(new)) < self._share)
            return chosen[: int(min(room, len(chosen)))]
        if len(new.validation) or not self._share:
            return np.empty(0, np.int64)
        count = max(int(self._share * len(new)), min(_MIN_HELD_OUT, int(_MAX_SHARE * len(new))))
        return np.sort(rng.permutation(len(new))[:count])

    def _to_score_on(self, new: View, budget: Budget) -> Samples:
        if len(new.validation):
            return Samples(new.validation.rows, new.validation.labels)
        return Samples(new.rows, new.labels)[self._held_out(new, budget)]

    def _mix(self, model: "Model", new: View, past: list[Samples]) -> None:
        """Give the model the best mixture of what it was and what it is."""
        learned = snapshot(model)
        before = {name: _with_new_rows(self._patched[name], w) for name, w in learned.items()}
        scores: list[tuple[float, float]] = []
        for coefficient in np.arange(_GRID + 1) / _GRID:
            _interpolate(model, before, learned, float(coefficient))
            scores.append((self._score(model, new, past), float(coefficient)))
        _, best = max(scores)
        _interpolate(model, before, learned, best)
        self.coefficients.append(best)

    def _score(self, model: "Model", new: View, past: list[Samples]) -> float:
        """Return the mean score over the samples of earlier periods."""
        from onward.train.validation import headline  # torch, which the catalogue does not need

        views = [new.of(each.rows, each.labels) for each in past if len(each)]
        scores = [headline(model, view, self.setting.task) for view in views]
        # Images without a single box have no score.
        known = [score for score in scores if not math.isnan(score)]
        return float(np.mean(known)) if known else 0.0


def _with_new_rows(before: "Tensor", learned: "Tensor") -> "Tensor":
    """Return weights before a period, with the learned rows of classes that arrived in it."""
    if before.shape == learned.shape:
        return before
    grown = learned.clone()
    grown[: len(before)] = before
    return grown


def _interpolate(
    model: "Model", before: "dict[str, Tensor]", learned: "dict[str, Tensor]", coefficient: float
) -> None:
    for name, values in model.state_dict().items():
        # A count cannot be mixed, and at 1 rounding is to change nothing.
        if coefficient == 1 or not values.is_floating_point():
            values.copy_(learned[name])
        else:
            values.copy_(before[name]).lerp_(learned[name], coefficient)
