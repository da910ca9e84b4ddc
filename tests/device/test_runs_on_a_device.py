"""What else a run may ask for works on a device: other runs beside it, workers, online learning."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interrupted import outputs_of, resumed_outputs_of
from simulated_device import DEVICE, NAME, simulated_device

import onward
from onward.benchmarks import retrained
from onward.checks import tiny_benchmark
from onward.checks.tiny_pairs import tiny_pairs
from onward.hardware import Hardware
from onward.together import Variant, run_together
from onward.turns import Event
from onward.types import Array, Benchmark


def there(benchmark: Benchmark) -> Benchmark:
    return replace(benchmark, hardware=Hardware(device=NAME))


@pytest.mark.parametrize("model", ["linear", "mlp"])
def test_runs_side_by_side_learn_what_they_learn_alone(model: str) -> None:
    benchmark = tiny_benchmark(model=model)
    # The second one follows the first, and the third one shares its batches.
    variants = [Variant("finetune"), Variant("lwf"), Variant("finetune", training={"lr": 0.03})]
    found: dict[Any, Array] = {}

    def watch(event: Event) -> None:
        if event.kind == "tested":
            changes = tuple(event.spec.recipe_changes)
            found[event.spec.method, changes, event.period] = np.asarray(event.outputs)

    with simulated_device():
        run_together(there(benchmark), variants, watch=watch)
    for variant in variants:
        alone = outputs_of(benchmark, variant.method, device="cpu", **variant.training)
        for period, expected in enumerate(alone):
            outputs = found[variant.method, tuple(variant.training), period]
            np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", ["ewc", "lwf", "cwr", "si", "agem", "patching"])
def test_an_online_run_keeps_the_state_of_its_optimizer(method: str) -> None:
    online = retrained(
        tiny_benchmark("online"), {"keep_optimizer_state": True, "momentum": 0.9, "ema_decay": 0.5}
    )
    on_cpu = outputs_of(online, method, device="cpu")
    with simulated_device():
        found = outputs_of(online, method, device=NAME)
    for outputs, expected in zip(found, on_cpu, strict=True):
        np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-5)


def test_batches_of_workers_are_moved_to_the_device() -> None:
    benchmark = retrained(tiny_pairs(), {"augment": "random_affine", "max_steps": 8})
    with simulated_device():
        alone, helped = (
            outputs_of(benchmark, "er", device=NAME, workers=workers) for workers in (0, 1)
        )
    for found, expected in zip(helped, alone, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_device_is_not_part_of_the_spec() -> None:
    specs = []

    def watch(event: Event) -> None:
        specs.append(event.spec.hash)

    with simulated_device():
        for device in ("cpu", NAME):
            onward.run(tiny_benchmark(), "nap", device=device, watch=watch)
    assert len({*specs}) == 1


def test_a_checkpoint_is_resumed_on_another_device(tmp_path: Path) -> None:
    benchmark = tiny_benchmark(model="mlp")
    whole = outputs_of(benchmark, "ewc", device="cpu", optimizer="adamw", lr=0.01)
    for first, second in (("cpu", NAME), (NAME, "cpu")):
        with simulated_device():
            resumed = resumed_outputs_of(
                benchmark,
                "ewc",
                tmp_path / first,
                device=first,
                resume_on=second,
                optimizer="adamw",
                lr=0.01,
            )
        for found, expected in zip(resumed, whole[-len(resumed) :], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_everything_of_a_learner_is_on_the_device_after_it_is_resumed(tmp_path: Path) -> None:
    learners: list[Any] = []

    def watch(event: Event) -> None:
        if event.kind == "learned":
            learners.append(event.learner)

    options = {"device": NAME, "keep_optimizer_state": True, "momentum": 0.9, "ema_decay": 0.9}
    with simulated_device():
        onward.run(tiny_benchmark(), "ewc", watch=watch, **options)
        (last,) = {id(learner): learner for learner in learners}.values()
        last.save(tmp_path)
        fresh = type(last)(type(last.method)(), last.setting)
        fresh.load(tmp_path)
        parts = {
            "model": fresh._model.state_dict(),
            "average": fresh._average.weights,
            "optimizer": fresh._optimizer_state,
            "importance": fresh.method._anchor.importance,
        }
    for part, tensors in parts.items():
        assert tensors, part
        for name, values in tensors.items():
            assert values.device == DEVICE, (part, name)


def test_pre_training_and_its_probe_compute_on_the_device() -> None:
    benchmark = retrained(tiny_benchmark("semi_supervised", images=True), {"epochs": 1})
    on_cpu = outputs_of(benchmark, "pretrain_probe", device="cpu")
    with simulated_device():
        found = outputs_of(benchmark, "pretrain_probe", device=NAME)
    for outputs, expected in zip(found, on_cpu, strict=True):
        np.testing.assert_allclose(outputs, expected, rtol=1e-3, atol=1e-3)
