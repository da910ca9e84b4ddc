from pathlib import Path
from typing import Any

import leaky_learners
import pytest
from leaks import LEAKS, Leak

from onward.checks import CheckFailed, check_method, tiny_benchmark
from onward.types import View

HONEST = (
    (leaky_learners.Centroids, "iid"),
    (leaky_learners.SavingCentroids, "online"),
    (leaky_learners.SeededCentroids, "streaming"),
)


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: f"{leak.name}-{leak.caught_by}")
def test_a_planted_leak_is_caught(
    leak: Leak, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(View, "__init__", View.__init__)  # some replace it; this puts it back
    report = leak.check(tmp_path, (leak.caught_by,))
    assert [finding.check for finding in report.failed] == [leak.caught_by]


@pytest.mark.parametrize(("method", "protocol"), HONEST)
def test_an_honest_learner_passes(method: Any, protocol: str, tmp_path: Path) -> None:
    assert check_method(method, tiny_benchmark(protocol, tmp_path)).ok


def test_a_failure_says_which_check_what_was_found_and_what_to_do() -> None:
    with pytest.raises(CheckFailed, match="LabelsInPredict fails 2 of 20 checks") as failure:
        check_method(leaky_learners.LabelsInPredict)
    text = str(failure.value)
    assert "asks_only_for_the_present: expected a learner that asks for what it may see" in text
    assert "Predict from view.inputs()" in text
    assert not failure.value.report.ok
