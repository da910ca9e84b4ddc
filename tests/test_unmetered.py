"""Learners that do not report their work: their cost is not 0, and they do not pass for others."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from terminal import Terminal

from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.errors import BudgetSpentError, OnwardError
from onward.loop import run
from onward.report.comparison import compare_methods, decided_best
from onward.report.formats import as_csv, to_json
from onward.report.leaderboard import leaderboard
from onward.report.sheet import sheets
from onward.report.summary import by_setting, summarise
from onward.report.terminal import tables
from onward.report.verdict import findings
from onward.results.collect import collect
from onward.results.cost import unmetered
from onward.results.schema import Cost
from onward.types import Array, View


class NearestMean:
    """A learner with computations of its own, of which it reports nothing."""

    def learn(self, view: View, budget: Budget) -> None:
        inputs, labels = view.inputs(), view.labels
        self.means = np.stack([inputs[labels == k].mean(0) for k in range(len(view.classes))])

    def predict(self, view: View) -> Array:
        return view.inputs() @ self.means.T - (self.means**2).sum(1) / 2


class Reporting(NearestMean):
    """The same, which says how many steps it takes."""

    metered = ("iterations",)

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        budget.spend(iterations=3)


class Rebinding(NearestMean):
    """A learner that gives itself another budget."""

    def learn(self, view: View, budget: Any) -> None:
        super().learn(view, budget)
        budget.limits = {}


class ReplacingPrivateLimits(NearestMean):
    """The same by a private attribute."""

    metered = ("iterations",)

    def learn(self, view: View, budget: Any) -> None:
        super().learn(view, budget)
        budget._limits = {}


class ReplacingTheCounter(NearestMean):
    """A learner that replaces what counts its work."""

    def learn(self, view: View, budget: Any) -> None:
        super().learn(view, budget)
        budget.spend = lambda **work: None


class DoesNothing(NearestMean):
    """A learner that reports all of its work, of which there is none."""

    metered = ("iterations",)


class ReportsOneStep(NearestMean):
    """A learner that does not say that it is metered, and reports less than it does."""

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        budget.spend(iterations=1)


LIMITS = {"iterations": 1}


def test_metered_learner_without_a_step_has_zero_iterations_and_is_ranked() -> None:
    record = run(tiny_benchmark(), DoesNothing, limits=LIMITS)
    assert record.cost is not None
    assert record.cost.iterations == 0
    assert unmetered(record.spec, record.cost) == []


def test_learner_that_was_allowed_unmetered_is_unmetered_whatever_it_reports() -> None:
    record = run(tiny_benchmark(), ReportsOneStep, limits=LIMITS, allow_unmetered=True)
    assert record.cost is not None
    assert record.cost.iterations is None
    assert unmetered(record.spec, record.cost) == ["iterations"]


def test_cost_that_is_not_reported_is_none_and_not_zero() -> None:
    cost = run(tiny_benchmark(), NearestMean).cost
    assert cost is not None
    assert (cost.iterations, cost.macs, cost.parameters) == (None, None, None)
    assert cost.samples > 0


def test_cost_that_is_reported_in_part_is_none_for_the_rest() -> None:
    cost = run(tiny_benchmark(), Reporting).cost
    assert cost is not None
    assert (cost.iterations, cost.macs) == (12, None)


def test_zero_in_an_older_cost_file_is_read_as_not_metered() -> None:
    assert Cost.model_validate({"iterations": 0, "macs": 0, "parameters": 7}).model_dump(
        include={"iterations", "macs", "parameters"}
    ) == {"iterations": None, "macs": None, "parameters": 7}


@pytest.mark.parametrize(
    "limit", ["iterations", "macs", "parameters", "batch_size", "new_in_batch"]
)
def test_limit_on_what_a_learner_does_not_report_refuses_it(limit: str, tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match=rf"limits are about \({limit}\), found NearestMean"):
        run(tiny_benchmark(), NearestMean, out=tmp_path / "results", limits={limit: 1e12})
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("limit", ["passes", "stored_samples", "stored_bytes"])
def test_limit_on_what_views_count_is_for_any_learner(limit: str) -> None:
    assert run(tiny_benchmark(), NearestMean, limits={limit: 1e12}).complete


def test_limit_on_what_a_learner_reports_holds() -> None:
    assert run(tiny_benchmark(), Reporting, limits={"iterations": 3}).complete
    with pytest.raises(BudgetSpentError, match="iterations = 1"):
        run(tiny_benchmark(), Reporting, limits=LIMITS)


def test_learner_cannot_rebind_its_limits() -> None:
    with pytest.raises(AttributeError, match="limits"):
        run(tiny_benchmark(), Rebinding)
    with pytest.raises(AttributeError, match="spend"):
        run(tiny_benchmark(), ReplacingTheCounter)


@pytest.mark.parametrize("work", [{"iterations": -1}, {"macs": -5}, {"iterations": 0.5}])
def test_work_cannot_be_taken_back(work: dict[str, Any]) -> None:
    budget = Budget(LIMITS)
    budget.open(np.arange(3))
    with pytest.raises(OnwardError, match="work as whole numbers of at least 0"):
        budget.spend(**work)


def test_counters_cannot_be_reset() -> None:
    budget: Any = Budget(LIMITS)
    budget.open(np.arange(3))
    for counters in (budget.spent, budget.totals):
        with pytest.raises(TypeError, match="does not support item assignment"):
            counters["iterations"] = 0


@pytest.mark.parametrize("metered", [None, True, "iterations"])
def test_metered_that_is_no_tuple_of_names_is_refused(metered: Any) -> None:
    wrong = type("Wrong", (NearestMean,), {"metered": metered})
    with pytest.raises(OnwardError, match="expected metered as a tuple of names"):
        run(tiny_benchmark(), wrong)


def test_limits_are_compared_with_the_spec_after_every_call() -> None:
    with pytest.raises(BudgetSpentError, match="expected the limits of the run's spec"):
        run(tiny_benchmark(), ReplacingPrivateLimits, limits=LIMITS)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for seed in range(6):
        run(tiny_benchmark("iid"), "finetune", seed, tmp_path, limits={"iterations": 5})
        limits = {"iterations": 5}
        run(tiny_benchmark("iid"), NearestMean, seed, tmp_path, limits=limits, allow_unmetered=True)
    return tmp_path


def test_unmetered_run_is_named_and_compared_with_nobody(results: Path) -> None:
    summaries = summarise(collect([results]).records)
    assert [item.label for item in summaries] == [
        "finetune",
        "NearestMean (iterations not metered)",
    ]
    assert compare_methods(*summaries, "accuracy") is None
    assert decided_best(summaries, "accuracy") is None
    answers = " ".join(finding.answer for finding in findings(by_setting(summaries), None))
    assert "best" not in answers
    assert "highest mean" not in answers


def test_unmetered_run_is_not_on_a_leaderboard_with_limits(results: Path) -> None:
    found = leaderboard(collect([results]))
    methods = {entry.summary.spec.method for board in found.boards for entry in board.entries}
    assert methods == {"finetune"}
    assert len(found.refused) == 6
    assert found.refused[0].reasons[0].startswith("iterations limited, and not metered")


def test_unmetered_run_without_limits_is_on_a_leaderboard(tmp_path: Path) -> None:
    run(tiny_benchmark("iid"), NearestMean, 0, tmp_path)
    found = leaderboard(collect([tmp_path]))
    assert not found.refused


def test_tables_say_not_metered(tmp_path: Path) -> None:
    limits = {"macs": 1e9}
    run(tiny_benchmark("iid"), "finetune", 0, tmp_path, limits=limits)
    run(tiny_benchmark("iid"), NearestMean, 0, tmp_path, limits=limits, allow_unmetered=True)
    summaries = summarise(collect([tmp_path]).records)
    (sheet,) = sheets(summaries)
    assert sheet.cost_text(summaries[1], "macs") == "not metered"
    assert summaries[0].cost["macs"] > 0
    assert json.loads(json.dumps(to_json(summaries)))[1]["cost"]["macs"] is None
    assert "nan" not in as_csv(summaries)
    assert list(tables(summaries))


def test_command_line_refuses_and_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("mine.py").write_text(
        "import numpy as np\n"
        "class Mine:\n"
        "    def learn(self, view, budget):\n"
        "        self.label = int(view.labels[0])\n"
        "    def predict(self, view):\n"
        "        return np.full(len(view), self.label)\n"
    )
    onward = Terminal(monkeypatch, capsys)
    words = ("run", "clear", "--method", "mine.py:Mine", "--budget", "iterations=1", "--jobs", "1")
    code, _, err = onward(*words)
    assert code == 2
    assert "--allow-unmetered" in err
    code, out, _ = onward(*words, "--allow-unmetered")
    assert code == 0
    assert "Mine (iterations" in out  # the rest is in the next line
