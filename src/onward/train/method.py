"""The five questions that every gradient method answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from onward import distributed
from onward.budget import Budget
from onward.errors import OnwardError
from onward.saved import Saved, restore_to, state_of
from onward.train.recipe import Recipe
from onward.types import Rows, Setting, View

if TYPE_CHECKING:
    import torch

    from onward.models import Model

Start = Literal["last", "random"]
"""Which weights a method starts from, where that is its option."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What one call of `learn` trains on.

    Parameters
    ----------
    view
        The samples: those that make up an epoch, then those that are only replayed.
    epoch
        The number of samples that make up an epoch.
    replay
        The number of replayed samples that each batch has in addition, drawn at random; where it is
        the number of all of them, they are in their own order.
    forward_passes
        Forward passes per sample: 2 with a teacher, whose work counts too.
    separate_replay
        Whether the method computes the outputs of replayed samples: the batch's outputs are then
        those of the new samples alone.
    draw
        Chooses the samples that a batch replays, at most `replay`, given the positions of its new
        samples and a generator. It returns positions, in the order that the batch has them in.
    batch
        The number of samples of the epoch in each batch, by default the recipe's. The number of
        steps is that of the recipe's batches, so that there are fewer or more epochs.
    step_multiplier
        A factor of the recipe's `max_steps`; it does not change a recipe that counts epochs.
    """

    view: View
    epoch: int
    replay: int = 0
    forward_passes: float = 1
    separate_replay: bool = False
    draw: Callable[[Rows, np.random.Generator], Rows] | None = None
    batch: int | None = None
    step_multiplier: float = 1.0

    @property
    def replays_all(self) -> bool:
        """Whether every batch gets all samples that are only replayed."""
        return self.draw is None and 0 < self.replay == len(self.view) - self.epoch


@dataclass(frozen=True, eq=False)
class WholeBatch:
    """A batch of which each of several processes computes a share: every n-th sample.

    Parameters
    ----------
    positions
        The positions of all its samples in the training set, the new ones first.
    num_new
        How many of them are new.
    rank, world_size
        The number of this process, and of those that the batch is shared out among.
    separate_replay
        Whether outputs are those of new samples alone, see `TrainingSet`.
    """

    positions: Rows
    num_new: int
    rank: int = 0
    world_size: int = 1
    separate_replay: bool = False

    @classmethod
    def of(cls, positions: Rows, training: TrainingSet) -> "WholeBatch":
        """Return a batch at these positions, shared out if every process gets some of each part."""
        num_new = int(np.count_nonzero(positions < training.epoch))
        parts = (num_new, len(positions) - num_new)
        size = distributed.world_size() if distributed.can_share(*parts) else 1
        number = distributed.rank() if size > 1 else 0
        return cls(positions, num_new, number, size, training.separate_replay)

    @property
    def shared(self) -> bool:
        """Whether it is shared out. If not, this process has all of it."""
        return self.world_size > 1

    @property
    def indices(self) -> Rows:
        """The indices in the whole batch of the samples that this process has."""
        return np.arange(self.rank, len(self.positions), self.world_size)

    @property
    def own_new(self) -> int:
        """How many of this process's samples are new."""
        return len(range(self.rank, self.num_new, self.world_size))

    @property
    def loss_weight(self) -> float:
        """The weight of this process's loss, a mean over its samples, in the mean of processes."""
        samples = self.num_new if self.separate_replay else len(self.positions)
        return len(range(self.rank, samples, self.world_size)) * self.world_size / samples


@dataclass(frozen=True, eq=False)
class Batch:
    """One training batch: the first `num_new` samples are of the epoch, the others are replayed.

    Where several processes share a batch out, these are the samples of this process.

    Parameters
    ----------
    model
        What is trained.
    inputs, targets
        The samples, on the model's device. Inputs may be overwritten in the next step: clone what
        you keep.
    outputs
        The model's outputs for them, with gradients enabled: of the new samples alone where the
        training set has `separate_replay`.
    num_new
        How many samples are new.
    positions
        The positions of the samples in the training set.
    lr
        The learning rate of the optimizer step.
    logged
        What was logged of this batch, by name.
    whole
        The batch of all processes; None stands for this one.
    """

    model: "Model"
    inputs: "torch.Tensor"
    outputs: Any  # a tensor, or a detector's outputs
    targets: "torch.Tensor"
    num_new: int
    positions: Rows
    lr: float = 1.0
    logged: dict[str, Any] = field(default_factory=dict)
    whole: WholeBatch | None = None

    def average(self, loss: "torch.Tensor", samples: int) -> "torch.Tensor":
        """Return a mean over some samples of this process as a part of the loss.

        Processes may have different numbers of such samples, as of replayed ones. The loss of the
        batch then has the mean over the samples of all of them. In one process this is `loss`.
        Every process has to call it, also with 0 samples.
        """
        if self.whole is None or not self.whole.shared:
            return loss
        import torch  # loaded when it is needed

        (every,) = distributed.all_reduce(torch.tensor([float(samples)]))
        if not samples:  # the mean of nothing is NaN; its graph may have collectives
            return 0 * loss.nan_to_num()
        weight = samples * self.whole.world_size / float(every)
        return loss * (weight / self.whole.loss_weight)

    def gather(self, rows: Any, part: Literal["all", "new", "replayed"] = "all") -> Any:
        """Return rows of all processes in the order of the whole batch, without gradients.

        `rows`, a tensor or an array, are those of all samples of this process, of its new ones or
        of its replayed ones: `part` says which.
        """
        own = {"all": len(self.positions), "new": self.num_new}
        own["replayed"] = own["all"] - own["new"]
        if part not in own or len(rows) != own[part]:
            raise OnwardError(
                f"expected to gather one row for each of {', '.join(own)} samples of this process "
                f"({', '.join(map(str, own.values()))}), found {len(rows)} rows for {part!r}"
            )
        if isinstance(rows, np.ndarray):
            import torch  # loaded when it is needed

            return self.gather(torch.from_numpy(rows), part).numpy()
        rows = rows.detach()
        if self.whole is None or not self.whole.shared:
            return rows
        start = self.whole.num_new if part == "replayed" else 0
        end = self.whole.num_new if part == "new" else len(self.whole.positions)
        return distributed.gather_batch(rows, range(start, end))

    def log(self, name: str, value: Any) -> None:
        """Log a number of this batch, such as a part of the loss.

        It is in the run's training metrics (``training.jsonl``), step by step and as the mean of
        each epoch, and goes to loggers such as TensorBoard. Its mean over a call of `learn` is in
        ``log.jsonl`` and in `Event.metrics`.
        A tensor is read some seconds later: logging does not wait for the device.
        """
        if hasattr(value, "detach"):
            # A copy: it is read later, and the method may change its tensor until then.
            value = value.detach().clone()
        if getattr(value, "numel", lambda: 1)() != 1 or isinstance(value, str):
            found = f"the shape {tuple(value.shape)}" if hasattr(value, "shape") else repr(value)
            raise OnwardError(f"expected one number to log as {name!r}, found {found}")
        self.logged[name] = value

    def __post_init__(self) -> None:
        # Now, as the model's are those of its last forward pass.
        object.__setattr__(self, "_features", self.model.features)

    @property
    def features(self) -> "torch.Tensor":
        """The inputs of the model's last layer for these samples, with their graph."""
        from onward.models.model import to_full_precision  # torch, when it is needed

        return to_full_precision(vars(self)["_features"])

    @cached_property
    def is_replay(self) -> "torch.Tensor":
        """Which samples are replayed: one boolean per target."""
        import torch  # loaded when it is needed

        return torch.arange(len(self.targets), device=self.targets.device) >= self.num_new


class Method(Saved):
    """Finetuning, and what methods override: `training_data`, `init_weights`, `compute_loss`, ...

    Attributes named in `saved` are in checkpoints between two calls, those in `step_state` also
    within a call; the ones with a ``begin`` are given the setting. Instead of naming attributes in
    `saved`, a method may override `state` and `restore`.

    Attributes
    ----------
    needs
        What the method needs of a benchmark, and what for: see `onward.fit`.
    start
        The weights that a call of `learn` starts from.
    head
        The last layer of the model.
    keeps_best
        Whether the weights are those of the epoch with the best score on the validation samples,
        where there are any.
    """

    needs: ClassVar[Mapping[str, str]] = {}
    step_state: ClassVar[tuple[str, ...]] = ()
    start: Start = "last"
    head: Literal["linear", "cosine"] = "linear"
    keeps_best: bool = False

    def override_recipe(self, recipe: Recipe) -> Recipe:
        """Return the recipe to train by, given the benchmark's: here, that one."""
        return recipe

    @property
    def lr_scale(self) -> float:
        """What the learning rate is multiplied by in the next step."""
        return 1.0

    def begin(self, setting: Setting) -> None:
        """Prepare for a run, before anything is seen."""
        self.setting = setting
        for name in self.saved:
            part: Any = getattr(self, name, None)
            if hasattr(part, "begin"):
                part.begin(setting)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the samples to train on: here, the new ones."""
        return TrainingSet(new, epoch=len(new))

    def init_weights(self, model: "Model", generator: "torch.Generator") -> None:
        """Choose the weights to start from: those that `start` names."""
        if self.start == "random":
            model.init_weights(generator)

    def frozen_rows(self, model: "Model") -> Mapping[str, int]:
        """Return by parameter how many of its first rows do not move: here, none."""
        return {}

    def compute_loss(self, batch: Batch) -> "torch.Tensor":
        """Return the loss of a batch, a scalar tensor: by default the task loss.

        It may depend on the batch's outputs and features and on the model's parameters.
        """
        loss: torch.Tensor = self.setting.task.loss(batch.outputs, batch.targets)
        return loss

    def on_after_backward(self, batch: Batch) -> None:
        """Change the gradient of a batch before the weights move: here, not at all."""

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Do what is due once the new samples are learned: here, nothing."""

    @property
    def is_plain_finetuning(self) -> bool:
        """Whether a call minimizes the task loss, and changes neither gradients nor learning rate.

        Methods of which that is true before they have a teacher override it: with the same samples
        and weights, they learn the same as finetuning.
        """
        return self._answers_like(Method)

    def _answers_like(self, kind: "type[Method]") -> bool:
        """Whether what happens in a step is what happens in a step of this kind."""
        asked = ("compute_loss", "on_after_backward", "lr_scale")
        own = all(getattr(type(self), name) is getattr(kind, name) for name in asked)
        return own and vars(self).keys().isdisjoint(asked)

    def save_step_state(self) -> dict[str, Any]:
        """Return what must survive from one step to the next and is not in `state`."""
        return state_of(self, self.step_state)

    def restore_step_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_step_state` returned, once `training_data` has been asked again."""
        restore_to(self, self.step_state, state)


def require_scalar(loss: Any) -> "torch.Tensor":
    """Return a loss, or say why it cannot be minimised."""
    import torch  # loaded when it is needed

    expected = "expected compute_loss to return a scalar tensor with a gradient, found"
    if not isinstance(loss, torch.Tensor):
        advice = "Does it return the loss?" if loss is None else "Return a tensor, not float(loss)"
        raise OnwardError(f"{expected} {type(loss).__name__}. {advice}")
    if loss.ndim:
        raise OnwardError(f"{expected} the shape {tuple(loss.shape)}. Return its mean or its sum")
    if not loss.requires_grad:
        raise OnwardError(
            f"{expected} one that depends on no output and no parameter. Compute it from "
            "batch.outputs, without detach() or torch.no_grad()"
        )
    return loss


def may_read_again(budget: Budget) -> bool:
    """Whether new samples may be read beside training: training takes all passes and MACs."""
    return budget.limits.keys().isdisjoint({"passes", "macs"})


def yes_or_no(name: str, value: Any) -> bool:
    """Return a method's option that is true or false, or say that it is."""
    if not isinstance(value, bool):
        raise OnwardError(f"expected {name} as true or false, found {value!r}")
    return value


def number(
    name: str, value: Any, low: float = 0.0, high: float = float("inf"), *, above: bool = False
) -> float:
    """Return a method's option that is a finite number from low to high, or say which it may be.

    It may have to be `above` the lowest.
    """
    right = isinstance(value, int | float) and not isinstance(value, bool)
    if not right or not low <= value <= high or value == float("inf") or (above and value == low):
        start = f"above {low:g}" if above else f"from {low:g} on"
        end = "" if high == float("inf") else f" and up to {high:g}"
        raise OnwardError(f"expected {name} as a number {start}{end}, found {value!r}")
    return float(value)


def check_start(start: Start) -> Start:
    """Return a method's option `start`, or say what it may be."""
    if start not in ("last", "random"):
        raise OnwardError(f"expected start 'last' or 'random', found {start!r}")
    return start
