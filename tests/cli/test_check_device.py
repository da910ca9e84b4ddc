"""``onward check device``, typed."""

import json
from typing import Any

import pytest
from terminal import Terminal

from onward.train.learner import GradientLearner

ONE = ("--models", "mlp", "--methods", "finetune,er")


def test_a_table_and_a_verdict_are_printed(onward: Terminal) -> None:
    code, out, err = onward("check", "device", "--device", "cpu", *ONE)
    assert (code, err) == (0, "")
    assert out.startswith("cpu · fp32 · 0 workers · 1 thread · torch ")
    for words in ("model", "method", "repeat", "resume", "samples", "wait", "memory", "equal"):
        assert words in out
    assert out.endswith("All 2 rows passed on cpu in fp32.\n")
    assert max(map(len, out.splitlines())) <= 100


def test_json_has_the_same_rows(onward: Terminal) -> None:
    code, out, _ = onward("check", "device", "--device", "cpu", "--threads", "2", *ONE, "--json")
    found = json.loads(out)
    assert (code, found["ok"], found["threads"], found["device"]) == (0, True, 2, "cpu")
    assert [(row["model"], row["method"]) for row in found["rows"]] == [
        ("mlp", "finetune"),
        ("mlp", "er"),
    ]
    assert {row["resume"] for row in found["rows"]} == {"equal"}
    assert "torch" in found["packages"]


def test_a_row_that_disagrees_ends_with_1(
    onward: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = GradientLearner._new_model

    def changed(self: GradientLearner, classes: int) -> Any:
        made = original(self, classes)
        if self.setting.hardware.device == "cpu:0":
            made.register_forward_hook(lambda module, inputs, outputs: -outputs)
        return made

    monkeypatch.setattr(GradientLearner, "_new_model", changed)
    code, out, _ = onward("check", "device", "--device", "cpu:0", *ONE)
    assert code == 1
    assert "failed mlp, finetune: expected outputs within 0.001 of those of the CPU" in out
    assert out.endswith("2 of 2 rows failed on cpu:0 in fp32.\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--device", "cuda:99"), "expected the device cuda:99, found"),
        (("--device", "cpu", "--precision", "fp16"), "expected the precision fp32 or bf16"),
        (("--methods", "finetun"), "Did you mean 'finetune'?"),
        (("--models", "resnet19"), "Did you mean 'resnet18'?"),
    ],
)
def test_a_mistake_ends_with_2_and_one_message(
    onward: Terminal, words: tuple[str, ...], message: str
) -> None:
    code, out, err = onward("check", "device", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_help_names_the_command(onward: Terminal) -> None:
    code, out, _ = onward("check", "--help")
    assert (code, "device" in out) == (0, True)
    code, out, _ = onward("check", "device", "--help")
    for option in ("--device", "--precision", "--workers", "--threads", "--models", "--methods"):
        assert option in out
