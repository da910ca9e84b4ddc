"""Lists of ids: searched where they lie, refused where halving would miss."""

import io
import json
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onward.data.uid_lists import (
    UID,
    class_lists,
    is_uid,
    listed_in,
    open_list,
    open_lists,
    uids_of,
    year_lists,
)
from onward.errors import OnwardError

small = st.tuples(st.integers(0, 3), st.integers(0, 3) | st.integers(2**64 - 4, 2**64 - 1))


@given(st.lists(small, max_size=40), st.lists(small, max_size=10))
def test_halving_finds_what_a_set_finds(
    listed: list[tuple[int, int]], wanted: list[tuple[int, int]]
) -> None:
    found = listed_in(np.sort(np.array(listed, UID)), np.array(wanted, UID))
    assert found.tolist() == [one in set(listed) for one in wanted]


def test_a_list_stays_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "2016.npy"
    np.save(path, np.sort(uids_of([f"{n:032x}" for n in range(0, 2000, 2)])))
    listed = open_list(path)
    assert isinstance(listed, np.memmap)
    wanted = uids_of([f"{n:032x}" for n in (0, 1, 1998, 1999, 2000)])
    assert listed_in(listed, wanted).tolist() == [True, False, True, False, False]


def test_halves_of_an_id() -> None:
    text = "0123456789abcdeffedcba9876543210"
    assert uids_of([text])[0].item() == (0x0123456789ABCDEF, 0xFEDCBA9876543210)
    assert is_uid(text)
    assert not is_uid(text[1:])
    assert not is_uid("g" + text[1:])


def test_months_are_lists_inside_a_tar(tmp_path: Path) -> None:
    path = tmp_path / "2014.tar"
    with tarfile.open(path, "w") as tar:
        for name, numbers in (("201403", [5, 7]), ("2014/201404", [])):
            sink = io.BytesIO()
            np.save(sink, np.array([(0, n) for n in numbers], UID))
            member = tarfile.TarInfo(f"{name}.npy")
            member.size = sink.tell()
            sink.seek(0)
            tar.addfile(member, sink)
    found = open_lists(path)
    assert {name: listed.tolist() for name, listed in found.items()} == {
        "201403": [(0, 5), (0, 7)],
        "201404": [],
    }
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(OnwardError, match=r"2014\.tar, found .* cut"):
        open_lists(path)


def save(path: Path, values: object) -> Path:
    np.save(path, np.asarray(values))
    return path


def test_other_kinds_of_lists_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "2016.npy"
    falling = np.array([(1, 1), (1, 3), (1, 2)], UID)
    with pytest.raises(OnwardError, match=r"sorted ids in [^ ]*/2016.npy, found number 2 smaller"):
        open_list(save(path, falling))
    for other in ([1, 2, 3], np.zeros((2, 2), UID), np.zeros(2, "i8,i8"), np.zeros(2, ">u8,>u8")):
        with pytest.raises(OnwardError, match=r"\(u8,u8\), in [^ ]*2016.npy, found"):
            open_list(save(path, other))
    path.write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(OnwardError, match="found another kind of file"):
        open_list(path)
    np.save(path, np.array([{}, {}]), allow_pickle=True)
    with pytest.raises(OnwardError, match=r"\(u8,u8\)"):
        open_list(path)
    save(path, np.sort(falling))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(OnwardError, match=r"expected 3 ids in .* cut"):
        open_list(path)


def test_a_fall_at_the_border_of_two_parts_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onward.data.uid_lists._AT_ONCE", 2)
    for place in range(1, 6):
        ids = np.array([(n + 1, 0) for n in range(6)], UID)
        ids[place] = (0, 0)
        with pytest.raises(OnwardError, match=f"found number {place} smaller"):
            open_list(save(tmp_path / "2016.npy", ids))


def test_tests_by_year_and_class(tmp_path: Path) -> None:
    path = tmp_path / "ids.json"
    one, two = f"{1:032x}", f"{2:032x}"
    path.write_text(json.dumps({"2016": [two, one]}))
    assert year_lists(path)["2016"].tolist() == [(0, 1), (0, 2)]
    path.write_text(json.dumps({"2016": {"n2": [one], "n1": [two]}, "2017": {"n3": []}}))
    ids, labels, synsets = class_lists(path)["2016"]
    assert (ids.tolist(), labels.tolist()) == ([(0, 1), (0, 2)], [1, 0])
    assert synsets == ("n1", "n2", "n3")
    for wrong, read, found in (
        ('{"2016": ["xyz"]}', year_lists, "found 'xyz'. Fetch"),
        ('{"2016": [7]}', year_lists, "found 7. Fetch"),
        ('{"2016": 7}', year_lists, "found another kind of JSON"),
        ('{"2016": [1]}', class_lists, "found another kind of JSON"),
        ('{"2016": {"n1": ["ab"]}}', class_lists, "found 'ab'. Fetch"),
    ):
        path.write_text(wrong)
        with pytest.raises(OnwardError, match=f"of 32 hexadecimal letters by year.*{found}"):
            read(path)
    for wrong in ("[]", "{"):
        path.write_text(wrong)
        with pytest.raises(OnwardError, match="JSON"):
            year_lists(path)
