import numpy as np
import pyarrow as pa
import pytest

from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.checks.reachable import reachable
from onward.errors import BudgetSpentError, LookAheadError, OnwardError
from onward.types import Call, Period, Rows, Samples, Stream, Table, View
from onward.view import complete_labels


@pytest.fixture
def table() -> Table:
    numbers = list(range(10))
    columns = pa.table({"id": [str(i) for i in numbers], "time": numbers, "label": ["a"] * 10})
    return Table(columns, {"input": np.arange(20.0).reshape(10, 2)}, digest="x")


def _view(table: Table, rows: list[int], budget: Budget | None) -> tuple[View, Call]:
    samples = Samples(np.array(rows), np.array(rows) % 2)
    if budget is not None:
        budget.open(samples.rows)
    call = Call(budget)
    return View(table, samples, ("even", "odd"), call), call


def test_a_view_shows_its_samples_and_counts_what_is_read(table: Table) -> None:
    budget = Budget()
    view, _ = _view(table, [3, 1], budget)
    np.testing.assert_array_equal(view.inputs(), [[6, 7], [2, 3]])
    np.testing.assert_array_equal(view.inputs(np.array([1])), [[2, 3]])
    assert view.labels.tolist() == [1, 1]
    assert view.input_shape == (2,)
    assert view.column("time").tolist() == [3, 1]
    assert budget.totals["samples"] == 3


def test_a_view_is_dead_after_its_call(table: Table) -> None:
    budget = Budget()
    view, call = _view(table, [3, 1], budget)
    joined = view.also(np.empty(0, np.int64), np.empty(0, np.int64))
    call.over = True
    for stale in (view, joined):
        for read in (stale.inputs, lambda v=stale: v.labels, lambda v=stale: v.rows):
            with pytest.raises(LookAheadError, match="after its call had returned"):
                read()


def test_a_test_view_shows_inputs_and_nothing_else(table: Table) -> None:
    view, _ = _view(table, [0], None)
    np.testing.assert_array_equal(view.inputs(), [[0, 1]])
    nothing = np.empty(0, np.int64)
    for what, read in {
        "labels": lambda: view.labels,
        "rows": lambda: view.rows,
        "columns": lambda: view.column("time"),
        "samples": lambda: view.also(nothing, nothing),
    }.items():
        with pytest.raises(LookAheadError, match=f"{what} are shown by learn"):
            read()


def test_a_test_view_contains_no_label() -> None:
    benchmark = tiny_benchmark("streaming")
    stream = benchmark.stream(0)
    test = stream[1].test
    view = View(stream.table, test, stream[1].classes, Call(None))
    for thing in reachable(view):
        assert not isinstance(thing, Table | Stream | Period)
        if isinstance(thing, pa.Table):
            assert thing.column_names == []
        if isinstance(thing, np.ndarray) and thing.dtype.kind in "iu":
            assert not np.array_equal(thing, test.labels)


def test_a_learning_view_contains_no_column_that_is_not_shown() -> None:
    stream = tiny_benchmark("streaming").stream(0)
    budget = Budget()
    budget.open(stream[0].train.rows)
    view = View(stream.table, stream[0].train, stream[0].classes, Call(budget))
    tables = [thing for thing in reachable(view) if isinstance(thing, pa.Table)]
    assert [found.column_names for found in tables] == [["time"]]


def test_complete_labels_are_those_of_samples_that_the_call_may_learn_from() -> None:
    labels = np.array([[0, 5], [1, -1], [2, 3], [0, 4]])
    seen = complete_labels(labels, np.array([3, 0]), classes=5)
    assert seen.rows.tolist() == [0, 3]
    assert seen.labels.tolist() == [[0, -1], [0, 4]]
    assert seen.labels_of(np.array([3])).tolist() == [[0, 4]]
    with pytest.raises(LookAheadError, match="expected samples that came with labels"):
        seen.labels_of(np.array([0, 2]))


def test_columns_that_may_give_the_label_away_are_not_shown(table: Table) -> None:
    view, _ = _view(table, [0], Budget())
    for column in ("id", "label", "group", "name"):
        with pytest.raises(LookAheadError, match="not shown to learners"):
            view.column(column)


def test_only_held_samples_can_be_read_again(table: Table) -> None:
    budget = Budget()
    _view(table, [0, 1, 2], budget)
    budget.hold(np.array([2, 0]))
    view, _ = _view(table, [5], budget)
    again = view.also(np.array([0]), np.array([7]))
    np.testing.assert_array_equal(again.inputs(), [[10, 11], [0, 1]])
    assert again.labels.tolist() == [1, 7]
    only = view.of(np.array([2, 5]), np.array([1, 1]))
    np.testing.assert_array_equal(only.inputs(), [[4, 5], [10, 11]])
    for rows in ([1], [9], [0, 1]):
        with pytest.raises(LookAheadError, match="to read samples that are shown now"):
            view.also(np.array(rows), np.zeros(len(rows), int))


def test_what_was_let_go_cannot_be_held_again(table: Table) -> None:
    budget = Budget()
    _view(table, [0, 1], budget)
    budget.hold(np.array([0]))
    _view(table, [2], budget)
    budget.hold(np.array([0, 2]))
    with pytest.raises(LookAheadError, match="first: row 1"):
        budget.hold(np.array([1]))


def test_a_pass_counts_new_samples_only(table: Table) -> None:
    budget = Budget({"passes": 1})
    _view(table, [0, 1], budget)
    budget.hold(np.array([0, 1]))
    view, _ = _view(table, [4, 5], budget)
    both = view.also(np.array([0, 1]), np.array([0, 1]))
    both.inputs()
    both.inputs(np.array([2, 3]))
    with pytest.raises(BudgetSpentError, match="passes = 1"):
        both.inputs(np.array([0]))


@pytest.mark.parametrize(
    ("limits", "spend", "rule"),
    [
        ({"iterations": 2}, {"iterations": 3}, "iterations = 2"),
        ({"macs": 10}, {"macs": 11}, "macs = 10"),
        ({"batch_size": 4}, {"batch_size": 5}, "batch_size = 4"),
    ],
)
def test_spending_too_much_is_refused_by_name_and_not_counted(
    limits: dict[str, float], spend: dict[str, int], rule: str
) -> None:
    budget = Budget(limits)
    budget.open(np.arange(3))
    with pytest.raises(BudgetSpentError, match=rule):
        budget.spend(**spend)
    assert budget.totals["iterations"] == budget.totals["macs"] == 0


def test_allowances_are_for_one_call() -> None:
    budget = Budget({"iterations": 2})
    for _ in range(3):
        budget.open(np.arange(3))
        assert budget.left("iterations") == 2
        budget.spend(iterations=2)
        assert budget.left("iterations") == 0
    assert budget.totals["iterations"] == 6
    assert budget.left("macs") == float("inf")


@pytest.mark.parametrize(
    ("limits", "rows", "rule"),
    [({"stored_samples": 2}, 3, "stored_samples"), ({"stored_bytes": 80}, 3, "stored_bytes")],
)
def test_storing_too_much_is_refused(limits: dict[str, float], rows: int, rule: str) -> None:
    budget = Budget(limits, sample_bytes=40)
    budget.open(np.arange(10))
    budget.hold(np.arange(rows - 1))
    with pytest.raises(BudgetSpentError, match=rule):
        budget.hold(np.arange(rows))
    assert len(budget.held) == budget.most_stored == rows - 1


def test_a_model_too_large_is_refused() -> None:
    budget = Budget({"parameters": 100})
    budget.declare(parameters=100)
    with pytest.raises(BudgetSpentError, match="parameters = 100"):
        budget.declare(parameters=101)


def test_an_unknown_limit_is_refused() -> None:
    with pytest.raises(OnwardError, match="Did you mean 'iterations'"):
        Budget({"iteration": 3})


def test_rows_are_rows() -> None:
    rows: Rows = np.arange(4)
    samples = Samples.join([Samples(rows, rows), Samples(rows[:1], rows[:1])])
    assert len(samples) == 5
    assert samples[1:3].rows.tolist() == [1, 2]


def test_parts_are_all_inputs_in_order_and_read_only(table: Table) -> None:
    for rows in ([0, 1, 2, 3, 4], [5, 1, 2, 3, 9], [7]):
        view, _ = _view(table, rows, None)
        parts = [part.copy() for part in view.parts(2)]
        assert [len(part) for part in parts] == [2] * (len(rows) // 2) + [1]
        np.testing.assert_array_equal(np.concatenate(parts), view.inputs())
        for part in view.parts(2):
            with pytest.raises(ValueError, match="read-only"):
                part[:] = 0


def test_parts_in_one_run_of_rows_are_not_copied(table: Table) -> None:
    column = table.wide["input"]
    together, _ = _view(table, [2, 3, 4, 5], None)
    apart, _ = _view(table, [2, 4, 5, 3], None)
    assert isinstance(column, np.ndarray)
    assert all(np.shares_memory(part, column) for part in together.parts(4))
    assert not any(np.shares_memory(part, column) for part in apart.parts(4))


def test_parts_are_counted_and_die_with_their_call(table: Table) -> None:
    budget = Budget()
    view, call = _view(table, [2, 3, 9], budget)
    parts = view.parts(2)
    next(parts)
    assert budget.totals["samples"] == 2
    call.over = True
    with pytest.raises(LookAheadError, match="after its call"):
        next(parts)


def test_views_show_the_same_if_rows_and_labels_are(table: Table) -> None:
    view, _ = _view(table, [3, 1], Budget())
    assert view.shows_what(_view(table, [3, 1], Budget())[0])
    assert not view.shows_what(_view(table, [1, 3], Budget())[0])
    assert not view.shows_what(view.of(view.rows, 1 - view.labels))
