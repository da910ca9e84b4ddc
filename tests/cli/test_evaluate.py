import json
from pathlib import Path

import pytest
import torch
from task_folders import write_classification, write_retrieval
from terminal import Terminal

from onward.models.clip_choice import named_clip


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "epoch_1.pt"
    torch.save(named_clip("clip_small").net.state_dict(), path)
    return path


def test_tables_and_json(onward: Terminal, weights: Path, tmp_path: Path) -> None:
    tasks = tmp_path / "evalsets"
    write_classification(tasks / "wds_cifar10_test", [0, 1, 2, 0])
    write_retrieval(tasks / "retrieval" / "2016", [["a red one"], ["a blue one"]])
    out_file = tmp_path / "found" / "small.json"
    words = ("--model", "clip_small", "--weights", weights, "--static", tasks)
    code, out, err = onward("evaluate", "tic", *words, "--out", out_file)
    assert (code, err) == (0, "")
    assert out.startswith("clip_small (517,713 parameters, 2,117,888 MACs a pair); weights: those")
    for text in (
        "emoji · test unseen",
        "emoji · test zero_shot",
        "twemoji_zero_shot",
        "2017-05",
        "text→image",
        "R@1, test period: highest for ",
        "CIFAR-10",
        "retrieval/2016",
        "ImageNet dist. shift: none, for lack of ImageNet V2",
        "not there, of TiC-CLIP's Table 10: Caltech-101, CIFAR-100, ",
    ):
        assert text in out
    found = json.loads(out_file.read_text())
    assert len(found["periods"]) == 8
    assert found["static_tasks"]["tasks"]["CIFAR-10"]["metric"] == "accuracy"
    code, out, _ = onward("evaluate", "tic", "--model", weights, "--json", "--data", "emoji")
    again = json.loads(out)
    assert (code, again["model"], again["weights"]) == (0, "clip_small", f"those of {weights}")
    assert again["periods"] == found["periods"]
    recall = again["periods"][0]["tests"]["period"]
    assert 0 <= recall["recall1"] <= recall["recall5"] <= recall["recall10"] <= 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("clear", "--model", "clip_small"),
            "images and texts, such as tic, found one of one_label",
        ),
        (("tic", "--model", "ViT-B-23"), "Did you mean 'ViT-B-32'"),
        (("tic", "--model", "clip_small", "--data", "emojy"), "emojy"),
        (("tic", "--model", "clip_small", "--subtrees", "no.json"), "no.json"),
        (("tic", "--model", "ViT-B-32", "--pretrained", "openai"), "nothing is downloaded here"),
    ],
)
def test_mistakes(
    onward: Terminal,
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    code, out, err = onward("evaluate", *words)
    assert (code, out) == (2, "")
    assert message in err


def test_weights_that_are_not_finite_are_told_with_their_file(
    onward: Terminal, weights: Path, tmp_path: Path
) -> None:
    broken = torch.load(weights, weights_only=True)
    broken["logit_scale"] = torch.tensor(float("nan"))
    path = tmp_path / "epoch_9.pt"
    torch.save(broken, path)
    code, _, err = onward("evaluate", "tic", "--model", "clip_small", "--weights", path)
    assert code == 2
    told = " ".join(err.split())
    assert f"found NaN or infinity in those of {path}: logit_scale." in told
    assert "learning rate" not in told


def test_help(onward: Terminal) -> None:
    code, out, _ = onward("evaluate", "--help")
    assert code == 0
    for option in ("--model", "--weights", "--pretrained", "--static", "--subtrees", "--json"):
        assert option in out


@pytest.mark.slow
def test_several_models_are_dated_side_by_side(
    onward: Terminal, weights: Path, tmp_path: Path
) -> None:
    parts = tmp_path / "parts.json"
    parts.write_text('{"alive": ["people", "animals"]}')
    page, out_file = tmp_path / "dated.html", tmp_path / "dated.json"
    more = ("--query", "face", "--subtrees", parts, "--new-from", "2020-10", "--page", page)
    models = ("--model", "clip_small", "--weights", weights, "--model", weights)
    code, out, err = onward("evaluate", "tic", *models, *more, "--out", out_file)
    assert (code, err) == (0, "")
    assert "epoch_1: clip_small (517,713 parameters" in out
    assert "old and new, from 2020-10 on" in out
    assert "alive" in out
    assert "…" not in out
    found = json.loads(out_file.read_text())
    assert found.keys() >= {"models", "gaps", "compared", "new_from"}
    assert found["new_from"] == "2020-10"
    first, second = found["models"]
    assert first["periods"] == second["periods"]
    assert {one["about"] for one in found["gaps"]} == {"all", "face", "alive"}
    # The same weights twice: nothing differs, and the curve is what one model is told.
    assert {one["answer"] for one in found["compared"]} == {"cannot tell"}
    told = [period["tests"]["period"]["recall1"] for period in first["periods"]]
    assert found["gaps"][0]["by_period"] == pytest.approx(told)
    text = page.read_text()
    assert text.count("<svg") == 6
    assert "Gaps between old and new" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--query", "zzzz"), "mention zzzz, found none"),
        (("--new-from", "1999"), "both sides of 1999"),
        (("--model", "clip_small", "--weights", "a.pt"), "for each of the 2 models"),
        (("--weights", "a.pt", "--pretrained", "x", "--model", "b"), "found both"),
    ],
)
def test_mistakes_with_several(onward: Terminal, words: tuple[str, ...], message: str) -> None:
    code, out, err = onward("evaluate", "tic", "--model", "clip_small", *words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
