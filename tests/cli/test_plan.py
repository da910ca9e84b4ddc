import json
from pathlib import Path

import pytest
from terminal import Terminal

import onward as library
from onward.checks import tiny_benchmark


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("results")
    for method in ("finetune", "nap"):
        for seed in (0, 1):
            library.run(tiny_benchmark("streaming"), method, seed, out)
    return out


def test_a_plan_from_run_folders(onward: Terminal, results: Path, tmp_path: Path) -> None:
    costs = ("--update-cost", 2, "--loss-cost", 1)
    page = tmp_path / "plan.html"
    code, out, err = onward("plan", results, *costs, "--out", page)
    assert (code, err) == (0, "")
    assert out.startswith("Train with ")
    assert "Policies are replayed on models that had learned every period" in out
    assert page.read_text().startswith("<!doctype html>")
    code, out, _ = onward("plan", results, *costs, "--json", "--below", 50, "--fall", 3)
    found = json.loads(out)
    assert code == 0
    best = found["recommendation"]
    assert best["method"] in ("finetune", "nap")
    assert best["cost"] == min(one["total"] for one in found["policies"])
    assert best["interval"] is None
    assert {one["kind"] for one in found["policies"]} == {
        "never",
        "every",
        "fall",
        "below",
        "drift",
    }
    assert found["staleness"].keys() == {"finetune", "nap"}
    for one in found["policies"]:
        assert one["total"] == pytest.approx(one["update_cost"] + one["loss_cost"])


def test_mistakes(onward: Terminal, results: Path, tmp_path: Path) -> None:
    both = tmp_path / "both"
    library.run(tiny_benchmark("streaming"), "nap", 0, both)
    library.run(tiny_benchmark("iid"), "nap", 0, both)
    last = tmp_path / "last"
    library.run(tiny_benchmark("offline"), "nap", 0, last)
    (tmp_path / "empty").mkdir()
    costs = ("--update-cost", 1, "--loss-cost", 1)
    for words, message in (
        ((tmp_path / "nothing", *costs), "found nothing at"),
        ((tmp_path / "empty", *costs), "found none"),
        ((both, *costs), "found 2 settings"),
        ((last, *costs), "a plan is about the future"),
        ((results, "--update-cost", -1, "--loss-cost", 1), "a cost of 0 or more for update"),
        ((results, "--update-cost", 1, "--loss-cost", "nan"), "a cost of 0 or more for loss"),
        ((results, *costs, "--delay", 99), "expected a delay of 0 to"),
        ((results, *costs, "--drift", tmp_path / "no.json"), "no.json"),
        ((results, *costs, "--below", "nan"), "to update below, found nan"),
        ((results, *costs, "--out", tmp_path), "a file to write the page to, found the folder"),
    ):
        code, out, err = onward("plan", *words)
        assert (code, out) == (2, ""), words
        assert message in " ".join(err.split())
