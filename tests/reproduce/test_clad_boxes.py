"""Table 2 of CLAD: what is read out of a run, which run a cell is, and its pictures."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_street import small_street

import onward
from onward.configs import TABLES
from onward.configs.clad.boxes import NAMES
from onward.metrics import METRICS
from onward.report.boxes_picture import Shown, boxes_picture
from onward.report.pictures.class_precision import class_curves
from onward.report.pictures.domain_matrices import domain_matrices
from onward.report.style import to_png
from onward.reproduce.box_pictures import box_pictures
from onward.reproduce.engine import reproduce
from onward.reproduce.files import write
from onward.reproduce.plan import plan
from onward.reproduce.table import Run
from onward.results.record import RunRecord
from onward.results.schema import Score

TABLE = TABLES.find("clad/table2")
# Scores after each domain (down) on each (across).
MATRIX = np.array(
    [[0.5, 0.3, 0.1, 0.2], [0.2, 0.6, 0.1, 0.3], [0.3, 0.4, 0.5, 0.3], [0.4, 0.5, 0.3, 0.4]]
)


class Recorded(RunRecord):
    """A run of which nothing but its scores is there."""

    def __init__(self, matrix: np.ndarray[Any, Any]) -> None:
        object.__setattr__(self, "scores_of", matrix)

    def matrix(self, metric: str | None = None) -> Any:
        """Return the scores; other forms are half as high."""
        found: Any = self.scores_of  # type: ignore[attr-defined]
        return found / (1 if metric in (None, "map50") else 2)


def measured(name: str, matrix: Any = MATRIX) -> float:
    (column,) = (column for column in TABLE.columns if column.name == name)
    return column.value(Recorded(matrix))


def test_what_is_read_out_of_a_run() -> None:
    assert measured("map") == pytest.approx(0.4)
    assert measured("map_voc") == measured("map_challenge") == pytest.approx(0.2)
    assert [measured(name) for name in NAMES] == [0.4, 0.5, 0.3, 0.4]
    assert measured("own") == pytest.approx((0.5 + 0.6 + 0.5) / 3)
    assert measured("kept") == pytest.approx((0.4 + 0.5 + 0.3) / 3)
    assert measured("worst") == pytest.approx((0.2 + 0.4 + 0.3) / 3)
    assert measured("lost") == pytest.approx(measured("own") - measured("worst"))
    assert measured("forgetting") == pytest.approx((0.1 + 0.1 + 0.2) / 3)
    assert measured("forgetting") == METRICS["literature.chaudhry_forgetting"].function(MATRIX)


def test_joint_training_has_an_end_and_nothing_before() -> None:
    joint = np.full((4, 4), np.nan)
    joint[-1] = 0.5
    assert measured("map", joint) == measured("night", joint) == 0.5
    for name in ("own", "kept", "worst", "lost", "forgetting"):
        assert np.isnan(measured(name, joint))


@pytest.mark.parametrize(
    ("row", "recipe", "protocol", "model"),
    [
        ("finetune", "cpu", "domains", None),
        ("d1", "paper", "domains", None),
        ("d1_swin", "cpu", "domains", "small_swin"),
        ("d1_swin", "paper", "domains", "faster_rcnn_swin"),
        ("joint", "cpu", "joint", None),
    ],
)
def test_which_run_a_row_is(row: str, recipe: str, protocol: str, model: str | None) -> None:
    (found,) = (each for each in TABLE.rows if each.name == row)
    run = TABLE.run(found, TABLE.columns[0], "street", recipe)
    assert isinstance(run, Run)
    assert (run.source.protocol, run.source.options.get("model")) == (protocol, model)


def test_the_gap_is_trained_as_long_on_every_domain() -> None:
    gap = TABLES.find("clad/gap")
    run = gap.run(gap.rows[0], gap.columns[0], small_street(), "cpu")
    assert isinstance(run, Run)
    recipe = run.source.load().recipes["cpu"]
    assert recipe.epochs == recipe.first_epochs
    assert len(gap.columns) == 16


def test_frames_with_boxes_are_drawn() -> None:
    image = np.full((20, 30, 3), 90, np.uint8)
    true = np.array([[0, 2, 2, 12, 12, 0], [-1, 0, 0, 0, 0, 0]])
    found = np.array([[1, 0.9, 3, 2, 12, 12], [0, 0.3, 15, 2, 20, 9], [-1, 0, 0, 0, 0, 0]])
    figure = boxes_picture(
        {"true": [Shown(image, true)], "found": [Shown(image, true, found)]}, ["night"], ["a", "b"]
    )
    above, below = figure.axes
    assert len(above.patches) == 1
    # The true box below the one that was found; the doubtful one is left out.
    assert [patch.get_x() for patch in below.patches] == [1.5, 2.5]
    assert [text.get_text() for text in below.texts] == ["90"]
    assert to_png(figure).startswith(b"\x89PNG")


def test_domains_are_drawn_with_their_spread(tmp_path: Path) -> None:
    from onward.checks.tiny_boxes import tiny_boxes

    record = onward.run(tiny_boxes(), "nap")
    more = replace(
        record,
        scores=tuple(
            Score(**{**score.model_dump(), "scores": {"map50": 0.5}}) for score in record.scores
        ),
    )
    figure = domain_matrices({"nap": [record, more]})
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert len(texts) == 18
    assert sum(text.startswith("±") for text in texts) == 9
    assert len(class_curves({"nap": [record]}).axes) == 2


@pytest.mark.slow
def test_by_command_with_its_pictures(tmp_path: Path) -> None:
    street = small_street()
    planned = plan(TABLE, street, "cpu", rows=["finetune", "joint"], seeds=[0])
    short = {"epochs": 1, "first_epochs": 1}
    planned = replace(
        planned,
        planned=tuple(
            replace(each, run=replace(each.run, source=replace(each.run.source, training=short)))
            for each in planned.planned
        ),
    )
    outcome = reproduce(planned, tmp_path / "results")
    assert len(box_pictures(outcome)) == 3
    files = [path.name for path in write(outcome, tmp_path)]
    assert {"table2.json", "table2.md", "domains.png", "classes.png", "frames.png"} <= set(files)
