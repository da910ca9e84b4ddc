"""The worked example of the page about methods: DER++."""

import ast
import runpy
from typing import Any

import numpy as np
import pytest
import torch
from blocks import ROOT, blocks, written_pages
from torch.nn.functional import cross_entropy, mse_loss

import onward
from onward.benchmarks import BENCHMARKS
from onward.checks.tiny_editions import tiny_like
from onward.train.method import Batch

EXAMPLE = ROOT / "examples" / "derpp.py"
RESUMED = "resumed_runs_equal_uninterrupted_ones"
MOST_STATEMENTS = 23


@pytest.mark.parametrize("name", ["clear", "iirc", "clad-c"])
def test_derpp_runs_and_resumes_exactly(name: str) -> None:
    benchmark = tiny_like(BENCHMARKS[name])
    report = onward.checks.check_method(f"{EXAMPLE}:DERpp", benchmark, only=[RESUMED])
    assert [(found.check, found.status) for found in report] == [(RESUMED, "passed")]


def test_derpp_matches_stored_logits_and_learns_stored_labels() -> None:
    replayed: list[int] = []
    unknown: list[bool] = []

    class Watched(runpy.run_path(str(EXAMPLE))["DERpp"]):  # type: ignore[misc]
        def compute_loss(self, batch: Batch) -> Any:
            before = self._logits.copy()
            loss = super().compute_loss(batch)
            new, outputs, targets = batch.num_new, batch.outputs, batch.targets
            expected = cross_entropy(outputs[:new], targets[:new])
            if len(outputs) > new:
                half = (new + len(outputs)) // 2
                stored = torch.from_numpy(before[batch.positions[new:half]])
                known = ~stored.isnan()
                distance = mse_loss(outputs[new:half][known], stored[known], reduction="sum")
                expected = expected + self.alpha * distance / stored.numel()
                expected = expected + self.beta * cross_entropy(outputs[half:], targets[half:])
                replayed.append(len(outputs) - new)
                unknown.append(not known.all())
            torch.testing.assert_close(loss, expected)
            np.testing.assert_array_equal(
                self._logits[batch.positions[:new]], outputs[:new].detach()
            )
            return loss

    # A class arrives with the third of its periods.
    onward.run(onward.checks.tiny_benchmark(), Watched)
    assert replayed
    assert any(unknown)
    assert not all(unknown)


def test_derpp_is_short() -> None:
    (method,) = (n for n in ast.parse(EXAMPLE.read_text()).body if isinstance(n, ast.ClassDef))
    functions = [n for n in method.body if isinstance(n, ast.FunctionDef)]
    statements = [n for f in functions for part in f.body for n in ast.walk(part)]
    docstrings = sum(ast.get_docstring(function) is not None for function in functions)
    found = sum(isinstance(node, ast.stmt) for node in statements) - docstrings
    assert found <= MOST_STATEMENTS


def test_the_page_shows_the_example() -> None:
    page = "docs/howto/method.md"
    shown = {block.said.get("file"): block.text for block in blocks(page, written_pages()[page])}
    assert shown["derpp.py"] == EXAMPLE.read_text()
