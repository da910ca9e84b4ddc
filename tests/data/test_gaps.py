"""What is left out of TiC-CLIP's data by a list: written by the check, kept to by whoever reads."""

import shutil
from pathlib import Path

import pytest
from tic_miniature import encoded, made, pairs, tar

from onward.data.gaps import Flaw, write_names
from onward.data.tic_folder import read_tic
from onward.data.tic_inspected import check_tic
from onward.errors import OnwardError


@pytest.fixture(scope="module", params=["datacomp", "redcaps"])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = made(tmp_path_factory.mktemp("tic") / request.param, request.param)
    if request.param == "redcaps":
        shutil.rmtree(folder / "shards")
    return folder


@pytest.fixture
def root(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    return Path(shutil.copytree(whole, tmp_path / "mine"))


def test_what_a_list_names_is_left_out_and_nothing_else(root: Path, tmp_path: Path) -> None:
    right = read_tic(root, side=8)
    names = right.table.columns.column("id").to_pylist()
    gone = [names[row] for row in right.periods[0].train.rows[[2, 5]]]
    path = tmp_path / "broken.txt"
    path.write_text(f"{gone[0]}\tsome problem\n\n{gone[1]}\nnobody/0\n")
    found = read_tic(root, side=8, leave_out=str(path))
    kept = [names[row] for row in right.periods[0].train.rows if names[row] not in gone]
    left = found.table.columns.column("id").to_pylist()
    assert [left[row] for row in found.periods[0].train.rows] == kept
    assert [len(p.test) for p in found.periods] == [len(p.test) for p in right.periods]
    assert found.table.digest != right.table.digest
    assert found.notes[0] == f"2 left out, named in {path}; of no sample here: nobody/0"
    assert (found.gaps, found.without) == ((), " without 2 named in broken.txt")


def test_a_list_of_other_data_or_none(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "broken.txt"
    with pytest.raises(OnwardError, match=r"a list of samples to leave out in .*broken.txt, found"):
        read_tic(root, leave_out=path)
    path.write_text("yearly/train/1999/0/a\n")
    with pytest.raises(OnwardError, match=r"samples of this data in .*, found yearly/train/1999"):
        read_tic(root, leave_out=path)


def test_an_empty_list_changes_nothing(root: Path, tmp_path: Path) -> None:
    assert write_names(tmp_path / "broken.txt", []) == 0
    found = read_tic(root, side=8, leave_out=tmp_path / "broken.txt")
    assert found.table.digest == read_tic(root, side=8).table.digest
    assert (found.notes, found.without) == ((), "")


def test_a_list_has_each_name_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "broken.txt"
    flaws = [Flaw("a/0", "here", "no\nimage"), Flaw("a/1", "", "x"), Flaw("a/0", "here", "cut")]
    assert write_names(path, flaws) == 2
    assert path.read_text() == "a/0\tcut\na/1\tx\n"


def test_the_list_of_a_check_lets_everything_else_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = made(tmp_path / "mine", "datacomp")
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    samples = pairs("fine", "mute", "cut", "strange")
    samples["mute"]["txt"] = b" "
    samples["cut"]["jpg"] = encoded()[:300]
    samples["strange"]["jpg"] = b"<html>not found</html>"
    tar(root / "yearly/train/2018/0.tar", samples)
    damaged = tar(root / "yearly/train/2018/1.tar", pairs("a"))
    damaged.write_bytes(damaged.read_bytes()[:1536])
    (root / "yearly/train/2018/sizes.json").write_text('{"0.tar": 4, "1.tar": 1}')
    (root / "yearly/train/2018/meta.json").write_text('{"output_count": 5}')
    shutil.copytree(root / "yearly/eval/retrieval/2016", root / "yearly/eval/retrieval/2018")
    looked = read_tic(root, side=8, missing="skip")
    path = tmp_path / "broken.txt"
    assert write_names(path, [*looked.flaws, *check_tic(looked)]) == 4
    found = read_tic(root, side=8, leave_out=path)
    assert (found.gaps, check_tic(found)) == ((), [])
    (period,) = (period for period in found.periods if period.name == "2018")
    assert found.table.wide["pair"][period.train.rows]["text"].tolist() == [b"caption of fine"]
