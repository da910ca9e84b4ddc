"""The optimizer of a model: a class of `torch.optim` by its name, with the recipe's numbers.

What is added to it here: rows that are frozen, a state that is saved by the names of parameters,
and parameters that grow between two calls of `learn`.
"""

import contextlib
import functools
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from onward.errors import OnwardError, unknown
from onward.models.probe_bank import ProbeBank
from onward.models.torchvision_loader import torchvision
from onward.train.recipe import Recipe

# Their steps compute the loss again, or take gradients of another kind.
_UNSUITABLE = ("lbfgs", "sparseadam")
# Keyword arguments that a recipe has fields of its own for.
FIELDS = ("lr", "momentum", "betas", "eps", "weight_decay")
# Options of SGD that `RowwiseSGD` does not have.
_NOT_ROWWISE = ("dampening", "nesterov", "maximize", "differentiable")


@functools.cache
def optimizer_class(name: str) -> Callable[..., torch.optim.Optimizer]:
    """Return a class of `torch.optim` by its name in any case, or else one of timm's."""
    kinds = [kind for kind in vars(torch.optim).values() if inspect.isclass(kind)]
    base = torch.optim.Optimizer
    known = {k.__name__.lower(): k for k in kinds if issubclass(k, base) and k is not base}
    if name.lower() in _UNSUITABLE:
        raise OnwardError(
            f"expected an optimizer that takes one step for each gradient, found {name}. Choose "
            "another one, such as sgd or adamw"
        )
    if name.lower() in known:
        return known[name.lower()]
    names: list[str] = []
    with contextlib.suppress(ImportError, OnwardError):
        torchvision()  # which timm imports
        timm: Any = importlib.import_module("timm.optim")
        names = timm.list_optimizers()
        if name in names:
            made: Callable[..., torch.optim.Optimizer] = timm.get_optimizer_class(name)
            return made
    raise unknown("optimizer", name, sorted({*known, *names} - {*_UNSUITABLE}), "torch.optim")


@functools.cache
def accepted_options(name: str) -> frozenset[str]:
    """Return the keyword arguments of an optimizer."""
    return frozenset(inspect.signature(optimizer_class(name)).parameters) - {"params"}


def make_optimizer(named: Mapping[str, nn.Parameter], recipe: Recipe) -> torch.optim.Optimizer:
    """Return the recipe's optimizer of these parameters.

    Numbers of the recipe that the optimizer has no argument for, such as the momentum of AdamW, are
    left out.
    """
    known = accepted_options(recipe.optimizer)
    defaults = inspect.signature(optimizer_class(recipe.optimizer)).parameters
    options: dict[str, Any] = {
        name: value
        for name in FIELDS
        if name in known
        and (isinstance(value := getattr(recipe, name), tuple) or not _is_pair(defaults[name]))
    }
    if recipe.weight_decay and "weight_decay" not in known:
        raise OnwardError(
            f"expected weight_decay = 0 with the optimizer {recipe.optimizer}, which has none, "
            f"found {recipe.weight_decay}. Set it to 0, or choose another optimizer"
        )
    for name, value in recipe.optimizer_options.items():
        if name not in known or name in options:
            raise unknown(f"option of {recipe.optimizer}", name, known, "torch.optim")
        options[name] = value
    # One kernel for all parameters, where there is one: the loops in Python cost more than a small
    # step does.
    if "fused" in known and not {"foreach", "fused", "differentiable"} & options.keys():
        options["fused"] = all(p.is_floating_point() for p in named.values()) or None
    exempt = [p for p in named.values() if recipe.no_decay and p.ndim < 2]
    others = [p for p in named.values() if not recipe.no_decay or p.ndim >= 2]
    groups = [{"params": others}] if others else []
    try:
        return optimizer_class(recipe.optimizer)(
            [*groups, {"params": exempt, "weight_decay": 0.0}] if exempt else groups, **options
        )
    except (TypeError, ValueError, RuntimeError) as error:
        raise OnwardError(
            f"the optimizer {recipe.optimizer} refuses its options ({error}). Change them, or "
            "choose another optimizer"
        ) from error


def _is_pair(parameter: inspect.Parameter) -> bool:
    """Whether an argument is a pair of numbers, as Adafactor's ``eps``, by its default value."""
    return isinstance(parameter.default, tuple)


class ModelOptimizer:
    """The optimizer of one model through one call of `learn`.

    Parameters
    ----------
    frozen_rows
        By name, how many of a parameter's first rows are not updated.
    state
        What `state` of an earlier optimizer returned, of a call that is resumed or, where the
        recipe keeps it, of the call before. Rows that a parameter has gained since start at zero.
    """

    def __init__(
        self,
        named: Mapping[str, nn.Parameter],
        recipe: Recipe,
        *,
        frozen_rows: Mapping[str, int] | None = None,
        state: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        self._named = dict(named)
        self._clip = recipe.grad_clip_norm
        self._frozen = {name: rows for name, rows in (frozen_rows or {}).items() if rows}
        self.torch = make_optimizer(named, recipe)
        if state:
            self._restore(state)

    def unscale(self, scaler: torch.amp.GradScaler) -> bool:
        """Divide the gradients by the scale of the loss; return whether all of them are finite.

        If not, the step is to be skipped, and the scale of the next loss is smaller. Fused kernels
        are not asked to skip it, as `scaler.step` does: momentum of SGD would never be initialized.
        """
        if not scaler.is_enabled():
            return True
        scaler.unscale_(self.torch)
        scaler.update()
        grads = [p.grad for p in self._named.values() if p.grad is not None]
        return bool(torch.stack([grad.isfinite().all() for grad in grads]).all())

    def step(self, lr: float) -> None:
        """Clip the gradients, and update all parameters that have one."""
        for parameter in self._named.values():
            grad = parameter.grad
            if grad is not None and grad.stride() != parameter.stride():
                parameter.grad = _laid_out(grad, parameter)
        self.clip_gradients()
        for group in self.torch.param_groups:
            group["lr"] = lr
        # Weight decay and momentum move rows whose gradient is zero, too.
        before = {name: self._named[name][:rows].clone() for name, rows in self._frozen.items()}
        self._init_momentum()
        self.torch.step()
        for name, rows in before.items():
            self._named[name][: len(rows)] = rows

    def _init_momentum(self) -> None:
        """Add momentum of zero to parameters that get their first gradient after others.

        Torch's fused SGD expects that all parameters of a step have momentum, or none.
        """
        if not isinstance(self.torch, torch.optim.SGD) or not any(self.torch.state.values()):
            return
        for group in self.torch.param_groups:
            for parameter in group["params"] if group["momentum"] else ():
                state = self.torch.state[parameter]
                if parameter.grad is not None and state.get("momentum_buffer") is None:
                    state["momentum_buffer"] = torch.zeros_like(parameter)

    @property
    def is_plain_sgd(self) -> bool:
        """Whether a step is that of SGD, of all rows, as `RowwiseSGD` takes it."""
        return (
            type(self.torch) is torch.optim.SGD
            and not self._frozen
            and not any(self.torch.param_groups[0][name] for name in _NOT_ROWWISE)
        )

    def clip_gradients(self) -> None:
        """Scale the gradients down to the largest norm that is allowed."""
        if self._clip is not None:
            nn.utils.clip_grad_norm_(self._named.values(), self._clip)

    def group_of(self, name: str) -> dict[str, Any]:
        """Return the options of torch's optimizer for one parameter."""
        parameter = self._named[name]
        return next(
            group
            for group in self.torch.param_groups
            if any(other is parameter for other in group["params"])
        )

    def state_of(self, name: str) -> dict[str, Any]:
        """Return the state of torch's optimizer for one parameter, which may be changed."""
        found: dict[str, Any] = self.torch.state[self._named[name]]
        return found

    def copy_state(self, other: "ModelOptimizer") -> None:
        """Take over the state of the optimizer of an equal model."""
        for name, parameter in self._named.items():
            mine = self.torch.state[parameter]
            for entry, value in other.torch.state.get(other._named[name], {}).items():
                if isinstance(value, torch.Tensor) and isinstance(mine.get(entry), torch.Tensor):
                    mine[entry].copy_(value)
                else:
                    mine[entry] = value.clone() if isinstance(value, torch.Tensor) else value

    def state(self) -> dict[str, torch.Tensor]:
        """Return the optimizer's state as tensors, each named ``parameter/entry``."""
        found = {}
        for name, parameter in self._named.items():
            for entry, value in self.torch.state.get(parameter, {}).items():
                if value is not None:
                    found[f"{name}/{entry}"] = torch.as_tensor(value)
        return found

    def _restore(self, state: Mapping[str, torch.Tensor]) -> None:
        order = [id(p) for group in self.torch.param_groups for p in group["params"]]
        packed = self.torch.state_dict()
        for place, value in state.items():
            name, _, entry = place.rpartition("/")
            if (parameter := self._named.get(name)) is not None:
                number = order.index(id(parameter))
                entries = packed["state"].setdefault(number, {})
                entries[entry] = _laid_out(value, parameter)
        self.torch.load_state_dict(packed)


class RowwiseSGD:
    """`torch.optim.SGD` for all probes of a `ProbeBank`, each with options of its own.

    One update of the wide tensors of the bank, with a column of learning rates, takes a third of
    the time of one call of the fused kernel per probe. Momentum is saved by the optimizer of each
    probe, as part of a wide tensor.

    Parameters
    ----------
    optimizers
        One per probe, in the order of the bank; each of them `is_plain_sgd`.
    bank
        Has the parameters and gradients.
    """

    def __init__(self, optimizers: Sequence[ModelOptimizer], bank: ProbeBank) -> None:
        self._optimizers, self._bank, self._slots = optimizers, bank, bank.slots
        self._lrs: Sequence[float] = ()
        # By name: a wide parameter, its gradient, and the options and momentum of all slots.
        self._wide: dict[str, tuple[Any, ...]] = {}
        for name, (wide, grad) in bank.wide.items():
            groups = [each.group_of(f"head.{name}") for each in optimizers]
            decay, momentum = (
                self._per_slot([group[option] for group in groups], wide)
                for option in ("weight_decay", "momentum")
            )
            buffer = self._momentum_buffer(f"head.{name}", wide) if momentum.any() else None
            self._wide[name] = wide, grad, decay if decay.any() else None, momentum, buffer

    @torch.no_grad()
    def step(self, lrs: Sequence[float], replaced: Iterable[int]) -> None:
        """Take a step of each optimizer with its learning rate.

        `replaced` are the numbers of probes whose methods may have replaced gradients.
        """
        for each in self._optimizers:
            each.clip_gradients()
        # As in torch, a parameter without a gradient stays as it is, and so does its momentum.
        before = [
            (whole[place], whole[place].clone())
            for name, place in self._bank.take_grads(replaced)
            for whole in (self._wide[name][0], self._wide[name][-1])
            if whole is not None
        ]
        if lrs != self._lrs:
            self._lrs = lrs
            self._rates = [self._per_slot(lrs, wide) for wide, *_ in self._wide.values()]
        for (wide, grad, decay, momentum, buffer), lr in zip(
            self._wide.values(), self._rates, strict=True
        ):
            update = grad if decay is None else torch.addcmul(grad, wide, decay)
            if buffer is not None:
                update = torch.addcmul(update, buffer, momentum, out=buffer)
            wide.addcmul_(update, lr, value=-1)
        for there, values in before:
            there.copy_(values)

    def _per_slot(self, values: Sequence[float], wide: torch.Tensor) -> torch.Tensor:
        """Return a number per slot, to be multiplied with a wide tensor."""
        found = torch.zeros(len(wide))
        found[[slot.place for slot in self._slots]] = torch.tensor(values, dtype=found.dtype)
        return found.view(-1, *[1] * (wide.ndim - 1)).to(wide.device)

    def _momentum_buffer(self, name: str, wide: torch.Tensor) -> torch.Tensor:
        """Return the momentum of all probes; it is zero where there was none yet."""
        buffer = torch.zeros_like(wide)
        for each, slot in zip(self._optimizers, self._slots, strict=True):
            state = each.state_of(name)
            if (before := state.get("momentum_buffer")) is not None:
                buffer[slot.place] = before
            state["momentum_buffer"] = buffer[slot.place]
        return buffer


def _laid_out(value: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
    """Return a gradient or an entry of the state with the rows and memory format of its parameter.

    Rows that the parameter has gained since are zero: only last layers grow, at the end of their
    first axis. torch's fused kernels read gradients and state as if they lay in memory like the
    parameter.
    """
    missing = len(parameter) - len(value) if value.ndim and parameter.ndim else 0
    if missing > 0 and value.shape[1:] == parameter.shape[1 : value.ndim]:
        value = torch.cat([value, value.new_zeros(missing, *value.shape[1:])])
    if value.shape != parameter.shape or value.stride() == parameter.stride():
        return value
    return torch.empty_like(parameter, dtype=value.dtype, requires_grad=False).copy_(value)
