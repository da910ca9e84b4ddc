"""Markdown, LaTeX, CSV and JSON say what the terminal says, whatever a method is called."""

import csv
import io
import json
import re
from collections.abc import Callable

import pytest

from onward.report.formats import as_csv, latex, markdown, to_json
from onward.report.summary import summarise

NAN = float("nan")
HOSTILE = r"""<script>alert("x")</script> | $a_1$ & \b{c} #1 100% ~^ `*_[y]_*` שלום"""


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@pytest.mark.parametrize(("seeds", "bold"), [(5, False), (6, True)])
def test_markdown_has_a_table_per_setting(demo: Callable, seeds: int, *, bold: bool) -> None:
    text = markdown(summarise(demo(seeds, methods=("finetune", "nap"))))
    tables = [part.split("\n") for part in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)]
    assert text.count("**clear · made-up") == len(tables) == 2
    heading, rule, first, second = tables[0][:4]
    assert cells(heading)[:3] == ["method", "next-domain", "forward transfer"]
    assert cells(rule)[:2] == [":--", "--:"]
    assert cells(first)[0] == "finetune"
    assert cells(first)[1].startswith("**") is bold
    assert not cells(second)[1].startswith("**")
    assert len(cells(heading)) == len(cells(first)) == len(cells(second))
    assert "over 6 seeds" in text or not bold


def test_markdown_shows_a_hostile_name_as_it_is(make: Callable) -> None:
    (line,) = (
        line
        for line in markdown(summarise([make([[0.5]], method=HOSTILE)])).split("\n")
        if "script" in line
    )
    assert re.sub(r"\\(?=[^\w\s])", "", cells(line)[0]).replace("\\", "") == HOSTILE.replace(
        "\\", ""
    )
    assert not re.search(r"(?<!\\)[<>*`\[\]]", cells(line)[0])


@pytest.mark.parametrize(("seeds", "bold"), [(5, False), (6, True)])
def test_latex_is_booktabs_with_a_caption(demo: Callable, seeds: int, *, bold: bool) -> None:
    text = latex(summarise(demo(seeds, protocols=("iid",), methods=("finetune", "nap"))))
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:clear-made-up-iid"):
        assert text.count(part) == 1
    (caption,) = re.findall(r"\\caption\{(.*)\}", text)
    assert caption.startswith("clear, made-up, iid, cpu recipe: percent, mean $\\pm$ one")
    assert f"over {seeds} seeds" in caption
    (row,) = (line for line in text.split("\n") if line.startswith("finetune"))
    assert row.endswith(r"\\")
    assert re.search(r"\$\\mathbf\{\d+\.\d \\pm \d\.\d\}\$", row) is not None or not bold
    assert ("mathbf" in text) is bold
    (columns,) = re.findall(r"\\begin\{tabular\}\{(l?r*)\}", text)
    assert len(columns) == row.count("&") + 1


def test_latex_prints_a_hostile_name_as_it_is(make: Callable) -> None:
    text = latex(summarise([make([[0.5]], method=HOSTILE)]))
    (row,) = (line for line in text.split("\n") if "script" in line)
    name = row.split(" & $50.0$")[0]
    told = re.sub(r"\\text\w+\{\}|\\[{}$&#%_]", "", name)
    assert not re.search(r"[\\{}$&#%_^~<>|\"]", told)


def test_an_empty_cell_and_a_single_seed_invent_nothing(make: Callable) -> None:
    past = [[0.5, NAN], [0.6, 0.7]]
    future = [[0.5, 0.4], [0.6, 0.7]]
    records = [make(past, protocol="x"), make(future, method="nap", protocol="x")]
    assert "| \N{EN DASH} |" in markdown(summarise(records))
    assert " & -- & " in latex(summarise(records))
    assert "±" not in markdown(summarise(records)).replace("mean ±", "")
    assert "pm" not in latex(summarise(records))


def test_csv_has_numbers_and_every_setting(demo: Callable) -> None:
    summaries = summarise(demo())
    rows = list(csv.DictReader(io.StringIO(as_csv(summaries))))
    assert len(rows) == len(summaries) == 10
    assert {row["protocol"] for row in rows} == {"iid", "streaming"}
    for row, item in zip(rows, summaries, strict=True):
        assert float(row["next_domain"]) == item.metrics["next_domain"].mean
        assert float(row["next_domain_deviation"]) == item.metrics["next_domain"].deviation
        assert (row["in_domain"] == "") is (row["protocol"] == "streaming")
        assert float(row["cpu_seconds"]) == item.cost["cpu_seconds"]
        assert (row["seeds"], row["label"]) == ("5", item.label)


def test_csv_of_nothing_is_empty_and_hostile_names_survive(make: Callable) -> None:
    assert as_csv([]) == ""
    (row,) = csv.DictReader(io.StringIO(as_csv(summarise([make([[0.5]], method=HOSTILE)]))))
    assert row["method"] == HOSTILE


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
