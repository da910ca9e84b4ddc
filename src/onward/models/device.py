"""Devices, precision and threads: what a model computes on."""

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from onward.errors import OnwardError

_TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def resolve_device(name: str) -> torch.device:
    """Return a device by its name; ``auto`` is the best one of this machine.

    Where several processes of a run share a machine, each takes the GPU of its local rank.
    """
    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if name == "auto":
        name = "cuda" if cuda else ("mps" if mps else "cpu")
    if name == "cuda" and cuda:
        return torch.device(
            "cuda", int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count()
        )
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise OnwardError(
            f"expected the name of a device, such as cuda:0, found {name!r}"
        ) from error
    there = {"cpu": True, "mps": mps, "cuda": cuda}.get(device.type, True)
    if device.type == "cuda" and cuda:
        there = (device.index or 0) < torch.cuda.device_count()
    if not there:
        gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        found = [*gpus, *["mps"] * mps, "cpu"]
        raise OnwardError(
            f"expected the device {name}, found {', '.join(found)}. Choose one of these, or "
            "--device auto"
        )
    return device


def require_precision(device: torch.device, precision: str) -> None:
    """Raise if a device cannot compute in a precision; warn if it is slow at it."""
    if precision == "fp16" and device.type == "cpu":
        raise OnwardError(
            "expected the precision fp32 or bf16 on a CPU, found fp16. Choose one of these"
        )
    if precision == "fp64" and device.type == "mps":
        raise OnwardError("expected the precision fp32, bf16 or fp16 on MPS, found fp64")
    if precision != "bf16":
        return
    if device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        raise OnwardError(
            f"expected a precision that {torch.cuda.get_device_name(device)} computes in, found "
            "bf16. Choose fp16 or fp32"
        )
    if device.type == "cpu" and not cpu_has_bf16():
        warnings.warn(
            "this processor has no instructions for bf16: training will be many times slower than "
            "with --precision fp32",
            stacklevel=2,
        )


def cpu_has_bf16() -> bool:
    """Whether the processor has instructions for products of bfloat16 numbers."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported()) and bool(
        torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    )


def autocast(device: torch.device, precision: str) -> contextlib.AbstractContextManager[Any]:
    """Compute matrix products and convolutions in 16 bits; weights stay as they are."""
    if precision not in _TYPES:
        return contextlib.nullcontext()
    return torch.autocast(device.type, _TYPES[precision])


@contextlib.contextmanager
def computing(threads: int = 1) -> Iterator[None]:
    """Compute on so many threads, without gradients unless they are asked for.

    Numbers below 1e-38 become zero: gradients of samples that are learned are that small, and a
    processor may compute with them ten times as slowly.
    """
    before, flushed = torch.get_num_threads(), float(torch.tensor(1e-40) * 0.5) == 0.0
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_num_threads(before)
        torch.set_flush_denormal(flushed)


def peak_memory(device: torch.device) -> int:
    """Return the most bytes that were allocated on a device; 0 on the CPU."""
    return int(torch.cuda.max_memory_allocated(device)) if device.type == "cuda" else 0


def reset_peak_memory(device: torch.device) -> None:
    """Let `peak_memory` count from now on."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def device_name(device: torch.device) -> str | None:
    """Return the model of a GPU, such as ``NVIDIA A100-SXM4-40GB``; None for other devices."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else None


def explained(error: Exception) -> Exception:
    """Return the error of a full memory or of a lost data worker with advice, others as they are.

    A worker that was killed is reported by a signal, at any place of the training process.
    """
    # "Caught ...": an exception inside a worker, which goes on.
    is_lost = "DataLoader worker" in str(error) and not str(error).startswith("Caught ")
    if isinstance(error, RuntimeError) and is_lost:
        lost = OnwardError(
            "expected the processes that read batches to continue, and one has ended: it may have "
            "run out of memory, or of shared memory (/dev/shm). Run the same command again with "
            "fewer --workers: it resumes from the last checkpoint"
        )
        lost.__cause__ = error
        return lost
    is_cpu = "can't allocate memory" in str(error)
    if not isinstance(error, torch.OutOfMemoryError) and not is_cpu:
        return error
    where = "the machine" if is_cpu else "the device"
    first = str(error).splitlines()[0]
    found = OnwardError(
        f"expected a training step to fit in the memory of {where}, found that it does not "
        f"({first}). Lower batch_size or image_size, choose --precision bf16, or, for networks "
        "without batch normalization, set micro_batch_size, which keeps the gradient as it is"
    )
    found.__cause__ = error
    return found
