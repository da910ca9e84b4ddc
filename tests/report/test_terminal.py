"""The terminal's table fits, claims nothing, and the JSON beside it is plain data."""

import io
import json
from collections.abc import Callable

import pytest
from rich.console import Console

from onward.report.summary import summarise
from onward.report.terminal import table, tables, to_json

NAN = float("nan")


def shown(records: list, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    for part in tables(summarise(records)):
        console.print(part)
    return console.file.getvalue()


def test_one_table_per_protocol_with_the_columns_that_have_numbers(demo: Callable) -> None:
    streaming, iid = tables(summarise(demo()))
    assert "streaming" in str(streaming.title)
    assert [str(column.header) for column in streaming.columns] == [
        "method", "next\ndomain", "forward\ntransfer", "CPU\nseconds", "stored\nsamples",
    ]  # fmt: skip
    assert len(iid.columns) == 8


def test_it_fits_in_100_columns_and_cuts_nothing_off(demo: Callable) -> None:
    text = shown(demo(methods=("finetune", "a_method_with_quite_a_long_name")))
    assert max(map(len, text.splitlines())) <= 100
    assert "…" not in text
    assert "a_method_with_quit" in text


def test_values_are_percent_with_deviation(make: Callable) -> None:
    text = shown([make([[0.8, 0.6], [0.4, 0.7]]), make([[0.9, 0.5], [0.6, 0.8]], seed=1)])
    assert "55.0±7.1" in text
    assert "over 2 seeds" in text


def test_one_seed_shows_no_deviation(make: Callable) -> None:
    text = shown([make([[0.8, 0.6], [0.4, 0.7]])])
    assert "60.0" in text
    assert "±" not in text


@pytest.mark.parametrize(("seeds", "bold"), [(5, False), (6, True)])
def test_bold_is_only_what_the_paired_test_decides(
    demo: Callable, seeds: int, *, bold: bool
) -> None:
    (part,) = tables(summarise(demo(seeds, protocols=("iid",), methods=("finetune", "nap"))))
    cells = list(part.columns[1].cells)
    assert ("bold" in str(cells[0].style)) is bold
    assert "bold" not in str(cells[1].style)
    assert ("bold" in str(part.caption)) is bold


def test_markup_in_a_name_is_text(make: Callable) -> None:
    assert "[red]er[/red]" in shown([make([[0.5]], method="[red]er[/red]")])


def test_json_is_plain_and_empty_is_null(make: Callable) -> None:
    R = [[NAN, 0.6], [NAN, NAN]]
    record = make(R, protocol="streaming", static=[0.1, 0.2], cost={"cpu_seconds": 2.5})
    (row,) = json.loads(json.dumps(to_json(summarise([record])), allow_nan=False))
    assert row["matrix"] == [[None, 0.6], [None, None]]
    assert row["metrics"]["next_domain"] == {"mean": 0.6, "deviation": None, "values": [0.6]}
    assert row["metrics"]["in_domain"] == {"mean": None, "deviation": None, "values": [None]}
    assert row["static"]["other"]["mean"] == 0.2
    assert row["cost"]["cpu_seconds"] == 2.5
    names = ("benchmark", "data", "protocol", "recipe", "method", "seeds")
    expected = ["clear", "made-up", "streaming", "cpu", "finetune", [0]]
    assert [row[name] for name in names] == expected


def test_a_table_names_its_budget(make: Callable) -> None:
    assert "passes 1" in str(table(summarise([make([[0.5]], limits={"passes": 1})])).title)
