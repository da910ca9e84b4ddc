"""What came out reads well in 100 columns, and says what was left out and why."""

import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from onward.configs import TABLES
from onward.reproduce.claims import Cell, judge
from onward.reproduce.engine import Outcome
from onward.reproduce.files import to_json, write
from onward.reproduce.pictures import curves
from onward.reproduce.plan import plan
from onward.reproduce.terminal import render


def made_up(name: str, rows: list[str] | None = None) -> Outcome:
    """Return an outcome whose scores are the published ones, with noise that pairs share."""
    planned = plan(TABLES.find(name), "emoji", "cpu", rows=rows or ())
    table = planned.table
    luck = np.random.default_rng(0).normal(0, 0.01, 50)
    scores = {}
    for each in planned.planned:
        for column in each.columns:
            cell = Cell(each.row.name, column.name)
            mean = (table.published(cell).mean or 50.0) / 100
            scores[cell] = {number: mean + luck[number] for number in each.repetitions}
    answers = tuple(judge(claim, scores, table.published) for claim in table.claims)
    return Outcome(
        plan=planned,
        scores=scores,
        judgements=tuple(answer for answer in answers if answer.tested),
        summaries={row.name: () for row in planned.rows()},
    )


def printed(outcome: Outcome) -> list[str]:
    screen = Console(width=100, file=None, force_terminal=False, color_system=None)
    with screen.capture() as capture:
        screen.print(render(outcome))
    return capture.get().splitlines()


@pytest.mark.parametrize("name", TABLES)
def test_ours_stand_above_theirs_in_100_columns(name: str) -> None:
    outcome = made_up(name)
    lines = [line.rstrip() for line in printed(outcome)]
    assert max(map(len, lines)) <= 100
    if outcome.plan.table.upright:
        heading = outcome.plan.columns()[0].heading
        found = [n for n, line in enumerate(lines) if line.strip().startswith(f"{heading} ")]
        cells = [lines[at].strip().removeprefix(heading).split() for at in found]
        assert sum(map(len, cells)) == len(outcome.plan.rows())
        # A table of figures alone has no published lines.
        has_numbers = outcome.plan.table.file is not None
        assert lines[found[0] + 1].strip().startswith("published") == has_numbers
        return
    for row in outcome.plan.rows():
        at = next(n for n, line in enumerate(lines) if line.strip().startswith(f"{row.label}  "))
        assert lines[at + 1].strip().startswith("published")


def test_published_scores_satisfy_the_claims_of_the_paper() -> None:
    outcome = made_up("clear/table1")
    assert {judgement.answer for judgement in outcome.judgements} == {"holds"}
    assert len(outcome.judgements) == 5


def test_what_is_left_out_is_named_with_its_reason() -> None:
    outcome = made_up("clear/supp8")
    text = " ".join(" ".join(printed(outcome)).split())
    assert "Left out, the emoji edition has one kind of features" in text
    assert "Nothing was run for: biased above plain reservoir on CLIP" in text
    assert [c["name"] for c in to_json(outcome)["columns"]] == ["next_MoCo-YFCC"]


def test_claims_whose_rows_were_not_chosen_are_not_answered() -> None:
    outcome = made_up("clear/table1", ["linear/gdumb", "linear/er"])
    answers = {judgement.claim.name: judgement.answer for judgement in outcome.judgements}
    assert answers["GDumb last"] == "cannot tell"
    assert "biased above plain reservoir" in outcome.unjudged()


def test_damaged_values_are_told_apart_in_markdown(tmp_path: Path) -> None:
    write(made_up("clear/supp4"), tmp_path)
    page = (tmp_path / "supp4.md").read_text("utf-8")
    (line,) = (line for line in page.splitlines() if r"87.7\|87.8" in line)
    (ours,) = (line for line in page.splitlines() if line.startswith("| scratch, α = 2 |"))
    assert line.replace(r"\|", "").count("|") == ours.count("|")
    found = json.loads((tmp_path / "supp4.json").read_text("utf-8"))
    (row,) = (row for row in found["rows"] if row["name"] == "scratch/alpha=2")
    assert row["cells"]["next_domain"]["published"] == {
        "mean": None,
        "deviation": None,
        "status": "ambiguous:87.7±0.0|87.8±0.0",
    }


def test_curves_show_gains_over_the_reference() -> None:
    outcome = made_up("clear/table2")
    wanted = outcome.plan.table.curves
    assert wanted is not None
    figure = curves(outcome, wanted)
    assert len(figure.axes) == 8
    for axes in figure.axes:
        lines = {line.get_marker(): np.asarray(line.get_ydata(), float) for line in axes.lines}
        # The scores are the published ones, so both lines are the same.
        np.testing.assert_allclose(lines["o"], lines["D"], atol=1e-9)
    # The reference is in the first panel, with no gain over itself; published: 90.0 against 90.6.
    first = next(line for line in figure.axes[0].lines if line.get_marker() == "D")
    np.testing.assert_allclose(first.get_ydata(), [-0.6, 0.0, 0.8, 1.1])
