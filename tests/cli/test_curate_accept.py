"""``onward curate accept``, as it is typed."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from curated import pictures, retrieved, votes
from terminal import Terminal


@pytest.fixture
def words(tmp_path: Path) -> tuple[str | Path, ...]:
    shown = pictures()
    pq.write_table(votes(shown), tmp_path / "votes.parquet")
    folder = retrieved(tmp_path / "retrieved", shown)
    return ("curate", "accept", folder, "--votes", tmp_path / "votes.parquet", "--per-class", "5")


def test_a_table_and_what_was_rejected(
    onward: Terminal, words: tuple[str | Path, ...], tmp_path: Path
) -> None:
    code, out, _ = onward(*words, "--out", tmp_path / "out")
    assert code == 0
    assert "of 72 candidates accepted" in out
    assert "rejected:" in out
    assert "Krippendorff's α = 0." in out
    assert "with 95% certainty" in out
    rows = [line.split() for line in out.splitlines()]
    assert next(row for row in rows if row[:1] == ["bus"])[-1] == "24"
    code, again, err = onward(*words, "--out", tmp_path / "out")
    assert code == 0
    assert again == out
    assert "already there" in err


def test_json(onward: Terminal, words: tuple[str | Path, ...], tmp_path: Path) -> None:
    code, out, _ = onward(*words, "--out", tmp_path / "out", "--json")
    assert code == 0
    counts = json.loads(out)
    assert counts["candidates"] == counts["accepted"] + sum(counts["rejected"].values())
    assert set(counts["label_error"]) == {"estimate", "low", "high", "images", "level"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--rule", "majorty"), "Did you mean 'majority'?"),
        (("--sensitive", "never"), "expected one of published, strict"),
        (("--short", "error", "--per-class", "300"), "expected 300 images per class"),
    ],
)
def test_mistakes(
    onward: Terminal,
    words: tuple[str | Path, ...],
    tmp_path: Path,
    more: tuple[str, ...],
    message: str,
) -> None:
    code, _, err = onward(*words, "--out", tmp_path / "out", *more)
    assert code == 2
    assert message in err


def test_not_a_stage(onward: Terminal, tmp_path: Path) -> None:
    code, _, err = onward(
        "curate", "accept", tmp_path, "--votes", tmp_path, "--out", tmp_path / "out"
    )
    assert code == 2
    assert "onward curate retrieve" in err
