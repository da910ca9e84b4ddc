import io
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from coloured_clip import write_coloured_clip
from PIL import Image
from task_folders import (
    COLOURS,
    TEMPLATES,
    picture,
    write_association,
    write_classification,
    write_retrieval,
)

from onward.errors import OnwardError
from onward.evaluation.static import StaticOutcome, evaluate_static, find_static
from onward.metrics.static_tasks import SHIFTS
from onward.models.clip import Clip
from onward.models.clip_choice import chosen_clip, named_clip
from onward.models.clip_config import open_clip


@pytest.fixture(scope="module")
def coloured(tmp_path_factory: pytest.TempPathFactory) -> Clip:
    path = write_coloured_clip(tmp_path_factory.mktemp("weights") / "epoch_1.pt")
    return chosen_clip(str(path)).clip


def test_a_clip_that_knows_colours(coloured: Clip, tmp_path: Path) -> None:
    labels = [0, 1, 2, 2, 1, 0, 0]
    write_classification(tmp_path / "wds_cifar10_test", labels)
    write_classification(tmp_path / "wds_vtab-pets_test", labels)
    write_classification(tmp_path / "wds_wilds-iwildcam_test", labels)
    write_classification(tmp_path / "wds_wilds-fmow_test", labels, groups=[0, 0, 1, 1, 2, 2, 5])
    write_classification(tmp_path / "wds_dollar_street_test", labels, groups=[0, 0, 1, 1, 2, 2, 3])
    captions = [[t.replace("{c}", colour) for t in TEMPLATES] for colour in COLOURS]
    write_retrieval(tmp_path / "wds_flickr30k_test", captions)
    asked = [("red square.", ["red", "blue", "green", "red"], [0, 3])]
    write_association(tmp_path / "wds_winogavil_test", asked)
    write_classification(tmp_path / "mine", labels)
    found = evaluate_static(coloured, find_static(tmp_path), {"cold": ["blue", "green"]})
    assert {name: (task.metric, task.score) for name, task in found.tasks.items()} == {
        "CIFAR-10": ("accuracy", 1.0),
        "Oxford-IIIT Pet": ("mean per class", 1.0),
        "iWildCam": ("macro F1 score", 1.0),
        "FMoW": ("worst-region acc.", 1.0),
        "Dollar Street": ("worst-income top-5 acc.", 1.0),
        "Flickr30k": ("R@1", 1.0),
        "WinoGAViL": ("Jaccard score", 1.0),
        "mine": ("accuracy", 1.0),
    }
    assert found.tasks["CIFAR-10"].outcome.by_class == {"red": 1.0, "green": 1.0, "blue": 1.0}
    assert found.tasks["mine"].outcome.by_part == {"cold": 1.0}
    assert len(found.absent) == 30
    assert "Caltech-101" in found.absent
    # A folder of one's own is no part of the paper's mean.
    assert found.averages["average"].of == tuple(name for name in found.tasks if name != "mine")
    assert found.averages["ImageNet dist. shift"].lacking == SHIFTS
    plain = found.as_json()
    assert plain["averages"]["ImageNet dist. shift"]["score"] is None
    assert plain["tasks"]["FMoW"]["score"] == 1.0


def test_each_metric_is_its_own(coloured: Clip, tmp_path: Path) -> None:
    """Labels of which some are wrong, so that the metrics differ: the model says the colour."""
    folder = tmp_path / "wds_x_test"
    write_classification(folder, [0, 0, 0, 1], groups=[5, 0, 0, 1])
    # What is shown as the class 0 is red; the names of the classes say otherwise.
    (folder / "classnames.txt").write_text("red\nblue\ngreen\n")
    scores = {}
    for name in ("cifar10", "vtab-pets", "wilds-iwildcam", "wilds-fmow", "geode", "dollar_street"):
        folder = folder.rename(tmp_path / f"wds_{name}_test")
        [scores[name]] = [
            task.score for task in evaluate_static(coloured, find_static(tmp_path)).tasks.values()
        ]
    assert scores == {
        "cifar10": 0.75,
        "vtab-pets": 0.5,
        "wilds-iwildcam": 0.5,
        "wilds-fmow": 0.0,
        "geode": 0.0,
        "dollar_street": 1.0,
    }


def test_fmow_without_its_other_region(coloured: Clip, tmp_path: Path) -> None:
    folder = tmp_path / "wds_wilds-fmow_test"
    write_classification(folder, [0, 0, 1], groups=[0, 0, 5])
    (folder / "classnames.txt").write_text("red\nblue\ngreen\n")
    assert evaluate_static(coloured, find_static(tmp_path)).tasks["FMoW"].score == 1.0
    write_classification(tmp_path / "other" / "wds_wilds-fmow_test", [0], groups=[5])
    with pytest.raises(OnwardError, match="found none but of 5, which is left out"):
        evaluate_static(coloured, find_static(tmp_path / "other"))
    shutil.rmtree(tmp_path / "other")
    folder.rename(tmp_path / "wds_geode_test")
    assert evaluate_static(coloured, find_static(tmp_path)).tasks["GeoDE"].score == 0.0


def test_cues_with_many_images_count(coloured: Clip, tmp_path: Path) -> None:
    few = ("green square.", ["green", "blue"], [1])  # never right
    many = ("red square.", ["red"] * 2 + ["blue"] * 8, [0, 1])
    write_association(tmp_path / "winogavil", [few, many])
    task = evaluate_static(coloured, find_static(tmp_path)).tasks["WinoGAViL"]
    assert (task.metric, task.score) == ("Jaccard score, 10 images or more", 1.0)
    assert task.outcome.scores == {"jaccard": 0.5, "jaccard_5_6": 0.0, "jaccard_10_12": 1.0}


def test_as_open_clip_alone(tmp_path: Path) -> None:
    """A larger image, random weights: the same answers as by the library's own means."""
    clip = named_clip("clip_small")
    library, net = open_clip(), clip.net
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 40).tolist()
    write_classification(tmp_path / "cifar10", labels)
    shown = list(COLOURS) * 12
    captions = [[f"a {colour} one, number {i}", f"{i} {colour}"] for i, colour in enumerate(shown)]
    write_retrieval(tmp_path / "flickr30k", captions)
    found = evaluate_static(clip, find_static(tmp_path))

    look = library.image_transform(32, is_train=False)
    read = clip._tokens

    def seen(colour: str, number: int) -> torch.Tensor:
        return look(Image.open(io.BytesIO(picture(colour, number))))

    with torch.no_grad():
        names = list(COLOURS)
        images = torch.stack([seen(names[label], i) for i, label in enumerate(labels)])
        texts = [
            net.encode_text(read([t.replace("{c}", name) for t in TEMPLATES]), normalize=True).mean(
                0
            )
            for name in names
        ]
        classes = torch.nn.functional.normalize(torch.stack(texts), dim=1)
        said = (net.encode_image(images, normalize=True) @ classes.t()).argmax(1)
        expected = (said == torch.tensor(labels)).double().mean()
        assert found.tasks["CIFAR-10"].score == float(expected)

        images = torch.stack([seen(c[0].split()[1], i) for i, c in enumerate(captions)])
        mine = net.encode_image(images, normalize=True)
        theirs = net.encode_text(read([t for c in captions for t in c]), normalize=True)
        owner = torch.arange(len(captions)).repeat_interleave(2)
        similar = mine @ theirs.t()
    for k in (1, 5, 10):
        by_image = (owner[similar.topk(k, 1).indices] == torch.arange(len(mine))[:, None]).any(1)
        by_text = (similar.t().topk(k, 1).indices == owner[:, None]).any(1)
        scores = found.tasks["Flickr30k"].outcome.scores
        assert scores[f"image_to_text{k}"] == pytest.approx(float(by_image.double().mean()))
        assert scores[f"text_to_image{k}"] == pytest.approx(float(by_text.double().mean()))
    mean = (scores["image_to_text1"] + scores["text_to_image1"]) / 2
    assert found.tasks["Flickr30k"].score == pytest.approx(mean)


def test_bad_roots(coloured: Clip, tmp_path: Path) -> None:
    def message() -> str:
        with pytest.raises(OnwardError) as caught:
            evaluate_static(coloured, find_static(tmp_path))
        return str(caught.value)

    assert "found none" in message()
    write_retrieval(tmp_path / "wds_mnist_test", [["a red one"]])
    assert "a task of classification, found retrieval" in message()
    (tmp_path / "wds_mnist_test" / "dataset_type.txt").unlink()
    (tmp_path / "wds_mnist_test").rename(tmp_path / "other")
    write_classification(tmp_path / "wds_mnist_test", [0])
    write_classification(tmp_path / "mnist", [0])
    (tmp_path / "other" / "test" / "nshards.txt").unlink()
    assert "one folder of MNIST" in message()


def test_nothing_listed_has_no_mean() -> None:
    assert math.isnan(StaticOutcome({}, ()).averages["average"].value)
