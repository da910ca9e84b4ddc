from dataclasses import dataclass

import pytest

import onward.tasks
from onward.catalogue import Catalogue
from onward.report.summary import FINAL, METRICS
from onward.tasks import TASKS, shown_of
from onward.tasks.one_label import OneLabel
from onward.tasks.shown import Shown
from onward.types import Task


@dataclass(frozen=True)
class Otherwise(OneLabel):
    name: str = "otherwise"
    headline: str = "otherwise_right"


@dataclass(frozen=True)
class Told(OneLabel):
    name: str = "told"
    shown = Shown("told answers")


@pytest.mark.parametrize("name", TASKS)
def test_every_kind_says_how_it_is_shown_in_names_that_summaries_have(name: str) -> None:
    shown = shown_of(name)
    assert shown.counts != TASKS[name].headline
    assert set(shown.metrics) <= {FINAL, *METRICS}


def test_a_kind_that_is_made_from_another_is_not_shown_as_that_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = {"otherwise": Otherwise(), "told": Told()}
    monkeypatch.setattr(onward.tasks, "TASKS", Catalogue("task", kinds, "onward.none", Task))
    assert shown_of("otherwise") == Shown("otherwise_right")
    assert shown_of("told") == Shown("told answers")
