from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cells import COVERING, is_cheap, name, tiny

import onward
from onward.benchmarks import BENCHMARKS
from onward.benchmarks.rules import rules
from onward.benchmarks.variants import as_asked
from onward.checks import check_method, check_stream, tiny_benchmark
from onward.checks.tiny_editions import tiny_for, tiny_like
from onward.errors import LookAheadError, OnwardError
from onward.grid import Cell
from onward.report.sheet import sheets
from onward.results.check_many import Checked, check_results
from onward.results.read import find_folders
from onward.types import Budget, View

# What is cheap, and is not online: there labels cannot come late.
CELLS = [
    cell
    for cell in COVERING
    if is_cheap(tiny(cell.method, cell.benchmark)) and cell.benchmark != "clad-c"
]
AT_ONCE = (
    "runs_to_the_end",
    "asks_only_for_the_present",
    "predict_changes_nothing",
    "reads_only_what_it_is_shown",
    "keeps_only_what_it_holds",
    "sees_only_the_past",
)


@pytest.mark.parametrize("delay", [1, 3])
@pytest.mark.parametrize("protocol", ["streaming", "iid", "semi_supervised"])
def test_labels_come_late_and_samples_wait_for_them(protocol: str, delay: int) -> None:
    usual = onward.load("clear", protocol=protocol).stream(1)
    stream = onward.load("clear", protocol=protocol, label_delay=delay).stream(1)
    assert [len(period.train) for period in stream[:delay]] == [0] * delay
    for period, before in zip(stream, usual, strict=True):
        np.testing.assert_array_equal(period.test.rows, before.test.rows)
        assert period.classes == before.classes
        if period.index >= delay:
            told = usual[period.index - delay]
            np.testing.assert_array_equal(period.train.rows, told.train.rows)
            np.testing.assert_array_equal(period.train.labels, told.train.labels)
        first = max(period.index - delay + 1, 0)
        waiting = [one.train.rows for one in usual[first : period.index + 1]]
        assert set(period.unlabelled) == {*np.concatenate([before.unlabelled, *waiting])}
        assert not set(period.train.rows) & set(period.unlabelled)
    for mine, before in zip(stream.undelayed, usual, strict=True):
        np.testing.assert_array_equal(np.sort(mine.shown), np.sort(before.shown))


class Patient:
    """Remembers what it was shown with a label, and tries to read those that are to come."""

    seen: list[tuple[int, int]] = []  # noqa: RUF012 - a run copies its learner

    def learn(self, view: View, budget: Budget) -> None:
        waiting = view.unlabelled
        Patient.seen.append((len(view), len(waiting)))
        with pytest.raises(LookAheadError, match="without labels"):
            _ = waiting.labels

    def predict(self, view: View) -> np.ndarray:
        return np.zeros(len(view), np.int64)


def test_a_learner_is_shown_the_newest_samples_without_their_labels() -> None:
    Patient.seen.clear()
    usual = onward.load("clear", protocol="iid").stream(0)
    record = onward.run(onward.load("clear", protocol="iid", label_delay=2), Patient)
    sizes = [len(period.train) for period in usual]
    assert Patient.seen == [
        (sizes[at], sizes[at + 1] + sizes[at + 2]) for at in range(len(sizes) - 2)
    ]
    filled = ~np.isnan(record.matrix())
    assert not filled[:2].any()
    assert filled[2:].all()


@pytest.mark.parametrize("name", ["clear", "iirc", "tic", "yours", "clad-d"])
def test_a_delayed_stream_passes_the_checks_of_streams(name: str) -> None:
    report = check_stream(as_asked(tiny_like(BENCHMARKS[name]), label_delay=1))
    assert report.ok, str(report)


@pytest.mark.parametrize("cell", [pytest.param(cell, id=name(cell)) for cell in CELLS])
def test_every_method_learns_from_labels_that_come_late(cell: Cell) -> None:
    made = as_asked(tiny(cell.method, cell.benchmark), label_delay=1)
    matrix = onward.run(made, cell.method).matrix()
    assert np.isnan(matrix[0]).all()
    assert np.isfinite(matrix[-1]).any() or made.protocol.tests == "future"
    assert np.isfinite(matrix[1:]).any()


def test_a_method_looks_at_nothing_ahead_under_a_delay() -> None:
    made = as_asked(tiny_benchmark("iid"), label_delay=1)
    report = check_method("er", benchmark=made, only=AT_ONCE)
    assert report.ok, str(report)
    assert not [finding for finding in report if finding.status == "skipped"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["er", "cumulative", "lwf", "pretrain_probe", "patching"])
@pytest.mark.parametrize("delay", [1, 2])
def test_methods_pass_all_checks_under_a_delay(method: str, delay: int) -> None:
    made = as_asked(tiny_for(method), label_delay=delay)
    report = check_method(method, benchmark=made)
    assert report.ok, str(report)


def test_the_spec_the_folder_and_the_report_have_the_delay(tmp_path: Path) -> None:
    for delay in (0, 1):
        made = onward.load("clear", protocol="streaming", label_delay=delay)
        onward.run(made, "nap", out=tmp_path)
    folders = list(find_folders(tmp_path))
    assert len(folders) == 2
    assert check_results(folders, rules=rules()) == Checked(2, (), ())
    found = {one.spec.label_delay: one for one in onward.report.read(tmp_path)}
    assert found[1].spec.benchmark_options == {"label_delay": 1}
    # The first score of a delayed run is that of the second period: none is lost in a mean.
    late, usual = (found[delay].metrics["next_domain"].mean for delay in (1, 0))
    assert 0.3 < late < usual
    titles = [" ".join(sheet.title) for sheet in sheets(list(found.values()))]
    assert sum("labels 1 period late" in title for title in titles) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "online"}, "would tell where it ends"),
        ({"protocol": "offline"}, "when all labels are there"),
        ({"label_delay": -1}, "0 or more whole periods"),
        ({"label_delay": 1.5}, "0 or more whole periods"),
        ({"label_delay": 7}, "1 to 6 periods late"),
    ],
)
def test_delays_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        onward.load("clear", **{"label_delay": 1, **options}).stream(0)


def test_complete_information_cannot_wait() -> None:
    with pytest.raises(OnwardError, match="would wait for theirs"):
        onward.load("iirc", protocol="complete", label_delay=1)
