"""``onward leaderboard`` by command."""

import json
from pathlib import Path

from typer.testing import CliRunner

import onward
from onward.checks.tiny import tiny_benchmark
from onward.cli import app


def test_the_site_and_what_is_said(tmp_path: Path) -> None:
    for name in ("finetune", "nap"):
        onward.run(tiny_benchmark(), name, out=tmp_path / "results")
    onward.run(tiny_benchmark("streaming"), "nap", out=tmp_path / "results")
    broken = tmp_path / "results" / "tiny" / "er" / "0123456789abcdef"
    broken.mkdir(parents=True)
    (broken / "spec.json").write_text("{}")
    site = tmp_path / "site"
    arguments = ["leaderboard", str(tmp_path / "results"), "--out", str(site), "--title", "Mine"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "tiny, iid: 2 entries in 1 division, 0 published rows" in done.output
    assert "3 of 4 runs accepted" in done.output
    assert "not accepted" in done.output
    assert (site / "index.html").read_text().count("<h2") == 3
    written = json.loads((site / "site.json").read_text())
    assert [board["protocol"] for board in written["boards"]] == ["iid", "streaming"]


def test_the_rows_of_papers_are_there(tmp_path: Path) -> None:
    onward.run(onward.load("clear", protocol="streaming"), "nap", out=tmp_path / "results")
    arguments = ["leaderboard", str(tmp_path / "results"), "--out", str(tmp_path / "site")]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    (page,) = (tmp_path / "site" / "boards").glob("clear-streaming-*.html")
    text = page.read_text()
    assert "Linear A-GEM" in text
    assert "published, not ranked: CLEAR10" in text
    assert "NeurIPS 2021 Datasets and Benchmarks, Table 1" in text
