"""Where a model computes, in which precision, on how many threads, and with how much memory."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from small_models import generator, grad_copies, inputs_for, made

import onward
from onward.benchmarks import retrained
from onward.checks import tiny_benchmark
from onward.errors import OnwardError
from onward.hardware import Hardware
from onward.models import MODELS
from onward.models.device import (
    computing,
    explained,
    peak_memory,
    require_precision,
    resolve_device,
)
from onward.models.model import Model
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.tasks.image_text import ImageText
from onward.train.method import Batch, Method

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A machine without a GPU, which a test may give some."""
    found = SimpleNamespace(gpus=0, mps=False, bf16=False)
    for name, answer in {
        "is_available": lambda: found.gpus > 0,
        "device_count": lambda: found.gpus,
        "is_bf16_supported": lambda including_emulation=True: found.bf16 or including_emulation,
        "get_device_name": lambda device=None: "Tesla T4",
        "max_memory_allocated": lambda device=None: 1234,
    }.items():
        monkeypatch.setattr(torch.cuda, name, answer)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: found.mps)
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    return found


@pytest.mark.parametrize(
    ("gpus", "mps", "expected"),
    [(0, False, "cpu"), (0, True, "mps"), (1, False, "cuda:0"), (2, True, "cuda:0")],
)
def test_auto_is_the_best_device_of_the_machine(
    machine: SimpleNamespace, gpus: int, mps: bool, expected: str
) -> None:
    machine.gpus, machine.mps = gpus, mps
    assert resolve_device("auto") == torch.device(expected)


@pytest.mark.parametrize("name", ["auto", "cuda"])
@pytest.mark.parametrize(("gpus", "rank", "expected"), [(4, 3, 3), (2, 3, 1), (1, 0, 0)])
def test_each_process_takes_the_gpu_of_its_local_rank(
    machine: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    gpus: int,
    rank: int,
    expected: int,
) -> None:
    machine.gpus = gpus
    monkeypatch.setenv("LOCAL_RANK", str(rank))
    assert resolve_device(name) == torch.device("cuda", expected)
    assert resolve_device("cuda:0") == torch.device("cuda", 0)


@pytest.mark.parametrize(
    ("name", "gpus", "found"),
    [
        ("cuda", 0, "found cpu. Choose"),
        ("cuda:2", 2, "found cuda:0, cuda:1, cpu. Choose"),
        ("mps", 1, "found cuda:0, cpu. Choose"),
    ],
)
def test_a_device_that_is_not_there_is_named_with_those_that_are(
    machine: SimpleNamespace, name: str, gpus: int, found: str
) -> None:
    machine.gpus = gpus
    with pytest.raises(OnwardError, match=f"expected the device {name}, {found}"):
        resolve_device(name)


def test_the_name_of_no_device_is_refused() -> None:
    with pytest.raises(OnwardError, match="expected the name of a device, such as cuda:0, found"):
        resolve_device("gpu:0")
    with pytest.raises(OnwardError, match="expected the device auto, cpu, cuda"):
        Hardware(device="cuda-0")
    assert Hardware(device="xpu:1").device == "xpu:1"


def test_a_device_that_is_not_there_stops_a_run_before_it_begins(machine: SimpleNamespace) -> None:
    with pytest.raises(OnwardError, match="expected the device cuda, found cpu"):
        onward.run(tiny_benchmark(), "finetune", device="cuda")


def test_fp16_needs_a_gpu() -> None:
    with pytest.raises(OnwardError, match="expected the precision fp32 or bf16 on a CPU"):
        require_precision(CPU, "fp16")
    with pytest.raises(OnwardError, match="expected the precision fp32 or bf16 on a CPU"):
        onward.run(tiny_benchmark(), "finetune", device="cpu", precision="fp16")
    require_precision(CUDA, "fp16")


def test_bf16_needs_a_gpu_that_computes_in_it(machine: SimpleNamespace) -> None:
    machine.gpus = 1
    with pytest.raises(OnwardError, match=r"that Tesla T4 computes in, found bf16\. Choose fp16"):
        require_precision(CUDA, "bf16")
    machine.bf16 = True
    require_precision(CUDA, "bf16")


@pytest.mark.parametrize(("mkldnn", "avx512", "amx"), [(False, True, True), (True, False, False)])
def test_bf16_warns_where_the_processor_has_no_instructions_for_it(
    monkeypatch: pytest.MonkeyPatch, mkldnn: bool, avx512: bool, amx: bool
) -> None:
    _set_instructions(monkeypatch, mkldnn=mkldnn, avx512=avx512, amx=amx)
    with pytest.warns(UserWarning, match="this processor has no instructions for bf16"):
        require_precision(CPU, "bf16")
    require_precision(CPU, "fp32")


@pytest.mark.parametrize(("avx512", "amx"), [(True, False), (False, True)])
def test_bf16_does_not_warn_where_it_has_them(
    monkeypatch: pytest.MonkeyPatch, avx512: bool, amx: bool
) -> None:
    _set_instructions(monkeypatch, mkldnn=True, avx512=avx512, amx=amx)
    require_precision(CPU, "bf16")


def _set_instructions(
    monkeypatch: pytest.MonkeyPatch, *, mkldnn: bool, avx512: bool, amx: bool
) -> None:
    operators: Any = torch.ops.mkldnn
    monkeypatch.setattr(operators, "_is_mkldnn_bf16_supported", lambda: mkldnn)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)


@pytest.mark.parametrize("name", ["linear", "linear-cosine", "mlp", "convnet"])
def test_a_model_computes_in_its_precision_and_returns_fp32(name: str) -> None:
    model = made(name)
    seen: list[torch.dtype] = []
    model.head.register_forward_hook(lambda layer, inputs, output: seen.append(output.dtype))
    for precision, expected in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        model.precision = precision
        with torch.enable_grad():
            outputs = model.train()(inputs_for(name))
        outputs.sum().backward()
        for found in (outputs, model.predict(inputs_for(name)), model.embed(inputs_for(name))):
            assert found.dtype == torch.float32
        # A cosine head ends in a product of numbers, whose type is that of the larger one.
        assert seen == [torch.float32 if name.endswith("cosine") else expected] * 2
        seen.clear()
        assert all(p.dtype == p.grad.dtype == torch.float32 for p in _with_gradient(model))
    assert not torch.is_autocast_enabled("cpu")


def _with_gradient(model: Model) -> list[Any]:
    return [p for p in model.parameters() if p.grad is not None]


def test_threads_are_restored() -> None:
    before = torch.get_num_threads()
    with computing(before + 1):
        assert torch.get_num_threads() == before + 1
        assert not torch.is_grad_enabled()
        with pytest.raises(ZeroDivisionError), computing(before + 2):
            raise ZeroDivisionError
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
    assert torch.is_grad_enabled()


def test_a_run_computes_on_the_threads_that_it_is_given() -> None:
    before, seen = torch.get_num_threads(), set()

    class Watching(Method):
        def compute_loss(self, batch: Batch) -> torch.Tensor:
            seen.add(torch.get_num_threads())
            return super().compute_loss(batch)

    onward.run(tiny_benchmark(), Watching, threads=before + 1, device="cpu")
    assert seen == {before + 1}
    assert torch.get_num_threads() == before


FULL = {
    "the device": torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB\nGPU 0 ..."),
    "the machine": RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 9 bytes"),
}


@pytest.mark.parametrize("where", FULL)
def test_a_full_memory_is_explained(where: str) -> None:
    error = FULL[where]
    found = explained(error)
    assert isinstance(found, OnwardError)
    assert found.__cause__ is error
    for part in (f"the memory of {where}", "Lower batch_size or image_size", "micro_batch_size"):
        assert part in str(found)
    assert "GPU 0" not in str(found)


def test_other_errors_stay_as_they_are() -> None:
    other = RuntimeError("mat1 and mat2 shapes cannot be multiplied")
    assert explained(other) is other


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def backward(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    with monkeypatch.context() as patched:
        patched.setattr(torch.Tensor, "backward", backward)
        yield


@pytest.mark.usefixtures("full")
def test_a_run_that_does_not_fit_in_memory_says_what_to_lower() -> None:
    with pytest.raises(OnwardError, match="expected a training step to fit in the memory"):
        onward.run(tiny_benchmark(), "lwf", device="cpu")


def test_the_peak_of_memory_is_known_of_gpus_alone(machine: SimpleNamespace) -> None:
    machine.gpus = 1
    assert peak_memory(CUDA) == 1234
    assert peak_memory(CPU) == 0


def test_grad_checkpointing_has_the_same_gradient() -> None:
    rng, shape = np.random.default_rng(0), (32, 32, 3)
    images = rng.integers(0, 256, (6, *shape), np.uint8)
    pairs = made_pairs(pair_type(shape, 20), images, [f"{n} foxes" for n in range(6)])
    found = []
    for grad_checkpointing in (False, True):
        model = MODELS["clip_small"](shape, 3, generator(), grad_checkpointing=grad_checkpointing)
        outputs = model(torch.from_numpy(as_bytes(pairs)))
        ImageText().loss(outputs, torch.arange(6)).backward()
        found.append(grad_copies(model))
        assert model.net.transformer.grad_checkpointing is grad_checkpointing
    torch.testing.assert_close(*found)


def test_only_clip_has_grad_checkpointing() -> None:
    emoji = onward.load("clear", data="emoji", protocol="streaming")
    with pytest.raises(OnwardError, match="grad_checkpointing = True, found linear"):
        onward.run(retrained(emoji, {"grad_checkpointing": True}), "finetune")
