"""The check of a device finds what computes something else there, and what cannot be resumed."""

import importlib.util
from typing import Any

import pytest
import torch

from onward.checks import DeviceReport, check_device
from onward.checks.device_plan import cases
from onward.checks.device_runs import Traced, largest_difference
from onward.errors import OnwardError
from onward.train.learner import GradientLearner
from onward.train.optimizers import ModelOptimizer

# The CPU under another name: it is compared as any other device is.
OTHER = "cpu:0"
SMALL: dict[str, Any] = {"models": ["linear", "mlp"], "methods": ["finetune", "er"]}


def statuses(found: DeviceReport) -> list[str]:
    return [row.status for row in found.rows]


def plant(monkeypatch: pytest.MonkeyPatch, act: Any, model: str = "mlp") -> None:
    """Let a model do something else on the other device."""
    original = GradientLearner._new_model

    def changed(self: GradientLearner, classes: int) -> Any:
        made = original(self, classes)
        if self.setting.hardware.device == OTHER and self.setting.recipe.model == model:
            made.register_forward_hook(act)
        return made

    monkeypatch.setattr(GradientLearner, "_new_model", changed)


def test_repeats_on_the_cpu_are_equal_and_measured() -> None:
    found = check_device("cpu", **SMALL)
    assert found.ok
    assert found.verdict == "All 4 rows passed on cpu in fp32."
    for row in found.rows:
        assert (row.status, row.difference, row.resume, row.message) == ("passed", 0, "equal", "")
        assert row.samples_per_second is not None
        assert row.samples_per_second > 0
        assert row.waiting_share is not None
        assert 0 <= row.waiting_share < 1
        assert row.peak_memory_bytes is not None
        assert row.peak_memory_bytes > 1e6
        assert row.seconds > 0


def test_images_boxes_and_pairs_are_checked() -> None:
    found = check_device("cpu", models=["convnet", "small_rcnn", "clip_small"], quick=True)
    assert [row.data for row in found.rows] == ["images", "boxes", "pairs"]
    assert found.ok, [row.message for row in found.rows]


def test_data_loading_workers_change_nothing() -> None:
    assert check_device("cpu", workers=1, models=["convnet"], quick=True).ok


def test_another_device_is_compared_with_the_cpu() -> None:
    found = check_device(OTHER, **SMALL)
    assert found.ok
    assert {row.tolerance for row in found.rows} == {0.001}
    assert {row.resume for row in found.rows} == {"equal"}


def test_a_model_that_computes_something_else_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, lambda module, inputs, outputs: outputs * 1.5)
    found = check_device(OTHER, **SMALL)
    assert statuses(found) == ["passed", "passed", "failed", "failed"]
    assert "expected outputs within 0.001 of those of the CPU, found" in found.rows[2].message
    assert not found.ok
    assert found.verdict == "2 of 4 rows failed on cpu:0 in fp32."


def test_a_model_that_is_not_deterministic_fails_on_the_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original, factors = GradientLearner._new_model, iter(range(1, 100))

    def changed(self: GradientLearner, classes: int) -> Any:
        made, factor = original(self, classes), next(factors)
        made.register_forward_hook(lambda module, inputs, outputs: outputs * factor)
        return made

    monkeypatch.setattr(GradientLearner, "_new_model", changed)
    (row,) = check_device("cpu", models=["mlp"], methods=["finetune"]).rows
    assert row.status == "failed"
    assert "expected a repeat with the same outputs and state, found others" in row.message


def test_repeats_that_differ_in_the_last_bits_are_told_from_a_lost_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator = torch.Generator().manual_seed(0)

    def noisy(module: Any, inputs: Any, outputs: torch.Tensor) -> torch.Tensor:
        return outputs * (1 + 1e-6 * torch.rand(1, generator=generator))

    plant(monkeypatch, noisy)
    found = check_device(OTHER, models=["mlp"], methods=["finetune"])
    assert (found.ok, found.rows[0].resume) == (True, "as repeats")
    assert found.verdict.endswith("Repeats of 1 of them are not bit-identical on this device.")


@pytest.mark.parametrize("device", ["cpu", OTHER])
def test_a_state_that_is_lost_on_resume_fails(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    monkeypatch.setattr(ModelOptimizer, "_restore", lambda self, state: None)
    (row,) = check_device(device, models=["mlp"], methods=["finetune"]).rows
    assert (row.status, row.resume) == ("failed", "differs")
    assert "expected equal bytes from a run that was interrupted" in row.message


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            NotImplementedError("the operator aten::x is not there\nmore"),
            "NotImplementedError: the",
        ),
        (torch.OutOfMemoryError("CUDA out of memory"), "expected a training step to fit"),
    ],
)
def test_an_error_fails_one_row_and_not_the_others(
    monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
) -> None:
    def broken(module: Any, inputs: Any, outputs: Any) -> None:
        raise error

    plant(monkeypatch, broken)
    found = check_device(OTHER, models=["mlp", "linear"], methods=["finetune"])
    assert statuses(found) == ["failed", "passed"]
    assert message in found.rows[0].message
    assert "\n" not in found.rows[0].message


def test_models_of_packages_that_are_missing_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec

    def found(name: str, *args: Any) -> Any:
        return None if name == "timm" else there(name, *args)

    monkeypatch.setattr(importlib.util, "find_spec", found)
    report = check_device("cpu", models=["timm:resnet10t", "linear"], methods=["finetune"])
    assert statuses(report) == ["skipped", "passed"]
    assert report.rows[0].message == "timm is not installed"
    assert report.verdict == "All 1 row passed on cpu in fp32, 1 skipped."


def test_every_kind_of_model_is_in_the_plan_and_large_ones_only_where_asked() -> None:
    plain = cases([], [], quick=False, large=False)
    assert {case.data for case in plain} == {"points", "images", "boxes", "pairs"}
    large = set(map(str, cases([], [], quick=False, large=True))) - set(map(str, plain))
    assert large == {"resnet18, finetune"}
    assert len(cases([], [], quick=True, large=False)) == len({case.model for case in plain})


def test_methods_are_run_with_the_models_that_they_fit() -> None:
    assert [str(case) for case in cases([], ["d2"], quick=False, large=False)] == ["small_rcnn, d2"]
    with pytest.raises(OnwardError, match="expected methods that fit one of the models"):
        cases(["linear"], ["d2"], quick=False, large=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "cuda:99"}, "expected the device cuda:99, found"),
        ({"device": "gpu"}, "expected the name of a device"),
        ({"precision": "fp8"}, "expected a precision of fp32"),
        ({"device": "cpu", "precision": "fp16"}, "expected the precision fp32 or bf16 on a CPU"),
        ({"models": ["resnet19"]}, "unknown model"),
        ({"methods": ["finetun"]}, "unknown method"),
    ],
)
def test_mistakes_are_refused_before_any_run(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        check_device(**options)


def test_differences_are_a_share_of_the_largest_output() -> None:
    def run(*values: float) -> Traced:
        return Traced({0: torch.tensor([values]).numpy()})

    assert largest_difference(run(1.0, -4.0), run(1.0, -4.0)) == 0
    assert largest_difference(run(1.0, -4.0), run(3.0, -4.0)) == pytest.approx(0.5)
    assert largest_difference(run(0.0, 0.0), run(0.0, 0.1)) == float("inf")
    assert largest_difference(run(1.0, 2.0), run(1.0, float("nan"))) == float("inf")
    assert largest_difference(run(1.0, 2.0), run(1.0)) == float("inf")
    assert largest_difference(run(1.0), Traced()) == float("inf")


def test_detections_in_another_order_are_the_same() -> None:
    rows = torch.tensor([[[0.0, 0.9, 1, 1, 2, 2], [1.0, 0.5, 1, 1, 2, 2], [-1.0, 7, 0, 0, 0, 0]]])
    one, other = Traced({0: rows.numpy()}), Traced({0: rows[:, [1, 0, 2]].numpy()})
    assert largest_difference(one, other) == 0
