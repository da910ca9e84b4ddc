"""``onward curate tests`` and ``onward curate shards``, as they are typed."""

import json
from pathlib import Path

import pytest
from dated_miniature import pairs, write_dated, write_images
from terminal import Terminal


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    root = tmp_path_factory.mktemp("given")
    rows = pairs()
    return str(write_dated(root / "dated", rows)), str(write_images(root / "images", rows))


def test_from_pairs_to_shards(onward: Terminal, given: tuple[str, str], tmp_path: Path) -> None:
    dated, images = given
    tests, shards = str(tmp_path / "tests"), str(tmp_path / "shards")
    drawing = ("curate", "tests", dated, "--images", images, "--out", tests, "--retrieval", "3")
    code, said, _ = onward(*drawing)
    assert code == 0
    assert "51 of 60 pairs are left to learn from; 9 are to find each other" in said
    writing = ("curate", "shards", tests, "--images", images, "--out", shards)
    code, said, _ = onward(*writing)
    assert code == 0
    assert "51 pairs in 3 shards" in said
    code, said, err = onward(*writing, "--json")
    assert [one["pairs"] for one in json.loads(said)["periods"]] == [17, 17, 17]
    assert "already there" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--retrieval", "20"], "2014 has 20, 2015 has 20"),
        (["--retrieval", "3", "--classes", "imagenet", "--wordnet", "nowhere"], "wordnet-base"),
        (["--retrieval", "3", "--subtree", "dog"], "--classes"),
    ],
)
def test_mistakes(
    onward: Terminal, given: tuple[str, str], tmp_path: Path, options: list[str], message: str
) -> None:
    dated, images = given
    out = str(tmp_path / "out")
    code, _, err = onward("curate", "tests", dated, "--images", images, "--out", out, *options)
    assert code == 2
    assert message in " ".join(err.split())


def test_shards_want_tests(onward: Terminal, given: tuple[str, str], tmp_path: Path) -> None:
    dated, images = given
    out = str(tmp_path / "out")
    code, _, err = onward("curate", "shards", dated, "--images", images, "--out", out)
    assert code == 2
    assert "onward curate tests" in " ".join(err.split())
