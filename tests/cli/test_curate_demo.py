"""``onward curate demo``, as it is typed."""

import json
from pathlib import Path

import pytest
from terminal import Terminal


def test_the_help_says_what_it_does(onward: Terminal) -> None:
    code, out, _ = onward("curate", "demo", "--help")
    assert code == 0
    for word in ("--out", "--seed", "--json", "goes on where it stopped"):
        assert word in " ".join(out.split())


def test_a_folder_of_something_else_is_left_alone(onward: Terminal, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    code, _, err = onward("curate", "demo", "--out", tmp_path)
    assert code == 2
    assert "onward curate demo, found other files" in " ".join(err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_the_whole_way_and_that_it_is_done(onward: Terminal, tmp_path: Path) -> None:
    words = ("curate", "demo", "--out", tmp_path / "demo", "--json")
    code, out, err = onward(*words)
    assert code == 0
    assert "review: 8,820 votes that count" in err
    told = json.loads(out)
    assert told["pool"]["kept"] == 23_720
    error = told["label_error"]["estimated"]
    assert error["low"] <= told["label_error"]["true"] <= error["high"] < 0.2
    assert 0.6 < told["agreement"]["krippendorff_alpha"] < 0.95
    # One who clicks anything is found out; all others are good enough.
    assert [one["name"] for one in told["annotators"] if one["revoked"]] == ["annotator 10"]
    assert all(one["true"] > 0.75 for one in told["annotators"][:9])
    # The model knows what looks as in 2016, and nothing of what was drawn anew.
    assert told["precision"]["clock"]["precision"] > 0.8
    keycap = told["precision"]["keycap"]["buckets"]
    assert keycap["1"] > 0.6 > 0.2 > keycap["7"]
    assert told["cost"]["share"] < 0.2
    assert told["run"]["er"]["next_domain"]["mean"] > 0.8
    assert Path(told["page"]).is_file()
    assert onward(*words) == (0, out, f"already there: {tmp_path / 'demo'}\n")
