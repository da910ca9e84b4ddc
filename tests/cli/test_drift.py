"""onward drift: in words, as JSON, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest
from terminal import Terminal
from your_tables import points, write_csv


@pytest.fixture
def table(tmp_path: Path) -> list[str | Path]:
    path = write_csv(tmp_path / "points.csv", points(400))
    return ["--data", path, "--time-column", "taken", "--label-column", "kind"]


def test_words_json_and_a_page(onward: Terminal, table: list[str | Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    code, out, err = onward("drift", *table, "--periods", "4", "--out", page, "--draws", "19")
    assert (code, err) == (0, "")
    assert "The data moves in" in out
    assert "without drift at the same numbers of samples" in out
    assert page.read_text("utf-8").startswith("<!doctype html>")
    code, out, _ = onward("drift", *table, "--periods", "4", "--json", "--draws", "19")
    assert code == 0
    plain = json.loads(out)
    assert plain["benchmark"] == "yours"
    assert {"data", "periods", "embedding", "pairs", "classes"} <= set(plain)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--periods", "80"], "expected at least 20 samples in every period, found"),
        (["--periods", "1"], "periods, since there are samples of"),
        (["--label-column", "kin"], "kin"),
        (["--periods", "4", "--model", "no_such_clip"], "unknown CLIP model"),
        (["--periods", "4", "--text-column", "nothing"], "unknown column of texts"),
    ],
)
def test_what_is_refused(
    onward: Terminal, table: list[str | Path], more: list[str], said: str
) -> None:
    code, _, err = onward("drift", *table, *more)
    assert code == 2
    assert said in err


def test_embeddings_of_different_widths_are_refused(
    onward: Terminal, table: list[str | Path], tmp_path: Path
) -> None:
    folder = tmp_path / "vectors"
    folder.mkdir()
    for name, width in (("a", 4), ("b", 5)):
        np.save(folder / f"{name}.npy", np.zeros((200, width), np.float32))
        ids = range(200) if name == "a" else range(200, 400)
        (folder / f"{name}.txt").write_text("\n".join(map(str, ids)), "utf-8")
    code, _, err = onward("drift", *table, "--periods", "4", "--embeddings", folder)
    assert code == 2
    assert "expected vectors of one width" in err


def test_unknown_data_is_refused(onward: Terminal) -> None:
    code, _, err = onward("drift", "--data", "emojy")
    assert code == 2
    assert "Did you mean 'emoji'" in err
