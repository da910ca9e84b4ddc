"""A leaderboard ranks what was checked, among its like alone, and says what it left out."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from resubmitted import resubmitted

import onward
from onward.checks.tiny import tiny_benchmark
from onward.errors import OnwardError
from onward.exam import keys_of
from onward.report.commands import commands
from onward.report.leaderboard import (
    Leaderboard,
    _division,
    _marked,
    budget_words,
    leaderboard,
    memory_words,
)
from onward.report.leaderboard_board import board_table
from onward.report.leaderboard_site import MARK, write_site
from onward.report.published import PublishedRow, PublishedValue
from onward.report.summary import by_setting, summarise
from onward.results.collect import collect
from onward.results.keys import Keys
from onward.results.record import RunRecord

EVIL = '"><script>alert("x")</script><img src=//evil.example/x>'
PUBLISHED = (
    PublishedRow(
        benchmark="tiny",
        protocol="iid",
        data="Tiny, official",
        label="a paper's method",
        method="er",
        values={"next_domain": PublishedValue(0.99, 0.01), "accuracy": PublishedValue(0.98)},
        paper="Somebody et al., 2020, Table 1",
        table="tiny/table1",
    ),
    PublishedRow("other", "iid", "x", "y", "er", {}, "nobody", "other/table1"),
)


class Reader(HTMLParser):
    """Collects elements, addresses and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.text, self.scripts = "", ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "srcset", "action"):
                self.addresses.append(value or "")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script" and not data.startswith("{"):
            self.scripts += data
        self.text += data


@cache
def _keys() -> Keys:
    """Those of both editions, whatever they are called."""
    made = tiny_benchmark()
    mine = keys_of(made, (0, 1)).by_name
    theirs = {name.replace(made.raw.digest[:16], "f" * 16): key for name, key in mine.items()}
    return Keys(mine | theirs)


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three methods with two seeds on one edition of the data, one of them on another too."""
    out = tmp_path_factory.mktemp("submitted")
    for name in ("finetune", "nap", "er"):
        for seed in (0, 1):
            run = onward.run(tiny_benchmark(), name, seed, out / "mine").path
            assert run is not None
            if name == "nap":
                changes = {"data": "official", "data_digest": "f" * 64}
                resubmitted(run, out / "theirs", **changes)
    return out


@pytest.fixture
def found(submitted: Path) -> Leaderboard:
    return leaderboard(collect([submitted]), PUBLISHED, _keys())


def test_ranks_are_by_the_first_metric_and_begin_anew_for_each_edition(found: Leaderboard) -> None:
    (board,) = found.boards
    assert (board.benchmark, board.protocol) == ("tiny", "iid")
    sizes = {division.spec.data: len(division.entries) for division in board.divisions}
    assert sizes == {"points": 3, "official": 1}
    for division in board.divisions:
        means = [entry.summary.metrics["next_domain"].mean for entry in division.entries]
        assert means == sorted(means, reverse=True)
        expected = [1 + sum(other > mean for other in means) for mean in means]
        assert [entry.rank for entry in division.entries] == expected
        assert division.entries[0].behind is None
        assert not division.decided  # two seeds decide nothing
    assert found.checked == 8
    assert found.refused == ()
    assert {len(entry.summary.seeds) for entry in board.entries} == {2}


def test_equal_scores_share_a_rank(submitted: Path, tmp_path: Path) -> None:
    shutil.copytree(submitted / "mine", tmp_path / "mine")
    for folder in sorted((submitted / "mine" / "tiny" / "er").iterdir()):
        resubmitted(folder, tmp_path / "twin", method="twin")
    (board,) = leaderboard(collect([tmp_path]), keys=_keys()).boards
    (division,) = board.divisions
    ranks = {entry.summary.label: entry.rank for entry in division.entries}
    # All that learns ends alike on these points; what does not is behind all of them.
    assert ranks == {"er": 1, "twin": 1, "finetune": 1, "nap": 4}


def test_published_rows_stand_in_groups_of_their_own(found: Leaderboard) -> None:
    (board,) = found.boards
    assert [row.label for row in board.published] == ["a paper's method"]
    pages = {entry.summary.spec.without_seed(): "entries/x.html" for entry in board.entries}
    table = board_table(board, pages)
    columns = [column["heading"] for column in table["columns"]]
    assert all(len(row["cells"]) == len(columns) for row in table["rows"])
    groups = [row["group"] for row in table["rows"]]
    assert sorted(set(groups)) == [1, 2, 3] == list(range(1, 1 + len(table["groups"])))
    paper = table["rows"][-1]
    cells = dict(zip(columns, paper["cells"], strict=True))
    assert paper["class"] == cells["from"] == "published"
    assert cells["rank"] is None
    assert cells["method"]["note"] == "published · tiny/table1"
    assert "Somebody et al., 2020, Table 1" in table["groups"][-1]
    assert cells["next-domain"] == [pytest.approx(99.0), pytest.approx(1.0)]
    assert cells["data"] == "Tiny, official"
    assert "not ranked" in table["groups"][-1]
    # Each group holds one edition of the data.
    at = columns.index("data")
    for group in set(groups):
        assert len({row["cells"][at] for row in table["rows"] if row["group"] == group}) == 1
    filters = [column["heading"] for column in table["columns"] if column.get("filter")]
    assert filters == ["data", "recipe", "budget", "samples kept", "from"]


def test_budgets_and_memories_are_told_apart(submitted: Path, tmp_path: Path) -> None:
    shutil.copytree(submitted / "mine", tmp_path / "mine")
    limits = {"iterations": 5000.0}
    (run, *_) = sorted((submitted / "mine" / "tiny" / "er").iterdir())
    resubmitted(run, tmp_path / "limited", limits=limits)
    (board,) = leaderboard(collect([tmp_path]), keys=_keys()).boards
    budgets = {division.budget: len(division.entries) for division in board.divisions}
    assert budgets == {"no limit": 3, "iterations ≤ 5,000": 1}
    memories = {entry.summary.label: memory_words(entry.summary) for entry in board.entries}
    assert (memories["finetune"], memories["er"]) == ("none", "up to 1,000")


def test_divisions_with_the_same_words_are_told_apart(submitted: Path, tmp_path: Path) -> None:
    (run, *_) = sorted((submitted / "mine" / "tiny" / "er").iterdir())
    shutil.copytree(run, tmp_path / "new" / "tiny" / "er" / run.name)
    resubmitted(run, tmp_path / "old", periods=["a", "b", "c", "d"])
    (board,) = leaderboard(collect([tmp_path]), keys=_keys()).boards
    one, other = board.divisions
    assert one.mark
    assert one.words() != other.words()
    assert one.words().partition(" · cut #")[0] == other.words().partition(" · cut #")[0]


def test_what_a_protocol_exempts_competes_by_itself(make: Callable[..., RunRecord]) -> None:
    budget = {"name": "budget", "tests": "all", "limits": {"macs": 6e10}, "exempt": ["oracle"]}
    free = make([[0.5]], method="oracle").spec.model_copy(update={"protocol": budget})
    bound = free.model_copy(update={"method": "er", "limits": {"macs": 6e10}})
    assert budget_words(free) == "exempt from the limit of macs"
    assert budget_words(bound) == "macs ≤ 60 billion"


def test_a_folder_with_a_problem_is_listed_and_not_ranked(submitted: Path, tmp_path: Path) -> None:
    shutil.copytree(submitted, tmp_path / "all")
    (changed, damaged) = sorted((tmp_path / "all/mine/tiny/er").iterdir())
    scores = (changed / "scores.jsonl").read_text().replace('"accuracy":0.', '"accuracy":0.9', 1)
    (changed / "scores.jsonl").write_text(scores)
    (damaged / "spec.json").write_text("{")
    found = leaderboard(collect([tmp_path / "all"]), PUBLISHED, _keys())
    assert found.checked == 8
    assert {each.folder for each in found.refused} == {changed, damaged}
    assert "er" not in {entry.summary.label for board in found.boards for entry in board.entries}
    index = write_site(found, tmp_path / "site", tmp_path / "all")
    refused = Reader((index.parent / "refused.html").read_text()).text
    assert f"mine/tiny/er/{changed.name}" in refused
    assert "scores.jsonl" in refused
    # Where it lies on this machine is nobody's business.
    for page in index.parent.rglob("*.*"):
        assert str(tmp_path) not in page.read_text()


def test_two_results_of_one_spec_are_both_refused(submitted: Path, tmp_path: Path) -> None:
    (run, *_) = sorted((submitted / "mine" / "tiny" / "er").iterdir())
    (other, *_) = sorted((submitted / "mine" / "tiny" / "nap").iterdir())
    spec = json.loads((run / "spec.json").read_text())
    shutil.copytree(submitted / "theirs", tmp_path / "theirs")
    shutil.copytree(run, tmp_path / "a" / "tiny" / "er" / run.name)
    resubmitted(other, tmp_path / "b", **spec)
    found = leaderboard(collect([tmp_path]), keys=_keys())
    assert len(found.refused) == 2
    assert all("two that differ" in each.reasons[0] for each in found.refused)


def test_a_seed_that_was_copied_is_refused(submitted: Path, tmp_path: Path) -> None:
    (run, *_) = sorted((submitted / "mine" / "tiny" / "er").iterdir())
    shutil.copytree(submitted / "theirs", tmp_path / "theirs")
    shutil.copytree(run, tmp_path / "a" / "tiny" / "er" / run.name)
    copy = resubmitted(run, tmp_path / "b", seed=7)
    # Where no key tells which is the copy, both are; where one does, it alone.
    found = leaderboard(collect([tmp_path]))
    assert len(found.refused) == 2
    found = leaderboard(collect([tmp_path]), keys=_keys())
    assert [each.folder for each in found.refused] == [copy]
    assert "a copy under another name" in found.refused[0].reasons[0]


def test_what_no_key_vouches_for_is_shown_and_not_ranked(submitted: Path, tmp_path: Path) -> None:
    shutil.copytree(submitted / "mine", tmp_path / "in")
    for run in (tmp_path / "in" / "tiny" / "nap").iterdir():
        if json.loads((run / "spec.json").read_text())["seed"] == 1:
            shutil.rmtree(run)
    one_seed = Keys({n: key for n, key in _keys().by_name.items() if n.endswith("/0")})
    found = leaderboard(collect([tmp_path / "in"]), keys=one_seed)
    ((division,),) = (board.divisions for board in found.boards)
    # The worst of them leads: it alone is verified.
    ranks = [(entry.summary.label, entry.rank, entry.verified) for entry in division.entries]
    assert ranks[0] == ("nap", 1, True)
    assert sorted(ranks[1:]) == [("er", None, False), ("finetune", None, False)]
    pages = {entry.summary.spec.without_seed(): "x" for entry in found.boards[0].entries}
    rows = board_table(found.boards[0], pages)["rows"]
    assert [row["cells"][0].get("note") for row in rows].count("targets not verified") == 2
    # Without any key, nobody leads, and the pages say why.
    index = write_site(leaderboard(collect([tmp_path / "in"])), tmp_path / "site", tmp_path)
    assert "none is ranked" in Reader(index.read_text()).text
    (page,) = (index.parent / "entries").glob("nap-*.html")
    assert "targets not verified" in Reader(page.read_text()).text
    data = json.loads((index.parent / MARK).read_text())
    (entries,) = (d["entries"] for board in data["boards"] for d in board["divisions"])
    assert {(entry["rank"], entry["verified"]) for entry in entries} == {(None, False)}


def test_ranks_are_by_the_seeds_that_all_have(make: Callable[..., RunRecord]) -> None:
    def runs(method: str, *scores: float) -> list[RunRecord]:
        matrices = [[[score] * 2] * 2 for score in scores]
        return [make(m, method=method, seed=seed) for seed, m in enumerate(matrices)]

    (setting,) = by_setting(summarise([*runs("lucky", 0.6), *runs("steady", 0.7, 0.3, 0.3)]))
    division = _division(setting, set())
    ranks = {entry.summary.label: entry.rank for entry in division.entries}
    assert (ranks, division.ranked_on) == ({"steady": 1, "lucky": 2}, (0,))
    (setting,) = by_setting(summarise([*runs("lucky", 0.6, 0.6), *runs("steady", 0.7, 0.3)]))
    assert _division(setting, set()).ranked_on is None
    apart = [record for record in runs("steady", 0.1, 0.7) if record.spec.seed == 1]
    (setting,) = by_setting(summarise([*runs("lucky", 0.6), *apart]))
    division = _division(setting, set())
    assert division.ranked_on is None
    assert division.first is not None
    assert division.first.summary.label == "steady"


def test_no_two_divisions_share_heading_and_mark(make: Callable[..., RunRecord]) -> None:
    spec = make([[0.5]]).spec
    changes: list[dict[str, Any]] = [
        {"limits": {"macs": 6.0001e10}},
        {"limits": {"macs": 6.0002e10}},
        {"data_digest": "a" * 63 + "0"},
        {"data_digest": "a" * 63 + "1"},
        {"benchmark_options": {"x": 1}},
        {"benchmark_options": {"x": "1"}},
    ]
    records = [replace(make([[0.5]]), spec=spec.model_copy(update=change)) for change in changes]
    divisions = [_division([item], set()) for item in summarise(records)]
    assert len({division.words() for division in _marked(divisions)}) == len(changes)


def test_nothing_to_accept_is_said(submitted: Path, tmp_path: Path) -> None:
    (run, *_) = sorted((submitted / "mine" / "tiny" / "er").iterdir())
    shutil.copytree(run, tmp_path / "renamed")
    with pytest.raises(OnwardError, match="found none among 1; the first"):
        leaderboard(collect([tmp_path]), keys=_keys())


def test_every_link_leads_to_a_page_of_the_site(found: Leaderboard, tmp_path: Path) -> None:
    index = write_site(found, tmp_path / "site", tmp_path)
    assert index == tmp_path / "site" / "index.html"
    pages = {path.relative_to(index.parent).as_posix() for path in index.parent.rglob("*.html")}
    assert len([page for page in pages if page.startswith("entries/")]) == 4
    assert len([page for page in pages if page.startswith("boards/")]) == 1
    reached = {"index.html"}
    for page in pages:
        text = (index.parent / page).read_text()
        linked = [*Reader(text).addresses, *re.findall(r'"href":"([^"]*)"', text)]
        for address in linked:
            if address.startswith("#"):
                continue
            target = (index.parent / page).parent.joinpath(address).resolve()
            assert target.is_file(), (page, address)
            reached.add(target.relative_to(index.parent).as_posix())
    assert reached == pages


def test_an_entry_s_page_has_what_is_needed_to_believe_it(
    found: Leaderboard, tmp_path: Path
) -> None:
    index = write_site(found, tmp_path / "site", tmp_path)
    (page,) = (index.parent / "entries").glob("er-*.html")
    text = " ".join(Reader(page.read_text()).text.split())
    entry = next(e for e in found.boards[0].entries if e.summary.label == "er")
    for record in entry.summary.records:
        assert record.spec.hash in text
    (command,) = commands(record.spec for record in entry.summary.records)
    assert command in text
    assert "--method er --seeds 0-1" in text
    assert f"{100 * entry.summary.matrix[0, 1]:.1f}" in text
    assert entry.summary.spec.data_digest in text
    assert f"Rank {entry.rank} of 3" in text
    assert "cannot tell" in text or entry.rank == 1


def test_hostile_names_are_text_and_make_no_path(submitted: Path, tmp_path: Path) -> None:
    (run, *_) = sorted((submitted / "mine" / "tiny" / "er").iterdir())
    names = (EVIL, "../a/b/../up", "مرحبا", "x" * 200, "con.txt:Na'me")
    for name in names:
        options = {"note": "</script><b>"}
        resubmitted(run, tmp_path / "in", method=name, method_options=options)
    resubmitted(run, tmp_path / "in", benchmark=f"b{EVIL}", data=EVIL, periods=[EVIL] * 4)
    found = leaderboard(collect([tmp_path]), keys=_keys())
    index = write_site(found, tmp_path / "site", tmp_path, title=EVIL)
    written = [path for path in index.parent.rglob("*") if path.is_file()]
    assert len([path for path in written if path.parent.name == "entries"]) == 6
    for path in written:
        assert re.fullmatch(r"[a-z0-9.-]{1,60}", path.name)
        if path.suffix == ".html":
            page = Reader(path.read_text())
            assert "img" not in page.tags
            assert all(not re.match(r"(\w+:|//)", address) for address in page.addresses)
            # The page's own, by their hashes, and at most one table's data.
            assert page.tags.count("script") == (3 if path.parent.name == "boards" else 1)
            assert "alert" not in page.scripts
    assert EVIL in Reader(index.read_text()).text


def test_a_second_build_replaces_the_first_and_nothing_else(
    found: Leaderboard, submitted: Path, tmp_path: Path
) -> None:
    out = tmp_path / "site"
    write_site(found, out, submitted)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    write_site(leaderboard(collect([submitted]), PUBLISHED, _keys()), out, submitted)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    (out / "entries" / "stale.html").write_text("old")
    write_site(found, out, submitted)
    assert not (out / "entries" / "stale.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert json.loads((out / MARK).read_text())["boards"][0]["published_rows"] == 1


@pytest.mark.parametrize("content", [{"notes.txt": "mine"}, {MARK: "{}"}, {MARK: "no"}])
def test_a_folder_that_is_no_site_of_ours_is_left_alone(
    found: Leaderboard, tmp_path: Path, content: dict[str, str]
) -> None:
    out = tmp_path / "work"
    out.mkdir()
    write_site(found, out, tmp_path)  # an empty folder is as good as none
    shutil.rmtree(out)
    out.mkdir()
    for name, text in content.items():
        (out / name).write_text(text)
    with pytest.raises(OnwardError, match="Choose another folder"):
        write_site(found, out, tmp_path)
    assert {path.name: path.read_text() for path in out.iterdir()} == content
    file = tmp_path / "file"
    file.write_text("text")
    with pytest.raises(OnwardError, match="Choose another folder"):
        write_site(found, file, tmp_path)


def test_a_page_asks_nobody(found: Leaderboard, tmp_path: Path) -> None:
    index = write_site(found, tmp_path / "site", tmp_path)
    for path in index.parent.rglob("*.html"):
        text = path.read_text()
        assert "http://" not in text
        assert "https://" not in text
        assert "url(" not in text
        assert "Content-Security-Policy" in text


def test_one_seed_invents_no_deviation(submitted: Path, tmp_path: Path) -> None:
    (run, *_) = sorted((submitted / "mine" / "tiny" / "er").iterdir())
    shutil.copytree(run, tmp_path / "in" / "tiny" / "er" / run.name)
    found = leaderboard(collect([tmp_path / "in"]), keys=_keys())
    (board,) = found.boards
    pages = {entry.summary.spec.without_seed(): "x" for entry in board.entries}
    (row,) = board_table(board, pages)["rows"]
    assert row["cells"][2][1] is None
    assert "best" not in row or row["best"] == []
    index = write_site(found, tmp_path / "site", tmp_path)
    assert "nan" not in Reader(index.read_text()).text.lower()
