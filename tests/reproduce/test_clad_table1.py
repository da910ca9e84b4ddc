"""CLAD's Table 1 by command, on a few frames."""

from pathlib import Path

import pytest
from small_street import small_street

from onward.configs import TABLES
from onward.report.numbers import MISSING
from onward.report.summary import TEST, amca_of
from onward.reproduce.claims import Cell
from onward.reproduce.engine import reproduce
from onward.reproduce.files import write
from onward.reproduce.plan import plan
from onward.reproduce.table import Run

TABLE = TABLES.find("clad/table1")


def test_rows_are_run_as_the_recipe_can() -> None:
    scaled = next(row for row in TABLE.rows if row.name == "c1/up_scaled")
    sides = []
    for recipe in ("cpu", "paper"):
        run = TABLE.run(scaled, TABLE.columns[0], "street", recipe)
        assert isinstance(run, Run)
        sides.append(run.options["side"])
    assert sides == [48, 224]
    joint = TABLE.run(TABLE.rows[-1], TABLE.columns[0], "street", "cpu")
    assert isinstance(joint, Run)
    assert (joint.source.protocol, joint.method) == ("joint", "finetune")


@pytest.mark.slow
def test_a_few_rows_are_run_set_beside_the_published_and_pictured(tmp_path: Path) -> None:
    rows = ("finetune", "oversample", "c3", "joint")
    planned = plan(TABLE, small_street(), "cpu", rows=rows, seeds=(0, 1))
    outcome = reproduce(planned, tmp_path / "results")
    for name in rows[:3]:
        (summary,) = outcome.summaries[name]
        for number, record in enumerate(summary.records):
            after = record.static(TEST, "class_mean_accuracy")
            assert outcome.scores[Cell(name, "amca")][number] == pytest.approx(after.mean())
            assert outcome.scores[Cell(name, "after_4")][number] == after[4]
    # Joint training is tested once.
    assert Cell("joint", "after_4") not in outcome.scores
    (joint,) = outcome.summaries["joint"]
    assert outcome.scores[Cell("joint", "amca")][1] == amca_of(joint.records[1])
    judged = [judgement.claim.name for judgement in outcome.judgements]
    assert "oversampling helps" in judged
    assert "merged heads help C1" in outcome.unjudged()
    files = write(outcome, tmp_path)
    pictures = sorted(path.relative_to(tmp_path).as_posix() for path in files[2:])
    assert pictures == [f"table1-drive/{name}.png" for name in sorted(rows)]
    assert all(path.stat().st_size > 10_000 for path in files[2:])
    assert f"|  | published | 36.8 | {MISSING} |" in files[1].read_text("utf-8")
