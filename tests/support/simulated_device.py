"""A simulated accelerator: shows on a machine without a GPU where a program mixes up its devices.

The device ``simulated:0`` is torch's PrivateUse1. Its tensors are a wrapper subclass around a CPU
tensor, so that everything computes real numbers, and operators raise where those of CUDA do:

- operands on the device and on the CPU, unless the CPU's are numbers (0 dimensions) that are read;
  as on CUDA, a device tensor takes indices on the CPU;
- a generator of the CPU that is to draw numbers on the device;
- ``.numpy()`` and `np.asarray` of a device tensor.

Autograd, `torch.func`, optimizers and in-place operators work. What it cannot show: a full memory,
autocast, kernels that CUDA lacks, several devices, asynchronous execution, and random numbers of
the device itself, which are drawn from the generator of the CPU.

    with simulated_device() as device:
        model.to(device)
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import torch
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import (
    _DummyBackendModule,
    _setup_privateuseone_for_python_backend,
)


class _Backend(_DummyBackendModule):
    """What torch asks a device for."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """Return the types of autocast."""
        return [torch.bfloat16, torch.float16]


NAME = "simulated"
if not hasattr(torch, NAME):  # pytest also imports this file to look for examples in it
    _setup_privateuseone_for_python_backend(NAME, _Backend())
DEVICE = torch.device(NAME, 0)

_CPU = torch.device("cpu")
_ATEN = torch.ops.aten
_COPIES = frozenset({_ATEN.copy_.default, _ATEN._to_copy.default})
# Operators of (tensor, indices, values): the indices may be on the CPU.
_INDEXING = frozenset(
    {
        _ATEN.index.Tensor,
        _ATEN._unsafe_index.Tensor,
        _ATEN.index_put.default,
        _ATEN.index_put_.default,
        _ATEN._index_put_impl_.default,
        _ATEN._unsafe_index_put.default,
    }
)


class SimulatedTensor(torch.Tensor):
    """A tensor on the device.

    Parameters
    ----------
    cpu_values
        The CPU tensor that holds its numbers; views of one share its memory.
    """

    cpu_values: torch.Tensor

    @staticmethod
    def __new__(cls: type[Self], cpu_values: torch.Tensor) -> Self:
        """Wrap a CPU tensor."""
        made: Self = torch.Tensor._make_wrapper_subclass(
            cls,
            cpu_values.size(),
            strides=cpu_values.stride(),
            storage_offset=cpu_values.storage_offset(),
            dtype=cpu_values.dtype,
            device=DEVICE,
        )
        made.cpu_values = cpu_values
        return made

    @property
    def data(self) -> torch.Tensor:
        """The tensor without its graph."""
        return self.detach()

    @data.setter
    def data(self, other: torch.Tensor) -> None:
        if not isinstance(other, SimulatedTensor):
            raise _mixed("setting .data")
        torch.Tensor.data.__set__(self, other)  # type: ignore[attr-defined]
        # Torch exchanges what it knows of the tensor, which is not its attributes.
        self.cpu_values = other.cpu_values

    def numpy(self, **_: Any) -> Any:
        """Refuse: numpy's arrays are in the memory of the CPU."""
        raise TypeError(
            f"can't convert {DEVICE} device type tensor to numpy. Use Tensor.cpu() to copy the "
            "tensor to host memory first."
        )

    def tolist(self) -> Any:
        """Return its numbers, which torch does not of a subclass."""
        return self.cpu_values.tolist()

    def __repr__(self, *, tensor_contents: Any = None) -> Any:  # type: ignore[override]
        return f"{NAME}:{self.cpu_values!r}"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            copied: Any = SimulatedTensor(self.cpu_values.clone())
            if isinstance(self, torch.nn.Parameter):
                copied = torch.nn.Parameter(copied, requires_grad=self.requires_grad)
            memo[id(self)] = copied.requires_grad_(self.requires_grad)
        return memo[id(self)]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Compute an operator."""
        return _computed(func, args, dict(kwargs or {}))


@contextmanager
def simulated_device() -> Iterator[torch.device]:
    """Let tensors be made on the device, which the context returns, for as long as it lasts."""
    before = torch._C._only_lift_cpu_tensors()
    # `torch.tensor(..., device=...)` then makes a CPU tensor and copies it.
    torch._C._set_only_lift_cpu_tensors(True)
    try:
        with _MakesTensors():  # type: ignore[no-untyped-call]
            yield DEVICE
    finally:
        torch._C._set_only_lift_cpu_tensors(before)


class _MakesTensors(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Brings operators here that no tensor of the device is an operand of."""

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Compute an operator."""
        return _computed(func, args, dict(kwargs or {}))


def _computed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what an operator returns, computed on the CPU, on the device that it belongs to."""
    operands = [leaf for leaf in tree_leaves((args, kwargs)) if leaf is not None]
    ours = any(isinstance(operand, SimulatedTensor) for operand in operands)
    wanted = kwargs.get("device")
    on_device = ours if wanted is None else torch.device(wanted).type == NAME
    if ours and func not in _COPIES:
        _require_one_device(func, args, kwargs)
    if on_device and any(isinstance(operand, torch.Generator) for operand in operands):
        raise RuntimeError(
            f"Expected a '{NAME}' device type for generator but found 'cpu' (in {func})"
        )
    inner_args, inner_kwargs = tree_map(_on_cpu, (args, kwargs))
    found = func(*inner_args, **inner_kwargs)
    if func is _ATEN.copy_.default:
        return args[0]
    if not on_device:
        return found
    wrapped = tree_map(_on_device, found)
    if not ours or func is _ATEN._to_copy.default:
        return wrapped
    return return_and_correct_aliasing(  # type: ignore[no-untyped-call]
        func, args, kwargs, wrapped
    )


def _require_one_device(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise if an operator of CUDA would not take CPU tensors at these places."""
    for name, given in [*zip(_names(func), args, strict=False), *kwargs.items()]:
        if func in _INDEXING and name == "indices" and isinstance(args[0], SimulatedTensor):
            continue
        for operand in tree_leaves(given):
            on_cpu = isinstance(operand, torch.Tensor) and operand.device == _CPU
            if on_cpu and (operand.dim() or name in _written(func)):
                raise _mixed(f"operand {name} of {func}")


def _mixed(where: str) -> RuntimeError:
    return RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{DEVICE} and cpu! ({where})"
    )


@functools.cache
def _names(func: Any) -> tuple[str, ...]:
    """Return the names of an operator's arguments."""
    return tuple(argument.name for argument in func._schema.arguments)


@functools.cache
def _written(func: Any) -> frozenset[str]:
    """Return the names of the arguments that an operator writes to."""
    arguments = func._schema.arguments
    return frozenset(a.name for a in arguments if a.alias_info and a.alias_info.is_write)


def _on_cpu(operand: Any) -> Any:
    if isinstance(operand, SimulatedTensor):
        return operand.cpu_values
    is_device = isinstance(operand, torch.device) and operand.type == NAME
    return _CPU if is_device else operand


def _on_device(found: Any) -> Any:
    is_cpu = isinstance(found, torch.Tensor) and not isinstance(found, SimulatedTensor)
    return SimulatedTensor(found) if is_cpu else found
