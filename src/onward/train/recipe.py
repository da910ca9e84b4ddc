"""How a model is trained: pure data."""

import math
from dataclasses import dataclass, field, replace
from typing import Literal

from onward.errors import OnwardError
from onward.stored import LATER, PLACE

Augment = Literal[
    "none",
    "flip",
    "crop_flip",
    "pad_flip",
    "part_flip",
    "most_of_it",
    "flip_perspective_erase",
    "flip_rotate_colour",
    "turn_scale_shift",
]
Schedule = Literal["steps", "cosine", "constant_cosine"]


@dataclass(frozen=True)
class Recipe:
    """Stochastic gradient descent in numbers.

    The learning rate starts at `learning_rate` in every call of `learn` and is multiplied by
    `decay` each time one of the shares `decay_at` of the steps has passed. `memory` is the number
    of samples that a method with a memory keeps; ``None`` means as many as the first view has.
    `augment` is how images are varied while they are trained on, see `onward.train.augment`.

    `first_epochs` is the number of epochs of the first call, where it is another one. `patience`
    lets the learning rate wait for a plateau of the score on the validation samples: it is
    multiplied by `decay` once that has not risen by more than `threshold` for more epochs than
    this. `per_class` is the number of samples of each class that a method with such a memory keeps.
    `hidden` is the number of hidden units of an ``mlp``. `side` is what images are scaled to before
    a network sees them.

    `optimizer` is ``sgd`` or ``adam``, whose first moment fades by `momentum` and the second by
    `fade`, over which `least` is added, and whose weights decay on their own, as in AdamW;
    `decays_all` is false where only matrices decay, as is usual for CLIP. `goes_on` keeps its state
    from one call to the next, as is natural where a call shows a few samples. `clip` is how long
    the gradient may be.

    `iterations` is the number of steps of a call, whatever it shows: the same compute for each.
    Batches then all have the same size, across the ends of epochs; with `replacement` there are no
    epochs, and every batch is drawn from all samples. `at_once` is how many samples of a batch are
    worked on together, where all of them do not fit in memory: the gradient is the same. So it is
    with `recomputes`, by which CLIP keeps nothing between its layers and computes it again instead.

    By the `schedule` ``steps`` the learning rate decays as above. ``cosine`` takes it down to zero
    along a cosine in every call, ``constant_cosine`` in the last `cooldown` of its steps. It rises
    over the first `warmup` steps of the first call, and over the first `later_warmup` of all
    others, which begin from `later_rate`, where that is another one.

    `weights` is a file with the weights that a network starts from. Which they are belongs to the
    options of the benchmark, as a hash: a file may lie anywhere.
    """

    model: str
    learning_rate: float
    momentum: float
    weight_decay: float
    batch_size: int
    epochs: int
    decay_at: tuple[float, ...] = ()
    decay: float = 0.1
    memory: int | None = None
    augment: Augment = "none"
    first_epochs: int | None = field(default=None, metadata=LATER)
    patience: int | None = field(default=None, metadata=LATER)
    threshold: float = field(default=1e-3, metadata=LATER)
    per_class: int | None = field(default=None, metadata=LATER)
    hidden: int = field(default=2048, metadata=LATER)
    side: int | None = field(default=None, metadata=LATER)
    optimizer: Literal["sgd", "adam"] = field(default="sgd", metadata=LATER)
    goes_on: bool = field(default=False, metadata=LATER)
    clip: float | None = field(default=None, metadata=LATER)
    weights: str | None = field(default=None, metadata=PLACE)
    iterations: int | None = field(default=None, metadata=LATER)
    replacement: bool = field(default=False, metadata=LATER)
    at_once: int | None = field(default=None, metadata=LATER)
    schedule: Schedule = field(default="steps", metadata=LATER)
    warmup: int = field(default=0, metadata=LATER)
    later_warmup: int = field(default=0, metadata=LATER)
    later_rate: float | None = field(default=None, metadata=LATER)
    cooldown: float = field(default=0.2, metadata=LATER)
    fade: float = field(default=0.999, metadata=LATER)
    least: float = field(default=1e-8, metadata=LATER)
    decays_all: bool = field(default=True, metadata=LATER)
    recomputes: bool = field(default=False, metadata=LATER)

    def __post_init__(self) -> None:
        counts = ("batch_size", "epochs", "hidden", "warmup", "later_warmup")
        open_ones = ("memory", "first_epochs", "patience", "per_class", "side", "iterations")
        for name in (*counts, *self._given((*open_ones, "at_once"))):
            value = getattr(self, name)
            least = 0 if name in ("patience", "warmup", "later_warmup") else 1
            if type(value) is not int or value < least:
                raise OnwardError(
                    f"expected {name} as a whole number from {least} on, found {value!r}"
                )
        numbers = ("learning_rate", "momentum", "weight_decay", "decay", "threshold", "cooldown")
        for name in (*numbers, "fade", "least", *self._given(("later_rate",))):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and 0 <= value < float("inf")):
                raise OnwardError(f"expected {name} as a number from 0 on, found {value!r}")
        if self.optimizer not in ("sgd", "adam"):
            raise OnwardError(f"expected the optimizer sgd or adam, found {self.optimizer!r}")
        if self.schedule not in ("steps", "cosine", "constant_cosine"):
            raise OnwardError(
                f"expected the schedule steps, cosine or constant_cosine, found {self.schedule!r}"
            )
        if not self.cooldown <= 1:
            raise OnwardError(f"expected a cooldown of at most 1, found {self.cooldown!r}")
        if self.clip is not None and not self.clip > 0:
            raise OnwardError(f"expected to clip at a length above 0, found {self.clip!r}")
        if not all(isinstance(share, int | float) and 0 <= share <= 1 for share in self.decay_at):
            raise OnwardError(f"expected decay_at as shares from 0 to 1, found {self.decay_at!r}")

    def _given(self, names: tuple[str, ...]) -> list[str]:
        """Return those that are not left open."""
        return [name for name in names if getattr(self, name) is not None]

    def begun_with(self, model: str | None, weights: str | None) -> "Recipe":
        """Return it with another model, or with a file of weights to start from."""
        return replace(self, model=model or self.model, weights=weights)

    def epochs_of(self, call: int) -> int:
        """Return the number of epochs of one call of `learn`, counted from 0."""
        return self.epochs if call or self.first_epochs is None else self.first_epochs

    def rate(self, step: int, steps: int, call: int = 0) -> float:
        """Return the learning rate of one step out of several of a call, counted from 0.

        Examples
        --------
        >>> recipe = Recipe("linear", 1.0, 0.9, 0.0, 8, 1, schedule="cosine", warmup=2)
        >>> [round(recipe.rate(step, 6), 3) for step in range(6)]
        [0.5, 1.0, 1.0, 0.854, 0.5, 0.146]
        >>> [round(recipe.rate(step, 6, call=1), 3) for step in range(6)]
        [1.0, 0.933, 0.75, 0.5, 0.25, 0.067]
        """
        later = self.learning_rate if self.later_rate is None else self.later_rate
        peak = later if call else self.learning_rate
        warmup = self.later_warmup if call else self.warmup
        if step < warmup:
            return peak * (step + 1) / warmup
        if self.schedule == "steps":
            passed = sum(step >= share * steps for share in self.decay_at)
            return peak * self.decay**passed
        falls = steps - warmup
        if self.schedule == "constant_cosine":
            falls = min(falls, math.ceil(self.cooldown * steps))
        fallen = max(step - (steps - falls), 0) / max(falls, 1)
        return peak * (1 + math.cos(math.pi * fallen)) / 2
