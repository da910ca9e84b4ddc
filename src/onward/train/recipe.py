"""How a model is trained: pure data, by the names that PyTorch uses."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from onward.errors import OnwardError
from onward.stored import LATER, PLACE

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Augment = Literal[
    "none",
    "flip",
    "random_crop_flip",
    "padded_crop_flip",
    "random_resized_crop_flip",
    "random_resized_crop",
    "flip_perspective_erasing",
    "flip_rotation_color_jitter",
    "random_affine",
]
Schedule = Literal["multistep", "cosine", "constant_cosine"]
Precision = Literal["fp32", "bf16", "fp16", "fp64"]


@dataclass(frozen=True)
class Recipe:
    """The training hyperparameters of one call of `learn`.

    Parameters
    ----------
    model
        A name of the catalogue, ``timm:NAME``, ``torchvision:NAME`` or ``path/to/file.py:Class``.
    lr
        The learning rate at the beginning of every call.
    weight_decay
        As the optimizer defines it.
    batch_size
        How many new samples each optimizer step has; replayed ones are added by the method.
    epochs
        How often each call of `learn` goes through its samples.
    optimizer
        The name of a class of `torch.optim` in any case (``sgd``, ``adam``, ``adamw``, ...), or of
        one of timm's optimizers, where timm is installed.
    momentum, betas, eps
        For optimizers that have them.
    optimizer_options
        Further keyword arguments of the optimizer, such as ``nesterov`` or ``amsgrad``.
    no_decay
        Whether biases and the weights of normalization layers, which have fewer than two
        dimensions, are exempt from weight decay.
    grad_clip_norm
        The largest norm of the gradient of all parameters together.
    keep_optimizer_state
        Whether the optimizer's state lasts from one call to the next, as is natural where a call
        shows a few samples.
    schedule
        ``multistep`` multiplies the learning rate by `gamma` at `milestones`; ``cosine`` takes it
        to zero along a cosine in every call, ``constant_cosine`` in the last `decay_fraction` of
        the steps.
    milestones
        Fractions of the steps of a call.
    gamma
        What the learning rate is multiplied by at a milestone or a plateau.
    warmup_steps, next_warmup_steps
        Over how many steps the learning rate rises linearly in the first call, and in all others:
        0 is no second warm-up.
    next_lr
        The learning rate of all calls but the first, where it is another one.
    patience, threshold
        Reduce on plateau: after more epochs than `patience` in which the score on the validation
        samples has not risen by more than `threshold`.
    first_epochs
        The epochs of the first call, where they are others.
    max_steps
        The number of steps of a call, whatever it shows: the same compute for each. Batches then
        all have the same size, across the ends of epochs.
    replacement
        Whether every batch is drawn from all samples, without epochs; for `max_steps`.
    micro_batch_size
        How many samples of a batch are computed together where all of them do not fit in memory;
        the gradient is that of the whole batch.
    grad_checkpointing
        Whether activations are computed again in the backward pass instead of being stored.
    ema_decay
        Predict with an exponential moving average of the weights, which keeps this much of itself
        in every step.
    precision
        ``fp32``; ``bf16`` or ``fp16`` for matrix products and convolutions by `torch.autocast`; or
        ``fp64`` for all numbers, to tell a mistake from rounding.
    compile
        Whether the network is compiled by `torch.compile`.
    augment
        How images are changed in training, see `onward.train.augment`.
    memory_size
        How many samples a method with a memory stores; by default as many as the first view has.
    exemplars_per_class
        How many samples of each class a method with such a memory stores.
    hidden_dim
        The number of hidden units of an ``mlp``.
    image_size
        What images are resized to before a network sees them.
    weights
        A file with the weights that a network starts from. It is not part of a run's spec, for a
        file may lie anywhere: options of the benchmark hold its hash.
    """

    model: str
    lr: float
    weight_decay: float
    batch_size: int
    epochs: int
    optimizer: str = "sgd"
    momentum: float = 0.0
    betas: tuple[float, float] = field(default=(0.9, 0.999), metadata=LATER)
    eps: float = field(default=1e-8, metadata=LATER)
    optimizer_options: Mapping[str, Any] = field(default_factory=dict, metadata=LATER)
    no_decay: bool = field(default=False, metadata=LATER)
    grad_clip_norm: float | None = field(default=None, metadata=LATER)
    keep_optimizer_state: bool = field(default=False, metadata=LATER)
    schedule: Schedule = field(default="multistep", metadata=LATER)
    milestones: tuple[float, ...] = ()
    gamma: float = 0.1
    warmup_steps: int = field(default=0, metadata=LATER)
    next_warmup_steps: int = field(default=0, metadata=LATER)
    next_lr: float | None = field(default=None, metadata=LATER)
    decay_fraction: float = field(default=0.2, metadata=LATER)
    patience: int | None = field(default=None, metadata=LATER)
    threshold: float = field(default=1e-3, metadata=LATER)
    first_epochs: int | None = field(default=None, metadata=LATER)
    max_steps: int | None = field(default=None, metadata=LATER)
    replacement: bool = field(default=False, metadata=LATER)
    micro_batch_size: int | None = field(default=None, metadata=LATER)
    grad_checkpointing: bool = field(default=False, metadata=LATER)
    ema_decay: float | None = field(default=None, metadata=LATER)
    precision: Precision = field(default="fp32", metadata=LATER)
    compile: bool = field(default=False, metadata=LATER)
    augment: Augment = "none"
    memory_size: int | None = None
    exemplars_per_class: int | None = field(default=None, metadata=LATER)
    hidden_dim: int = field(default=2048, metadata=LATER)
    image_size: int | None = field(default=None, metadata=LATER)
    weights: str | None = field(default=None, metadata=PLACE)

    def __post_init__(self) -> None:
        check_fields(self, from_zero=("patience", "warmup_steps", "next_warmup_steps"))
        if not isinstance(self.optimizer, str) or not self.optimizer:
            raise OnwardError(f"expected the name of an optimizer, found {self.optimizer!r}")
        if len(self.betas) != 2:
            raise OnwardError(f"expected betas as two numbers, found {self.betas!r}")
        for name, value in (("decay_fraction", self.decay_fraction), ("ema_decay", self.ema_decay)):
            if value is not None and value > 1:
                raise OnwardError(f"expected {name} of at most 1, found {value!r}")
        if self.grad_clip_norm == 0:
            raise OnwardError("expected grad_clip_norm above 0, found 0. Leave it out to clip none")

    def epochs_of(self, call: int) -> int:
        """Return the number of epochs of one call of `learn`, counted from 0."""
        return self.epochs if call or self.first_epochs is None else self.first_epochs

    def lr_at(self, step: int, steps: int, call: int = 0) -> float:
        """Return the learning rate of one step out of several of a call, counted from 0.

        Examples
        --------
        >>> recipe = Recipe("linear", 1.0, 0.0, 8, 1, schedule="cosine", warmup_steps=2)
        >>> [round(recipe.lr_at(step, 6), 3) for step in range(6)]
        [0.5, 1.0, 1.0, 0.854, 0.5, 0.146]
        >>> [round(recipe.lr_at(step, 6, call=1), 3) for step in range(6)]
        [1.0, 0.933, 0.75, 0.5, 0.25, 0.067]
        """
        peak = self.next_lr if call and self.next_lr is not None else self.lr
        warmup = self.next_warmup_steps if call else self.warmup_steps
        if step < warmup:
            return peak * (step + 1) / warmup
        if self.schedule == "multistep":
            passed = sum(step >= fraction * steps for fraction in self.milestones)
            return peak * self.gamma**passed
        falls = steps - warmup
        if self.schedule == "constant_cosine":
            falls = min(falls, math.ceil(self.decay_fraction * steps))
        fallen = max(step - (steps - falls), 0) / max(falls, 1)
        return peak * (1 + math.cos(math.pi * fallen)) / 2


def check_fields(settings: "DataclassInstance", *, from_zero: Collection[str]) -> None:
    """Raise an error for the first field whose value is not one that its type stands for.

    Whole numbers are at least 1, those named in `from_zero` at least 0. Other numbers are finite
    and not negative, those of a tuple at most 1. None stands for a number that is left out.
    """
    for each in fields(settings):
        value, kind = getattr(settings, each.name), get_origin(each.type)
        args = get_args(each.type) or (each.type,)
        if kind is Literal:
            right, expected = value in args, f"one of {', '.join(args)}"
        elif kind is tuple:
            right = all(_is_number(number) and number <= 1 for number in value)
            expected = "fractions from 0 to 1"
        elif int in args:
            smallest = int(each.name not in from_zero)
            right = value is None or (type(value) is int and value >= smallest)
            expected = f"a whole number of at least {smallest}"
        else:
            right = value is None or float not in args or _is_number(value)
            expected = "a number of at least 0"
        if not right:
            raise OnwardError(f"expected {each.name} as {expected}, found {value!r}")


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number of at least 0."""
    return isinstance(value, int | float) and type(value) is not bool and 0 <= value < math.inf
