"""``onward curate export``, as it is typed, and a run on what it wrote."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from curated import images, pictures, pool, retrieved, votes
from terminal import Terminal

from onward.curate.accept import accept


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> tuple[str | Path, ...]:
    root, shown = tmp_path_factory.mktemp("curated"), pictures()
    pq.write_table(votes(shown), root / "votes.parquet")
    accept(retrieved(root / "retrieved", shown), root / "votes.parquet", root / "accepted")
    pool(root / "pool", shown)
    images(root / "images", shown)
    return (
        *("curate", "export", root / "accepted"),
        *("--pool", root / "pool", "--images", root / "images"),
    )


def test_an_export_and_a_run_on_it(
    onward: Terminal, words: tuple[str | Path, ...], tmp_path: Path
) -> None:
    code, out, _ = onward(*words, "--out", tmp_path / "out")
    assert code == 0
    assert "images of 3 classes in 3 buckets, old layout" in out
    assert "mind:" in out
    assert "no licence" in out
    run = ("run", "clear", "--data", tmp_path / "out", "--method", "nap", "--jobs", "1")
    code, shown, _ = onward(*run, "--out", tmp_path / "results")
    assert code == 0
    assert "out:hog" in shown
    code, again, err = onward(*words, "--out", tmp_path / "out")
    assert code == 0
    assert again == out
    assert "already there" in err
    code, _, err = onward(*words, "--out", tmp_path / "out", "--layout", "new")
    assert code == 2
    assert "found layout = 'new' where it was 'old'" in err


def test_json(onward: Terminal, words: tuple[str | Path, ...], tmp_path: Path) -> None:
    code, out, _ = onward(*words, "--out", tmp_path / "out", "--layout", "new", "--json")
    assert code == 0
    counts = json.loads(out)
    assert counts["layout"] == "new"
    assert counts["images"] == sum(sum(b["images"].values()) for b in counts["buckets"])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--layout", "olde"), "Did you mean 'old'?"),
        (("--missing", "ignore"), "expected one of skip, stop"),
        (("--images", "nowhere"), "expected a folder of images"),
        (("--features", "nowhere"), "onward curate embed"),
        (("--pool", "nowhere"), "onward curate pool"),
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
