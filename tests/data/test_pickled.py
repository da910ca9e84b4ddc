"""Plain data is read; whatever else a pickle asks for is refused by name and never run."""

import os
import pickle
import pickletools
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cifar_miniature import python2_pickle

from onward.data.pickled import read_pickle
from onward.errors import OnwardError

MARK = "hostile-was-here"
CONTENT = {
    b"filenames": [b"a.png", "b.png"],
    b"batch_label": b"training batch 1 of 1",
    b"fine_labels": [0, 255, 256, 70_000, -1, 2**40],
    b"data": np.arange(24, dtype=np.uint8).reshape(4, 6),
    b"large": np.arange(100_000, dtype=np.int32),
    b"columns": np.asfortranarray(np.arange(6, dtype=np.int64).reshape(2, 3)),
    b"nothing": None,
    b"true": True,
}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_plain_data_of_every_protocol(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "plain"
    path.write_bytes(pickle.dumps(CONTENT, protocol=protocol))
    found = read_pickle(path, "data")
    assert list(found) == list(CONTENT)
    for key, value in CONTENT.items():
        if isinstance(value, np.ndarray):
            assert found[key].dtype == value.dtype
            assert np.array_equal(found[key], value)
        else:
            assert found[key] == value


def test_scalars_of_numpy_and_repeated_objects(tmp_path: Path) -> None:
    label, path = np.int64(7), tmp_path / "plain"
    path.write_bytes(pickle.dumps({"labels": [label, np.uint8(3), label]}))
    assert read_pickle(path, "data") == {"labels": [7, 3, 7]}


def test_the_names_of_the_older_numpy(tmp_path: Path) -> None:
    path = tmp_path / "plain"
    content = pickle.dumps({"data": np.arange(5, dtype=np.uint8)}, protocol=3)
    path.write_bytes(content.replace(b"numpy._core.", b"numpy.core."))
    assert read_pickle(path, "data")["data"].tolist() == [0, 1, 2, 3, 4]


def test_python_2_agrees_with_pickle(tmp_path: Path) -> None:
    names = [f"name {number}" for number in range(2500)]
    value = {"names": names, "data": np.arange(6, dtype=np.uint8).reshape(2, 3), "labels": [1] * 9}
    path = tmp_path / "plain"
    path.write_bytes(python2_pickle(value))
    expected = pickle.loads(path.read_bytes(), encoding="bytes")
    found = read_pickle(path, "data")
    assert np.array_equal(found.pop(b"data"), expected.pop(b"data"))
    assert found == expected
    assert found[b"names"] == [name.encode() for name in names]


class _Calls:
    """An object whose pickle calls a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._call = (function, arguments)

    def __reduce__(self) -> Any:
        return self._call


class _Plain:
    """An object of a class of our own."""


def _hostile(folder: Path) -> dict[str, tuple[bytes, str]]:
    """Return pickles that would leave a file behind, or do worse, and what they ask for."""
    mark = folder / MARK
    command = f"touch {mark}"
    touch = f"open({str(mark)!r}, 'w').close()"
    return {
        "system": (pickle.dumps(_Calls(os.system, command)), f"{os.name}.system"),
        "eval": (pickle.dumps(_Calls(eval, touch)), "builtins.eval"),
        "exec, protocol 2": (pickle.dumps(_Calls(exec, touch), protocol=2), "__builtin__.exec"),
        "protocol 0": (b"cos\nsystem\n(S'" + command.encode() + b"'\ntR.", "os.system"),
        "instance": (b"(S'" + command.encode() + b"'\nios\nsystem\n.", "STRING"),
        "instance of texts": (b"(U\x01aios\nsystem\n.", "os.system"),
        "inside an array": (
            pickle.dumps({"data": np.array([_Calls(os.system, command)], object)}),
            "'O8'",
        ),
        "own class": (pickle.dumps(_Plain()), f"{__name__}._Plain"),
        "a class as a key": (pickle.dumps({("a", "tuple"): 1}), "no text"),
        "getattr": (pickle.dumps(_Calls(getattr, "", "join")), "builtins.getattr"),
        "nearly a known name": (b"cnumpy\nload\n(U\x01xtR.", "numpy.load"),
        "a dotted name": (b"cnumpy.core.multiarray\n_reconstruct.__globals__\n.", "__globals__"),
        "array of another class": (
            b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\ndtype\n(K\x00tU\x01btR.",
            "_reconstruct",
        ),
        "ndarray itself": (b"cnumpy\nndarray\n(K\x01tR.", "numpy.ndarray"),
        "extension": (b"\x80\x02\x82\x01.", "EXT1"),
        "persistent": (b"\x80\x02U\x01aQ.", "BINPERSID"),
        "new object": (b"\x80\x02cnumpy\nndarray\n)\x81.", "NEWOBJ"),
        "state of a list": (b"\x80\x02]}b.", "BUILD"),
        "state of a name": (b"\x80\x02cnumpy\nndarray\n(K\x01tb.", "BUILD"),
        "a call of a text": (b"\x80\x02U\x06system(tR.", "no name"),
        "encoding": (b"\x80\x02c_codecs\nencode\n(X\x01\x00\x00\x00aU\x05utf_7tR.", "utf_7"),
        "objects by dtype": (b"\x80\x02cnumpy\ndtype\n(U\x02O8K\x00K\x01tR.", "'O8'"),
        "dtype with fields": (
            b"\x80\x02cnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|N(U\x01atNtb.",
            "whole numbers",
        ),
        "stack global": (b"\x80\x04\x8c\x05posix\x8c\x06system\x93.", "posix.system"),
    }


NAMES = tuple(_hostile(Path("/")))


@pytest.mark.parametrize("name", NAMES)
def test_hostile_pickles_are_refused_by_name_and_not_run(tmp_path: Path, name: str) -> None:
    content, wanted = _hostile(tmp_path)[name]
    path = tmp_path / "file"
    path.write_bytes(content)
    wanted = wanted.replace("nt.", "os.") if os.name == "nt" else wanted
    with pytest.raises(OnwardError, match="expected CIFAR's content in") as caught:
        read_pickle(path, "CIFAR's content")
    assert wanted in str(caught.value)
    assert not (tmp_path / MARK).exists()


def test_the_hostile_ones_are_hostile(tmp_path: Path) -> None:
    """What is refused would have run: the test above can fail."""
    pickle.loads(_hostile(tmp_path)["system"][0])
    assert (tmp_path / MARK).exists()


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x04B\xff\xff\xff\xffabc.",
        b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"abc.",
        b"\x80\x02U\xffabc",
        b"\x80\x02]r\xff\xff\xff",
        b"\x80\x02K",
        b"\x80\x02(K\x01K",
        b"\x80\x02",
        b"\x80\x02U",
    ],
)
def test_sizes_beyond_the_file_and_files_that_end_too_early(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(OnwardError, match="ends too early"):
        read_pickle(path, "data")


def test_a_large_place_in_the_memory_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\x80\x02]r" + struct.pack("<I", 2**32 - 1) + b".")
    assert read_pickle(path, "data") == []


def test_an_array_that_is_not_as_large_as_it_says(tmp_path: Path) -> None:
    path = tmp_path / "file"
    content = pickle.dumps(np.zeros((3, 5), np.uint8), protocol=3)
    path.write_bytes(content.replace(b"K\x03K\x05", b"K\x04K\x05"))
    with pytest.raises(OnwardError, match=r"shape \(4, 5\) in 15 bytes"):
        read_pickle(path, "data")


def test_every_cut_is_told(tmp_path: Path) -> None:
    whole = pickle.dumps({"labels": list(range(300)), "data": np.zeros(9, np.uint8)}, protocol=2)
    path = tmp_path / "file"
    for length in range(0, len(whole), 11):
        path.write_bytes(whole[:length])
        with pytest.raises(OnwardError, match="expected data in"):
            read_pickle(path, "data")


def test_bytes_at_random_never_run(tmp_path: Path) -> None:
    rng, path = np.random.default_rng(0), tmp_path / "file"
    codes = b"".join(op.code.encode("latin1") for op in pickletools.opcodes)
    for _ in range(200):
        length = int(rng.integers(1, 40))
        content = bytes(rng.choice(list(codes), length).tolist()) + b"."
        path.write_bytes(b"\x80\x04" + content)
        try:
            read_pickle(path, "data")
        except OnwardError:
            continue


def test_a_dictionary_that_holds_itself(tmp_path: Path) -> None:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    path = tmp_path / "file"
    path.write_bytes(pickle.dumps(circle))
    assert list(read_pickle(path, "data")) == ["self"]


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x04\x8c\x01a)" + b"\x85" * 1_000_000 + b"\x93.",
        b"\x80\x04cnumpy\ndtype\n)" + b"\x85" * 200_000 + b"\x85R.",
    ],
    ids=["name", "kind"],
)
def test_what_is_nested_without_end_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "deep"
    path.write_bytes(content)
    with pytest.raises(OnwardError, match="Nothing in the file was run"):
        read_pickle(path, "data")
