"""The grid says of every method on every benchmark that it runs, or why not; and that is so."""

import itertools
import json
import re
from pathlib import Path

import pytest
from cells import REFUSED, RUNNING, name, tiny
from terminal import Terminal

from onward.benchmarks import BENCHMARKS, Source
from onward.errors import OnwardError
from onward.fit import IMAGES, NEEDS
from onward.grid import Cell
from onward.learners import choose
from onward.methods import METHODS

SHARE = 0.8


def test_the_grid_as_json(onward: Terminal) -> None:
    code, out, _ = onward("list", "grid", "--json")
    cells = json.loads(out)
    assert code == 0
    every = itertools.product(METHODS, BENCHMARKS)
    assert [(cell["method"], cell["benchmark"]) for cell in cells] == list(every)
    for cell in cells:
        assert cell.keys() == {"method", "benchmark", "runs", "reason"}
        assert cell["runs"] is (cell["reason"] is None)
        if not cell["runs"]:
            assert cell["reason"].startswith(f"{cell['method']} needs ")
            assert cell["reason"].count(".") == 1
    assert sum(cell["runs"] for cell in cells) >= SHARE * len(cells)


def test_the_grid_in_a_terminal(onward: Terminal) -> None:
    code, out, _ = onward("list", "grid")
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= 100
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.split()}
    for method in METHODS:
        assert len(rows[method]) == len(BENCHMARKS)
        runs = [cell.benchmark for cell in RUNNING if cell.method == method]
        assert [mark == "runs" for mark in rows[method]] == [each in runs for each in BENCHMARKS]
    # A number stands for one pair of need and lack, with all methods of which that is so.
    numbers = {mark for method in METHODS for mark in rows[method]} - {"runs"}
    assert numbers == {str(number + 1) for number in range(len(numbers))}
    assert all(number in rows for number in numbers)
    assert f"{len(RUNNING)} of {len(RUNNING) + len(REFUSED)} run" in out


def test_every_need_is_a_word_that_somebody_needs_and_somebody_lacks() -> None:
    needed = {need for card in METHODS.values() for need in card.needs}
    # Some inputs are numbers and not images, which only a benchmark that is there can tell.
    lacking = [lacks for each in BENCHMARKS for lacks in tiny("finetune", each).lacking]
    for listed in BENCHMARKS.values():
        lacking += [*listed.lacking, *(protocol.lacks for protocol in listed.protocols.values())]
    lacked = {need for lacks in lacking for need in lacks}
    assert needed == lacked == NEEDS.keys()


@pytest.mark.parametrize("cell", REFUSED, ids=name)
def test_a_cell_that_does_not_run_is_refused(cell: Cell) -> None:
    with pytest.raises(OnwardError) as refusal:
        choose(cell.method, {}, tiny(cell.method, cell.benchmark))
    _assert_tells(str(refusal.value), cell)


@pytest.mark.parametrize(
    ("method", "benchmark"), [("bic", "clear"), ("c3", "iirc"), ("cwr", "tic")]
)
def test_a_run_that_makes_no_sense_is_refused(
    onward: Terminal, method: str, benchmark: str, tmp_path: Path
) -> None:
    cell = next(c for c in REFUSED if (c.method, c.benchmark) == (method, benchmark))
    code, _, err = onward("run", benchmark, "--method", method, "--out", tmp_path)
    assert code == 2
    assert not [*tmp_path.iterdir()]
    _assert_tells(" ".join(err.split()), cell)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("d1", "--benchmark", "clear"), "d1 needs things that have a place in an image"),
        (("er", "--benchmark", "claer"), "Did you mean 'clear'?"),
        (("er", "--benchmark", "clear", "--protocol", "iid"), "found both"),
    ],
)
def test_a_check_that_makes_no_sense_is_refused(
    onward: Terminal, words: tuple[str, ...], message: str
) -> None:
    code, _, err = onward("check", "method", *words)
    assert code == 2
    assert message in " ".join(err.split())


@pytest.mark.slow
def test_a_cell_can_be_checked_by_hand(onward: Terminal) -> None:
    code, out, _ = onward("check", "method", "patching", "--benchmark", "clad-c")
    assert code == 0
    assert "0 failed, 0 skipped" in out


@pytest.mark.parametrize(
    "cell",
    [
        cell
        for cell in RUNNING
        if IMAGES in METHODS[cell.method].needs and cell.benchmark in ("clear", "iirc")
    ],
    ids=name,
)
def test_what_needs_images_runs_by_the_plain_command(cell: Cell) -> None:
    plain = Source(cell.benchmark)
    with pytest.raises(OnwardError, match="inputs here are numbers"):
        choose(cell.method, {}, plain.load())
    assert choose(cell.method, {}, plain.fitting(cell.method).load()).name == cell.method
    assert plain.fitting("er") == plain


def _assert_tells(message: str, cell: Cell) -> None:
    """Assert that what is missing is named, and three methods that fit."""
    assert cell.misfit is not None
    assert f"{cell.method} needs {NEEDS[cell.misfit.need]}, {cell.misfit.purpose}; " in message
    found = re.search(r"Methods that fit: (\w+), (\w+), (\w+)\.", message)
    assert found is not None
    fitting = {each.method for each in RUNNING if each.benchmark == cell.benchmark}
    assert len({*found.groups()} & fitting) == 3
