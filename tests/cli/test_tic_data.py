import json
from pathlib import Path

import pytest
from terminal import Terminal


def test_make_shards_then_check_them(
    onward: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "shards"
    code, out, _ = onward("data", "make", "tic-shards", "--out", root, "--samples", "8")
    assert (code, "80 pairs in the layout datacomp" in out) == (0, True)
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    code, out, _ = onward("check", "data", "tic", "--root", root)
    assert code == 0
    assert "TiC-DataComp, yearly: 6 periods, 30 of 30 counts as it says itself" in out
    assert "Table 13" in out
    assert ", 0 problems" in out
    sizes = root / "yearly" / "train" / "2017" / "sizes.json"
    sizes.write_text(json.dumps({"00000000.tar": 17, "00000001.tar": 1}))
    code, out, _ = onward("check", "data", root, "--json")
    found = json.loads(out)
    assert (code, found["layout"]) == (2, "TiC-DataComp, yearly")
    assert [p.partition(": ")[0].rpartition("/")[2] for p in found["problems"]] == [
        "sizes.json names 00000001.tar with 1 samples, which is not there",
        "sizes.json has 17 samples in 00000000.tar, found 16",
    ]
    wrong = [count for count in found["counts"] if count["expected"] != count["found"]]
    assert [(count["expected"], count["found"]) for count in wrong] == [(17, 16)]


def test_ids_are_joined_to_a_pool(
    onward: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "ids"
    words = ("data", "make", "tic-shards", "--out", root, "--layout", "ids", "--samples", "8")
    assert onward(*words)[0] == 0
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    code, _, err = onward("check", "data", "tic", "--root", root)
    assert (code, "Say where your copy of CommonPool is" in err) == (2, True)
    pool = ("--shards", root / "commonpool", "--calendar", "monthly")
    code, out, _ = onward("check", "data", "tic", "--root", root, *pool)
    assert (code, "monthly, ids joined to shards: 8 periods" in out) == (0, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("data", "make", "tic-shard", "--out", "x"), "Did you mean 'tic-shards'?"),
        (("data", "make", "tic-shards", "--out", "x", "--layout", "yfc"), "Did you mean 'yfcc'?"),
        (("data", "make", "tic-shards", "--out", "x", "--data", "no.csv"), "found nothing"),
        (("check", "data", "tic"), "--root DIR"),
        (("check", "data", "tic", "--root", "nowhere"), "expected data of TiC-CLIP in nowhere"),
    ],
)
def test_mistakes_have_one_message(onward: Terminal, words: tuple[str, ...], message: str) -> None:
    code, _, err = onward(*words)
    assert (code, message in " ".join(err.split())) == (2, True)
