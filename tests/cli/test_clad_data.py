import json
from pathlib import Path

import pytest
from soda_miniature import box, frame, write_soda
from terminal import Terminal


def test_make_street_then_check_it(onward: Terminal, tmp_path: Path) -> None:
    street = tmp_path / "street"
    code, out, _ = onward("data", "make", "street", "--out", street, "--frames", "1")
    assert (code, "46 frames of Emoji Street" in out) == (0, True)
    code, out, _ = onward("check", "data", "clad", "--root", street, "--json")
    assert code == 2  # a miniature has not the published counts
    found = json.loads(out)
    assert found["problems"] == []
    assert {"source", "what", "expected", "found"} == set(found["counts"][0])
    code, out, _ = onward("check", "data", "clad", "--root", street)
    assert code == 2
    assert "test, domain 4, images" in out
    assert "of 310 counts as published" in out
    assert "46 images read in full, 0 problems" in out


def test_the_street_is_checked_without_published_counts(
    onward: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path))
    code, out, _ = onward("check", "data", "street", "--frames", "1")
    assert (code, out) == (0, "46 images read in full, 0 problems\n")


def test_make_into_a_folder_in_use(onward: Terminal, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    code, _, err = onward("data", "make", "street", "--out", tmp_path)
    assert (code, "a new or an empty folder" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("data", "make", "stret", "--out", "x"), "Did you mean 'street'?"),
        (("check", "data", "clad"), "--root DIR"),
        (("check", "data", "clad", "--root", "nowhere"), "found nothing at nowhere"),
        (("data", "describe", "clad"), "onward check data clad"),
    ],
)
def test_mistakes_have_one_message(onward: Terminal, words: tuple[str, ...], message: str) -> None:
    code, _, err = onward(*words)
    assert (code, message in err) == (2, True)


def test_images_that_cannot_be_read_are_listed(onward: Terminal, tmp_path: Path) -> None:
    place = "Shanghai Citystreet Daytime Clear"
    root = write_soda(tmp_path, val=[frame("20191111 100000", place, box(3))])
    code, out, _ = onward("check", "data", "clad", "--root", root, "--json")
    assert code == 2
    (problem,) = json.loads(out)["problems"]
    assert problem.startswith("image val/HT_VAL_000001_SH_000.jpg: it cannot be decoded")
