"""Sheets: what was run stands above each, and no two titles are alike."""

from collections.abc import Callable
from dataclasses import replace

from onward.report.sheet import sheets
from onward.report.summary import summarise

MACS = {"cpu_seconds": 1.0, "macs": 2 * 10**12}


def test_a_title_names_the_budget(make: Callable) -> None:
    (sheet,) = sheets(summarise([make([[0.5]], limits={"passes": 1, "macs": 6.34e10})]))
    assert sheet.title == ("clear", "made-up", "iid", "cpu recipe", "passes 1", "macs 63.4G")


def test_macs_are_shown_where_they_are_what_is_limited(make: Callable) -> None:
    (free,) = sheets(summarise([make([[0.5]], cost=MACS)]))
    assert "macs" not in free.costs
    (limited,) = sheets(summarise([make([[0.5]], cost=MACS, limits={"macs": 1e12})]))
    assert limited.costs == ("cpu_seconds", "macs", "stored_samples")
    assert limited.cost_text(limited.summaries[0], "macs") == "2.0T"
    # A method that may compute more than the protocol says is held against it all the same.
    protocol = {"name": "budget", "tests": "all", "limits": {"macs": 1e12}}
    record = make([[0.5]], cost=MACS)
    spec = record.spec.model_copy(update={"protocol": protocol})
    record = replace(record, spec=spec)
    (exempt,) = sheets(summarise([record]))
    assert "macs" in exempt.costs


def test_settings_that_would_be_called_alike_are_told_apart(make: Callable) -> None:
    records = [
        make([[0.5]], recipe={"model": model}, benchmark_options={"side": 32})
        for model in ("linear", "mlp")
    ]
    titles = [sheet.title[-1] for sheet in sheets(summarise(records))]
    assert sorted(titles) == ["model linear", "model mlp"]


def test_data_of_one_name_and_two_hashes_is_marked(make: Callable) -> None:
    first, second = (make([[0.5]], data_digest=letter * 64) for letter in "ab")
    assert [sheet.title[1] for sheet in sheets(summarise([first, second]))] == [
        "made-up #aaaaaaaa",
        "made-up #bbbbbbbb",
    ]


def test_the_note_says_what_there_is(make: Callable, demo: Callable) -> None:
    (one,) = sheets(summarise([make([[0.5]])]))
    assert one.note() == "percent; one seed, so there is no deviation"
    (six,) = sheets(summarise(demo(6, protocols=("iid",), methods=("finetune", "nap"))))
    assert six.note().endswith("over 6 seeds; bold: better than every other by the paired test")
    uneven = [
        *demo(3, methods=("finetune",), protocols=("iid",)),
        make([[0.5] * 7] * 7, method="x"),
    ]
    (several,) = sheets(summarise(uneven))
    assert "over 1 to 3 seeds" in several.note()
