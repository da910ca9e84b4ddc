import json
from pathlib import Path

import pytest
from terminal import Terminal
from tic_miniature import encoded, made, pairs, tar


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


def test_what_is_broken_is_listed_left_out_and_recorded(
    onward: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, broken, results = tmp_path / "shards", tmp_path / "broken.txt", tmp_path / "results"
    made(root, "datacomp")
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    samples = pairs("fine", "good", "mute", "cut")
    samples["mute"]["txt"] = b" "
    samples["cut"]["jpg"] = encoded()[:300]
    tar(root / "yearly" / "train" / "2017" / "00000001.tar", samples)
    (root / "yearly" / "train" / "2017" / "meta.json").unlink()
    run = ("run", "tic", "--data", root, "--method", "finetune", "--out", results, "--jobs", "1")
    run = (*run, "--training", "max_steps=1", "--training", "batch_size=4")

    code, out, _ = onward("check", "data", root, "--list", broken)
    assert (code, ", 2 problems" in out) == (2, True)
    code, _, err = onward(*run)
    assert (code, "mute of" in err, "missing=skip" in err) == (2, True, True)
    code, out, _ = onward("check", "data", root, "--leave-out", broken)
    assert (code, ", 0 problems" in out) == (0, True)

    code, out, err = onward(*run, "--leave-out", broken)
    assert (code, err) == (0, "")
    told = f"2 left out, named in {broken}"
    assert out.count(told) == 1
    (card,) = results.glob("tic/stream/*/card.json")
    assert json.loads(card.read_text())["numbers"]["notes"] == [told]
    (spec,) = results.glob("tic/finetune/*/spec.json")
    assert json.loads(spec.read_text())["data"] == f"{root} without 2 named in broken.txt"

    words = ("evaluate", "tic", "--model", "clip_small", "--data", root, "--missing", "skip")
    code, out, _ = onward(*words, "--out", tmp_path / "found.json")
    (gap,) = json.loads((tmp_path / "found.json").read_text())["gaps"]
    assert gap.startswith("1 sample left out, no caption: mute of ")
    assert (code, out.count(gap)) == (0, 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("data", "make", "tic-shard", "--out", "x"), "Did you mean 'tic-shards'?"),
        (("data", "make", "tic-shards", "--out", "x", "--layout", "yfc"), "Did you mean 'yfcc'?"),
        (("data", "make", "tic-shards", "--out", "x", "--data", "no.csv"), "found nothing"),
        (("check", "data", "tic"), "--root DIR"),
        (
            ("check", "data", "emoji", "--list", "x"),
            "--list with the data of clad-c or tic, found clear's",
        ),
        (("check", "data", "tic", "--root", "nowhere"), "expected data of TiC-CLIP in nowhere"),
    ],
)
def test_mistakes_have_one_message(onward: Terminal, words: tuple[str, ...], message: str) -> None:
    code, _, err = onward(*words)
    assert (code, message in " ".join(err.split())) == (2, True)
