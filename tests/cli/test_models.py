"""Models of timm, of torchvision and from files, on the command line."""

import json
from pathlib import Path

import pytest
from terminal import Terminal
from user_modules import MODULES


@pytest.fixture(autouse=True)
def _in_a_folder_with_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "modules.py").write_text(MODULES)


def test_a_module_from_a_file_is_run_and_shown_by_its_name(onward: Terminal) -> None:
    command = ["run", "clear", "--model", "modules.py:Shaped", "--method", "finetune"]
    command += ["--seeds", "0", "--training", "epochs=1", "--out", "out", "--jobs", "1"]
    for more in ([], ["--features", "image"]):
        code, _, err = onward(*command, *more)
        assert code == 0, err
    onward(*command[:2], *command[4:])
    _, shown, _ = onward("show", "out")
    assert shown.count("model modules.py:Shaped") == 2, shown
    assert "model linear" in shown
    _, again, _ = onward(*command)
    assert "1 of 1 runs were complete already" in again


def test_a_timm_model_is_run_at_the_image_size_of_the_recipe(onward: Terminal) -> None:
    code, out, err = onward(
        *("run", "clear", "--model", "timm:test_vit", "--method", "finetune", "--seeds", "0"),
        *("--training", "image_size=32", "--out", "out", "--jobs", "1"),
    )
    assert code == 0, err
    _, shown, _ = onward("show", "out", "--format", "csv")
    assert "finetune" in out
    (spec,) = Path("out").rglob("spec.json")
    assert json.loads(spec.read_text())["recipe"]["model"] == "timm:test_vit"
    assert "finetune(image_size=32)" in shown


def test_models_that_are_not_in_the_catalogue_are_listed_by_their_form(onward: Terminal) -> None:
    _, listed, _ = onward("list", "models", "--json")
    names = [entry["name"] for entry in json.loads(listed)["models"]]
    assert names[-3:] == ["timm:NAME", "torchvision:NAME", "path/to/file.py:Class"]
    assert "resnet18" in names


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("timm:test_vt", "Did you mean timm:test_vit"),
        ("modules.py:Shape", "Did you mean 'Shaped'"),
        ("resnet19", "Did you mean 'resnet18'"),
    ],
)
def test_a_name_that_is_close_is_suggested(onward: Terminal, model: str, message: str) -> None:
    code, _, err = onward("run", "clear", "--model", model, "--method", "finetune")
    assert (code, message in err) == (2, True), err
