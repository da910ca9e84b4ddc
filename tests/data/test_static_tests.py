import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from task_folders import (
    picture,
    write_association,
    write_classification,
    write_retrieval,
    write_shards,
)

from onward.data.prompts import prompts
from onward.data.static_tasks import static_tasks, task_of_folder
from onward.data.static_tests import Fitting, StaticTest, read_static_test
from onward.data.task_folder import find_tasks, read_shards
from onward.errors import OnwardError


def read(folder: Path, *, grouped: bool = False, uncounted: tuple[int, ...] = ()) -> StaticTest:
    def fit(image: Image.Image) -> np.ndarray:
        return np.asarray(image.convert("RGB").resize((4, 4)), np.uint8)

    fitting = Fitting((4, 4), fit)
    return read_static_test(folder, fitting, grouped=grouped, uncounted=uncounted)


def test_the_tasks_of_table_10() -> None:
    tasks = static_tasks()
    assert [
        sum(task.kind == kind for task in tasks) for kind in ("classification", "retrieval")
    ] == [
        35,
        2,
    ]
    assert len({task.folder for task in tasks}) == 37
    by_metric = {task.metric: task.name for task in reversed(tasks)}
    assert by_metric == {
        "accuracy": "CIFAR-10",
        "mean per class": "Caltech-101",
        "macro F1 score": "iWildCam",
        "worst-region acc.": "FMoW",
        "worst-income top-5 acc.": "Dollar Street",
        "R@1": "Flickr30k",
        "Jaccard score": "WinoGAViL",
    }
    assert task_of_folder("eval/retrieval/2016") is None


def test_classification(tmp_path: Path) -> None:
    write_classification(tmp_path / "task", [2, 0, 1], groups=[4, 5, 6])
    test = read(tmp_path / "task", grouped=True)
    # Two shards: the first has the first and the third sample.
    assert test.bags[0].labels.tolist() == [[2], [1], [0], [-1], [-1], [-1]]
    assert (test.classes, test.groups.tolist()) == (("red", "green", "blue"), [4, 6, 5])
    pairs = test.table.wide["input"][np.array([5, 0, 2])]
    assert pairs["has_image"].tolist() == [0, 1, 1]
    assert pairs["text"].tolist() == [b"a blue square.\nsomething blue.", b"", b""]
    assert pairs["image"][1].mean((0, 1)).argmax() == 2
    assert pairs["image"][2].mean((0, 1)).argmax() == 0


def test_retrieval_with_several_captions(tmp_path: Path) -> None:
    write_retrieval(tmp_path / "task", [["a red one", "a rose", "r" * 10_000], ["a blue one"]])
    test = read(tmp_path / "task")
    assert test.bags[0].labels.tolist() == [
        [0, 1, 2],
        [3, -1, -1],
        [0, -1, -1],
        [0, -1, -1],
        [0, -1, -1],
        [1, -1, -1],
    ]
    assert len(test.table.wide["input"][np.array([4])]["text"][0]) == 2000


def test_association(tmp_path: Path) -> None:
    asked = [("Apple", ["red", "blue", "green"], [0, 2]), ("sky", ["green", "blue"], [1])]
    write_association(tmp_path / "task", asked)
    test = read(tmp_path / "task")
    assert [bag.rows.tolist() for bag in test.bags] == [[0, 1, 2, 5], [3, 4, 6]]
    assert [bag.labels[-1].tolist() for bag in test.bags] == [[0, 2], [1, -1]]
    assert test.table.wide["input"][np.array([5, 6])]["text"].tolist() == [b"An apple", b"A sky"]


def test_folders_in_both_layouts(tmp_path: Path) -> None:
    write_classification(tmp_path / "wds_mnist_test", [0])
    write_shards(tmp_path / "retrieval" / "2016", [{"png": picture("red"), "txt": b"a red"}], 1)
    write_shards(tmp_path / "wds_mnist_test" / "train", [{"png": picture("red")}], 1)
    assert [*find_tasks(tmp_path)] == ["retrieval/2016", "wds_mnist_test"]
    assert read_shards(tmp_path / "retrieval" / "2016")[0].text("txt") == "a red"
    with pytest.raises(OnwardError, match="expected a folder of static tasks"):
        find_tasks(tmp_path / "nowhere")


def _spoil(sample: dict[str, bytes]) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for path in folder.glob("test/*"):
            path.unlink()
        (folder / "test").rmdir()
        write_shards(folder / "test", [sample], 1)

    return write


def _cut(folder: Path) -> None:
    shard = folder / "test" / "0.tar"
    shard.write_bytes(shard.read_bytes()[:700])


def _text(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text) and None


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_cut, "whole tar file in .*0.tar, found one that is cut off"),
        (lambda folder: (folder / "test" / "1.tar").unlink(), "1 missing: 1.tar"),
        (_text("test/nshards.txt", "many"), "a number of shards in .*found 'many'"),
        (_text("test/0.tar", "no tar"), "cut off or damaged"),
        (_text("classnames.txt", "red\n"), "a class from 0 to 0 as cls .*found '2'"),
        (_text("zeroshot_classification_templates.txt", "a photo\n"), "found 'a photo'"),
        (_text("zeroshot_classification_templates.txt", "\n"), "found no line"),
        (_text("classnames.txt", " \n"), "names of classes in .*, found no line"),
        (_text("dataset_type.txt", "multilabel"), "found 'multilabel'"),
        (lambda folder: (folder / "classnames.txt").unlink(), "on each line of .*classnames"),
        (_spoil({"png": picture("red")}), "one member cls .*found 0 among png"),
        (_spoil({"cls": b"0"}), "one member jpg or jpeg or png or webp .*found 0"),
        (
            _spoil({"png": picture("red"), "jpg": picture("red"), "cls": b"0"}),
            "one member jpg .*found 2 among cls, jpg, png",
        ),
        (_spoil({"png": picture("red"), "cls": b"-1"}), "found '-1'"),
    ],
)
def test_a_folder_that_is_damaged(
    tmp_path: Path, spoil: Callable[[Path], None], message: str
) -> None:
    folder = tmp_path / "task"
    write_classification(folder, [2, 0])
    spoil(folder)
    with pytest.raises(OnwardError, match=message):
        read(folder)


def test_what_a_metric_cannot_score_is_said_before_anything_is_computed(tmp_path: Path) -> None:
    write_classification(tmp_path / "regions", [0, 1], groups=[5, 5])
    assert read(tmp_path / "regions", grouped=True).groups is not None
    with pytest.raises(OnwardError, match=r"groups that count in .*regions, found none but of 5"):
        read(tmp_path / "regions", grouped=True, uncounted=(5,))
    for right in (10, 11):
        folder = tmp_path / f"cue{right}"
        write_association(folder, [("sky", ["red"] * 12, range(right))])
        if right <= 10:
            assert len(read(folder).bags) == 1
            continue
        with pytest.raises(OnwardError, match=r"at most 10 right images .* 00000 in .*, found 11"):
            read(folder)


def test_other_damage(tmp_path: Path) -> None:
    def message(kind: str, sample: dict[str, bytes], *, grouped: bool = False) -> str:
        folder = tmp_path / f"{len([*tmp_path.iterdir()])}"
        write_classification(folder, [0])
        _spoil(sample)(folder)
        (folder / "dataset_type.txt").write_text(kind)
        with pytest.raises(OnwardError) as caught:
            _ = read(folder, grouped=grouped).table.wide["input"][np.array([0])]
        return str(caught.value)

    red = picture("red")
    assert "expected a caption as txt" in message("retrieval", {"png": red, "txt": b" \n"})
    assert "the group first, as npy" in message(
        "classification", {"png": red, "cls": b"0", "npy": b"no"}, grouped=True
    )
    assert "one member npy" in message("classification", {"png": red, "cls": b"0"}, grouped=True)
    assert "cannot be decoded" in message("classification", {"png": red[:99], "cls": b"0"})
    for right in ([], [0, 0], [5], [0, 1], "x"):
        said = json.dumps({"cue": "sky", "associations": right}).encode()
        found = message("association", {"0.png": red, "1.png": red, "json": said})
        assert "associations" in found


def test_a_picture_of_absurd_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_classification(tmp_path / "task", [0])
    test = read(tmp_path / "task")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(OnwardError, match="decompression bomb"):
        test.table.wide["input"][np.array([0])]


def test_templates_in_both_spellings() -> None:
    assert prompts(["{c}"], ["a {}.", "the {c}"]) == ("a {c}.\nthe {c}",)
