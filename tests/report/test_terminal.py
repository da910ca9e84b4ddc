"""The terminal's table fits, claims nothing, and draws lines where a terminal can show them."""

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from onward.report.summary import summarise
from onward.report.terminal import tables


def shown(records: list, width: int = 100, encoding: str = "utf-8") -> str:
    class Screen(io.StringIO):
        @property
        def encoding(self) -> str:
            return encoding

    console = Console(file=Screen(), width=width, force_terminal=True, color_system=None)
    for part in tables(summarise(records)):
        console.print(part)
    return console.file.getvalue()


def test_one_table_per_protocol_with_the_columns_that_have_numbers(demo: Callable) -> None:
    streaming, iid = (part.laid_out() for part in tables(summarise(demo())))
    assert [str(column.header) for column in streaming.columns] == [
        "method", "next\ndomain", "forward\ntransfer", "CPU\nseconds", "stored\nsamples",
        "over\ntime",
    ]  # fmt: skip
    assert len(iid.columns) == 9


@pytest.mark.parametrize("width", [80, 100])
def test_the_demo_fits_with_its_lines(demo: Callable, width: int) -> None:
    text = shown(demo(), width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert text.count("▇") >= 2


def test_columns_move_together_before_lines_are_left_out(demo: Callable) -> None:
    wide, close, bare = (shown(demo(protocols=("iid",)), width) for width in (100, 80, 74))
    assert re.search(r"±\d\.\d  \d", wide)
    assert re.search(r"±\d\.\d \d", close)
    assert "▇" in close
    assert "▇" not in bare
    assert "over time" not in bare
    assert "…" not in bare


@pytest.mark.parametrize("width", [30, 40, 60])
def test_a_narrow_terminal_gets_several_tables_and_loses_nothing(
    demo: Callable, width: int
) -> None:
    records = demo(protocols=("iid",))
    whole, parts = shown(records), shown(records, width)
    assert max(map(len, parts.splitlines())) <= width
    assert "…" not in parts
    assert parts.count("method") == parts.count("cumulative") > 1
    numbers = re.compile(r"\d+\.\d±\d+\.\d|[▁-█]{6}")
    assert sorted(numbers.findall(parts)) == sorted(numbers.findall(whole))


def test_a_terminal_without_blocks_gets_none(demo: Callable) -> None:
    text = shown(demo(), encoding="iso-8859-1")
    assert "over time" not in text
    text.encode("iso-8859-1")


def test_long_names_are_folded(demo: Callable) -> None:
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
    records = demo(seeds, protocols=("iid",), methods=("finetune", "nap"))
    (part,) = tables(summarise(records))
    cells = list(part.laid_out().columns[1].cells)
    assert ("bold" in str(cells[0].style)) is bold
    assert "bold" not in str(cells[1].style)
    assert ("bold" in part.note()) is bold


def test_a_metric_that_was_asked_for_and_is_empty_is_named(demo: Callable) -> None:
    streaming, iid = tables(summarise(demo(), ["literature.gem_backward_transfer"]))
    assert "literature.gem_backward_transfer: empty" in streaming.note()
    assert "empty" not in iid.note()


def test_markup_in_a_name_is_text(make: Callable) -> None:
    assert "[red]er[/red]" in shown([make([[0.5]], method="[red]er[/red]")])


def test_control_characters_reach_no_terminal(make: Callable) -> None:
    names = dict.fromkeys(("method", "benchmark", "data", "recipe_name"), "x\x1b[2J\x07")
    text = shown([make([[0.5]], **names)])
    assert "\x07" not in text
    assert "\x1b[2J" not in text
    assert text.count("x\N{REPLACEMENT CHARACTER}[2J") == 4


def test_a_run_with_nothing_to_show_is_a_row_all_the_same(make: Callable) -> None:
    assert "finetune" in shown([make([[float("nan")]])])
