import json

import pytest

from onward.checks.report import CheckFailed, Skipped, expected, run_checks
from onward.errors import LookAheadError, OnwardError


def holds(subject: int) -> str:
    """Everything is in order."""
    return f"seen {subject}"


def breaks(subject: int) -> None:
    """Nothing is in order."""
    raise expected("one", "two", "Count again")


def errs(subject: int) -> None:
    """No error comes up."""
    raise LookAheadError("too early")


def is_left_out(subject: int) -> None:
    """Somewhere else it applies."""
    raise Skipped("not here")


CHECKS = (holds, breaks, errs, is_left_out)


def test_every_check_is_made_and_told() -> None:
    report = run_checks("thing", "x", 3, CHECKS, only=None, raise_on_failure=False)
    assert [finding.status for finding in report] == ["passed", "failed", "failed", "skipped"]
    assert report[0].detail == "seen 3"
    assert report[1].detail == "expected one; found two. Count again"
    assert report[2].detail == "too early"
    assert not report.ok
    assert json.loads(json.dumps(report.to_json()))["findings"][3]["detail"] == "not here"


def test_a_report_prints_as_a_table() -> None:
    lines = str(run_checks("thing", "x", 3, CHECKS, only=None, raise_on_failure=False)).splitlines()
    assert lines[0] == "thing x: 1 passed, 2 failed, 1 skipped"
    assert lines[3].split() == ["failed", "breaks", "Nothing", "is", "in", "order."]


def test_failures_are_raised_together_once_all_checks_are_made() -> None:
    with pytest.raises(CheckFailed, match="thing x fails 2 of 4 checks") as failure:
        run_checks("thing", "x", 3, CHECKS, only=None, raise_on_failure=True)
    assert "breaks: expected one" in str(failure.value)
    assert failure.value.report is not None
    assert len(failure.value.report) == 4
    assert isinstance(failure.value, AssertionError)


def test_some_checks_can_be_chosen() -> None:
    report = run_checks("thing", "x", 3, CHECKS, only=("holds",), raise_on_failure=True)
    assert [finding.check for finding in report] == ["holds"]
    with pytest.raises(OnwardError, match="Did you mean 'breaks'"):
        run_checks("thing", "x", 3, CHECKS, only=("break",), raise_on_failure=True)
