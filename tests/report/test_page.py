"""The page is one file that asks nobody, shows names as text and marks only what is decided."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from onward.errors import OnwardError
from onward.report.page import Written, write_page
from onward.report.published import PublishedRow, PublishedValue
from onward.report.sparkline import sparklines
from onward.report.summary import summarise
from onward.results.collect import Collected, LeftOut
from onward.results.record import RunRecord
from onward.results.schema import Score

NAN = float("nan")
EVIL = '"><script>alert("x")</script><img src=//evil.example/x>'
HOSTILE = (EVIL, "</script><b>'\"&amp;", "\u202eright to left\u202c ‫עברית‬", "x" * 200)
VOID = {"meta", "img", "br", "link", "input", "hr"}
DATA = {"type": "application/json"}


class Reader(HTMLParser):
    """Collects elements, checks that they nest, and keeps text and data apart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self.data: list[Any] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            if self.elements[-1][1].get("type") == "application/json":
                self.data.append(json.loads(data))
            else:
                self.scripts.append(data)
        elif not self.open or self.open[-1] != "style":
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())

    @property
    def images(self) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == "img"]

    @property
    def tables(self) -> list[dict[str, Any]]:
        return [item for item in self.data if "columns" in item]

    @property
    def maps(self) -> list[dict[str, Any]]:
        return [item for item in self.data if "methods" in item]


def labels(table: dict[str, Any]) -> list[str]:
    return [row["cells"][0]["text"] for row in table["rows"]]


def written(records: Any, tmp_path: Path, **options: Any) -> tuple[str, Reader, Written]:
    collected = records if isinstance(records, Collected) else Collected(tuple(records))
    page = write_page(collected, tmp_path / "page.html", **options)
    text = page.path.read_text()
    return text, Reader(text), page


def two(make: Callable[..., RunRecord], **spec: Any) -> list[RunRecord]:
    R = [[0.7, 0.6], [0.6, 0.7]]
    return [make(R, method=m, seed=s, **spec) for m in ("er", "finetune") for s in (0, 1)]


def test_the_whole_demonstration_in_one_small_file(demo: Callable, tmp_path: Path) -> None:
    png = b"\x89PNG" + bytes(200_000)
    text, page, said = written(demo(), tmp_path, title="A title", contact_sheet_png=png)
    assert len(text) < 1_000_000
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert (said.runs, said.left_out) == (50, [])
    headings = [tag for tag, _ in page.elements if tag in ("h1", "h2", "h3")]
    assert headings == ["h1"] + ["h2"] * 7
    assert base64.b64decode(str(page.images[0]["src"]).partition(",")[2]) == png
    streaming, iid = page.tables
    assert streaming["label"] == "Results, streaming"
    assert sorted(labels(streaming)) == ["cumulative", "er", "finetune", "nap", "scratch"]
    headed = {column["heading"].replace("\u2011", "-") for column in iid["columns"]}
    assert {"next-domain", "against finetune", "CPU", "arithmetic", "stored", "other"} <= headed
    # Two settings: over time, by distance, and cost in two ways.
    drawn = [attributes for _, attributes in page.elements if attributes.get("role") == "img"]
    assert len(drawn) == 8
    assert all(attributes["aria-label"] for attributes in drawn)
    assert "onward run clear --data made-up --protocol streaming" in page.words


def test_nothing_is_asked_from_anywhere(demo: Callable, tmp_path: Path) -> None:
    text, page, _ = written(demo(1, methods=("scratch", "er")), tmp_path)
    assert not {"link", "iframe", "object"} & {tag for tag, _ in page.elements}
    assert not re.search(r"url\((?!#)", text)
    assert "@import" not in text
    for _, attributes in page.elements:
        for name in ("src", "href", "srcset", "action"):
            assert attributes.get(name, "data:").startswith(("data:", "#"))
    policy = next(
        str(attributes["content"])
        for tag, attributes in page.elements
        if tag == "meta" and "http-equiv" in attributes
    )
    assert policy.startswith("default-src 'none'")
    assert len(page.scripts) == 3
    for script in page.scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_ids_are_unique_and_references_lead_somewhere(demo: Callable, tmp_path: Path) -> None:
    text, page, _ = written(demo(2), tmp_path)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    referred = set(re.findall(r"url\(#([^)]+)\)", text)) | {
        str(attributes["href"])[1:] for tag, attributes in page.elements if tag in ("a", "use")
    }
    assert referred <= set(ids)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_as_text(make: Callable, tmp_path: Path, name: str) -> None:
    R = [[0.7, 0.6], [0.6, 0.7]]
    records = [make(R, method=m, seed=seed) for m in (name, "finetune") for seed in (0, 1)]
    text, page, _ = written(records, tmp_path, title=name, citations=name)
    assert "<script>alert" not in text
    assert "evil.example" not in str([attributes.get("src") for _, attributes in page.elements])
    assert not {"b", "i"} & {tag for tag, _ in page.elements if tag not in ("b",)}
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    assert shown.rsplit(":", 1)[-1] in labels(page.tables[0])
    assert shown.rsplit(":", 1)[-1] in [item["label"] for item in page.maps[0]["methods"]]
    assert name in "".join(page.text)


@pytest.mark.parametrize(("seeds", "marked"), [(5, 0), (6, 5)])
def test_best_is_marked_only_if_decided(
    demo: Callable, tmp_path: Path, seeds: int, marked: int
) -> None:
    records = demo(seeds, protocols=("iid",), methods=("finetune", "nap"), periods=3)
    text, page, _ = written(records, tmp_path)
    assert sum(len(row["best"]) for row in page.tables[0]["rows"]) == marked
    assert (": here, nothing." in text) is (marked == 0)
    said = str(page.tables[0]["rows"])
    assert ("cannot tell" in said) is (marked == 0)
    assert ("worse, p = 0.031" in said) is (marked > 0)


def test_one_seed_shows_no_deviation_and_says_so(demo: Callable, tmp_path: Path) -> None:
    records = demo(1, protocols=("streaming",), methods=("finetune", "er"), periods=3)
    _, page, _ = written(records, tmp_path)
    for row in page.tables[0]["rows"]:
        assert row["cells"][0]["note"] == "1 seed: no deviation"
        assert row["cells"][1][1] is None
    assert not re.search(r"\bnan\b", page.words.lower())
    assert "One seed cannot tell." in page.words


def test_cells_that_are_not_measured_are_null(make: Callable, tmp_path: Path) -> None:
    R = [[NAN, 0.6123], [NAN, NAN]]
    _, page, _ = written([make(R, protocol="streaming", seed=seed) for seed in (0, 1)], tmp_path)
    assert page.maps[0]["methods"][0]["cells"] == [None, 612, None, None]
    lost = [make([[0.5, NAN], [0.4, 0.6]], seed=seed) for seed in (0, 1)]
    _, page, _ = written(lost, tmp_path)
    assert page.maps[0]["methods"][0]["cells"] == [500, None, 400, 600]


def test_a_stream_of_one_period_has_a_page_too(make: Callable, tmp_path: Path) -> None:
    _, page, _ = written([make([[0.5]])], tmp_path)
    assert page.tables[0]["columns"][1]["heading"] == "in\u2011domain"


def test_what_is_missing_is_named(make: Callable, tmp_path: Path) -> None:
    R = [[0.7, 0.6], [0.6, 0.7]]
    killed = [make([[0.7, 0.6], [NAN, NAN]], seed=s, method="er", complete=False) for s in (1, 2)]
    _, page, said = written([*two(make), make(R, seed=5), *killed], tmp_path)
    assert "er (iid), seeds 1-2: not finished, 1 of 2 periods are tested" in page.words
    assert "er (iid), seed 5: no complete run" in page.words
    assert len(said.left_out) == 2
    other = make(R, benchmark="tic", complete=False)
    _, page, _ = written([*two(make), other], tmp_path)
    assert "tic / made-up: 1 unfinished, none complete" in page.words


def test_damaged_folders_are_named_and_counted(make: Callable, tmp_path: Path) -> None:
    hurt = tuple(LeftOut(Path(f"/runs/{n}"), f"damage {n}") for n in range(25))
    _, page, said = written(Collected(tuple(two(make)), hurt), tmp_path)
    assert "25 folders could not be read" in page.words
    assert "/runs/3 : damage 3" in page.words
    assert "and 5 more" in page.words
    assert len(said.left_out) == 25


def test_no_complete_run_is_no_page(make: Callable, tmp_path: Path) -> None:
    hurt = (LeftOut(Path("x"), "scores.jsonl is damaged"),)
    only = Collected((make([[0.5]], complete=False),), hurt)
    with pytest.raises(OnwardError, match=r"found 1 unfinished and 1 that cannot be read \(such"):
        written(only, tmp_path)
    with pytest.raises(OnwardError, match="found none"):
        written(Collected(()), tmp_path)


def test_several_benchmarks_are_chapters(make: Callable, tmp_path: Path) -> None:
    _, page, said = written([*two(make), *two(make, benchmark="tic")], tmp_path)
    assert said.chapters == ["clear / made-up", "tic / made-up"]
    anchors = [attributes.get("href") for tag, attributes in page.elements if tag == "a"]
    assert anchors == ["#content", "#chapter-0", "#chapter-1"]
    assert "2 benchmarks, 8 runs" in page.words


def test_two_versions_of_the_data_are_never_averaged(make: Callable, tmp_path: Path) -> None:
    records = [*two(make), *two(make, data_digest="e" * 64)]
    _, page, said = written(records, tmp_path)
    assert said.chapters == ["clear / made-up, data dddddddd", "clear / made-up, data eeeeeeee"]
    assert all(row["cells"][-1] == 2 for table in page.tables for row in table["rows"])


def test_published_rows_stand_apart(make: Callable, tmp_path: Path) -> None:
    row = PublishedRow(
        benchmark="clear",
        protocol="iid",
        data="CLEAR-10",
        label="ER (paper)",
        method="er",
        values={
            "next_domain": PublishedValue(0.931, 0.004),
            "accuracy": PublishedValue(0.9, certain=False),
        },
        paper="Lin et al. 2021",
        table="clear/table1",
    )
    elsewhere = PublishedRow("clear", "streaming", "d", "not here", "er", {}, "p", "t")
    _, page, _ = written(two(make), tmp_path, published=[row, elsewhere])
    (table,) = page.tables
    assert labels(table) == ["er", "finetune", "ER (paper)"]
    paper = table["rows"][-1]
    assert (paper["group"], paper["class"], paper.get("best")) == (1, "published", None)
    assert table["groups"][0].endswith("Lin et al. 2021; CLEAR-10")
    assert paper["cells"][1] == [93.1, 0.4]
    assert [90.0, None, "in doubt"] in paper["cells"]
    assert all(len(row["cells"]) == len(table["columns"]) for row in table["rows"])
    assert [row["cells"][-1] for row in table["rows"]] == ["runs", "runs", "papers"]


def test_of_many_methods_the_leading_ones_are_drawn(make: Callable, tmp_path: Path) -> None:
    R = [[0.7, 0.6], [0.6, 0.7]]
    records = [make([[c - n / 100 for c in row] for row in R], method=f"m{n}") for n in range(30)]
    _, page, _ = written([*records, make([[0.1, 0.1], [0.1, 0.1]])], tmp_path)
    assert len(page.tables[0]["rows"]) == 31
    assert len(page.maps[0]["methods"]) == 31
    chips = [attributes for tag, attributes in page.elements if "aria-pressed" in attributes]
    assert len([chip for chip in chips if "data-method" in chip]) == 10
    assert "Figures show 10 of 31 methods" in page.words
    coloured = [row["cells"][0]["text"] for row in page.tables[0]["rows"] if "colour" in row]
    assert coloured == [*(f"m{n}" for n in range(9)), "finetune"]
    assert page.maps[0]["methods"][page.maps[0]["second"]]["label"] == "finetune"


def test_the_same_runs_make_the_same_bytes(demo: Callable, tmp_path: Path) -> None:
    first, _, _ = written(demo(2, methods=("scratch", "er"), periods=3), tmp_path)
    second, _, _ = written(demo(2, methods=("scratch", "er"), periods=3)[::-1], tmp_path)
    assert first == second


def test_reports_load_no_learning_framework() -> None:
    check = (
        "import sys, onward.report.page, onward.report.terminal\n"
        "sys.exit(bool({'torch', 'matplotlib.pyplot'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_everything_at_once_has_a_page_too(make: Callable, tmp_path: Path) -> None:
    rows = ([NAN, NAN], [0.62, 0.83])
    records = [
        make(rows, protocol="offline", seed=seed, method=method)
        for seed in (0, 1)
        for method in ("finetune", "er")
    ]
    _, page, _ = written(records, tmp_path)
    assert page.tables[0]["columns"][1]["note"] == "all periods, once all are learned"
    assert page.tables[0]["rows"][0]["cells"][1] == [72.5, 0.0]
    assert page.maps[0]["rows"] == [1]
    assert page.maps[0]["methods"][0]["cells"] == [620, 830]


def test_a_control_character_in_a_period_s_name_is_replaced(make: Callable, tmp_path: Path) -> None:
    text, page, _ = written(two(make, periods=["a\x1b[31m", "b\x00"]), tmp_path)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", text)
    assert page.maps[0]["periods"] == ["a\ufffd[31m", "b\ufffd"]


def test_papers_are_folded_and_their_own_tables_come_before_the_supplement(
    make: Callable, tmp_path: Path
) -> None:
    rows = [
        PublishedRow(
            "clear",
            "iid",
            "d",
            name,
            "er",
            {"accuracy": PublishedValue(0.9)},
            name,
            f"clear/{name}",
        )
        for name in ("supp4", "table1", "table2")
    ]
    _, page, _ = written(two(make), tmp_path, published=rows)
    (table,) = page.tables
    assert table["folded"] is True
    assert [group[-9:-3] for group in table["groups"]] == ["table1", "table2", " supp4"]


def test_seconds_are_rounded_once(make: Callable, tmp_path: Path) -> None:
    records = [make([[0.5]], cost={"cpu_seconds": 10.7846})]
    _, page, _ = written(records, tmp_path)
    assert 10.7846 in page.tables[0]["rows"][0]["cells"]


def test_the_mean_over_classes_is_called_so(make: Callable, tmp_path: Path) -> None:
    record = make([[NAN, NAN], [NAN, NAN]], protocol="online")
    scores = [
        Score(
            learned_upto=period,
            tested_on=None,
            test="test",
            samples=9,
            scores={"accuracy": 0.9, "class_mean_accuracy": 0.4 + 0.1 * period},
        )
        for period in range(2)
    ]
    record = replace(record, scores=tuple(scores))
    text, page, _ = written([record], tmp_path)
    assert "Class-mean accuracy on the one test, which belongs to no period." in page.words
    assert ">class-mean accuracy</text>" in text
    lines = sparklines(summarise([record]))
    assert lines is not None
    assert lines.words == "class-mean accuracy on the one test, which belongs to no period"
