"""How a model is trained: pure data."""

from dataclasses import dataclass, field
from typing import Literal

from onward.errors import OnwardError
from onward.stored import LATER, PLACE

Augment = Literal[
    "none",
    "flip",
    "crop_flip",
    "pad_flip",
    "part_flip",
    "flip_perspective_erase",
    "flip_rotate_colour",
]
OF_IMAGENET = ("resnet18", "resnet50", "resnet50d")
"""Networks that were made for ImageNet's photos, and whose weights are published."""


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

    `optimizer` is ``sgd`` or ``adam``, whose first moment fades by `momentum` and whose weights
    decay on their own, as in AdamW. `goes_on` keeps its state from one call to the next, as is
    natural where a call shows a few samples. `clip` is how long the gradient may be.

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

    def __post_init__(self) -> None:
        optional = ("memory", "first_epochs", "patience", "per_class", "side")
        given = (name for name in optional if getattr(self, name) is not None)
        for name in ("batch_size", "epochs", "hidden", *given):
            value = getattr(self, name)
            least = 0 if name == "patience" else 1
            if type(value) is not int or value < least:
                raise OnwardError(
                    f"expected {name} as a whole number from {least} on, found {value!r}"
                )
        for name in ("learning_rate", "momentum", "weight_decay", "decay", "threshold"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and 0 <= value < float("inf")):
                raise OnwardError(f"expected {name} as a number from 0 on, found {value!r}")
        if self.optimizer not in ("sgd", "adam"):
            raise OnwardError(f"expected the optimizer sgd or adam, found {self.optimizer!r}")
        if self.clip is not None and not self.clip > 0:
            raise OnwardError(f"expected to clip at a length above 0, found {self.clip!r}")
        if not all(isinstance(share, int | float) and 0 <= share <= 1 for share in self.decay_at):
            raise OnwardError(f"expected decay_at as shares from 0 to 1, found {self.decay_at!r}")

    def epochs_of(self, call: int) -> int:
        """Return the number of epochs of one call of `learn`, counted from 0."""
        return self.epochs if call or self.first_epochs is None else self.first_epochs

    def rate(self, step: int, steps: int) -> float:
        """Return the learning rate of one step out of several."""
        passed = sum(step >= share * steps for share in self.decay_at)
        return self.learning_rate * self.decay**passed
