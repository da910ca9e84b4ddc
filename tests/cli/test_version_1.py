"""Run folders that version 1 of specs wrote: read, verified and shown beside new ones."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from terminal import Terminal

import onward as package
from onward.results.collect import collect
from onward.results.read import read_spec, read_stored_spec
from onward.results.schema import SCHEMA

STORED = Path(__file__).parents[1] / "golden" / "version_1"
ADAMW = {
    "model": "linear",
    "optimizer": "adamw",
    "lr": 0.001,
    "betas": [0.9, 0.98],
    "eps": 1e-6,
    "weight_decay": 0.0,
    "batch_size": 256,
    "epochs": 2,
    "milestones": [0.6],
    "gamma": 0.1,
    "memory_size": None,
    "augment": "none",
    "grad_clip_norm": 1.0,
    "no_decay": True,
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED, tmp_path / "results"))


def the(results: Path, name: str) -> Path:
    (folder,) = results.glob(f"*/{name}/*")
    return folder


def test_stored_adam_is_read_as_adamw_with_the_names_of_today(results: Path) -> None:
    (folder,) = results.glob("clear/finetune/*")
    spec = read_spec(folder)
    assert spec.recipe == ADAMW
    assert spec.recipe_changes["optimizer"] == "adamw"
    assert not {"learning_rate", "fade", "least", "clip", "decays_all"} & {*spec.recipe_changes}
    assert spec.schema_version == 1 < SCHEMA
    assert read_stored_spec(folder).hash == folder.name


def test_values_of_recipes_and_options_of_methods_are_translated(results: Path) -> None:
    er, c2 = (read_spec(the(results, name)) for name in ("er", "c2"))
    assert (er.recipe["lr"], er.recipe["milestones"], er.recipe["optimizer"]) == (0.3, [0.5], "sgd")
    assert (c2.method_options, c2.recipe["memory_size"]) == ({"lr": 0.002}, 200)
    (folder,) = results.glob("tic/finetune/*")
    tic = read_spec(folder).recipe
    assert (tic["augment"], tic["max_steps"], tic["betas"]) == ("random_affine", 3, [0.9, 0.98])
    assert tic["no_decay"] is True


def test_every_stored_folder_is_verified(onward: Terminal, results: Path) -> None:
    for name in ("er", "finetune"):
        code, out, err = onward("check", "results", results / "clear" / name)
        assert (code, err) == (0, ""), out + err
        assert "1 run folders checked, 0 with problems" in out
    # Without predictions, scores cannot be computed again: the folders themselves are whole.
    assert len(collect([results]).records) == 5
    assert collect([results]).left_out == ()


def test_a_translated_recipe_makes_the_benchmark_of_today(results: Path) -> None:
    """What is stored is what the same hyperparameters are stored as today."""
    spec = read_spec(the(results, "er"))
    benchmark = package.load("clear", lr=0.3, epochs=3, milestones=[0.5])
    today = package.run(benchmark, "er", options={"memory": 50}).spec
    assert spec.model_copy(update={"schema_version": SCHEMA}) == today


def test_versions_are_shown_side_by_side_under_two_names(onward: Terminal, results: Path) -> None:
    benchmark = package.load("clear", lr=0.3, epochs=3, milestones=[0.5])
    package.run(benchmark, "er", options={"memory": 50}, out=results)
    code, out, err = onward("show", results / "clear", "--format", "csv")
    assert code == 0, err
    shown = [line for line in out.splitlines() if "er(" in line]
    assert sum("(version 1)" in line for line in shown) == 1
    assert sum("(version 1)" not in line for line in shown) == 1
    for command in ("report", "leaderboard"):
        code, _, err = onward(command, results, "--out", results.parent / command)
        assert code == 0, err


def test_an_unfinished_run_is_readable_and_begins_again_with_a_warning(results: Path) -> None:
    folder = the(results, "ewc")
    (record,) = [one for one in collect([results]).records if one.spec.method == "ewc"]
    assert not record.complete
    assert record.scores
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    kinds: list[str] = []

    def watch(event: Any) -> None:
        kinds.append(event.kind)

    with pytest.warns(UserWarning, match="unfinished run of these settings by an older version"):
        new = package.run(package.load("clear", epochs=2), "ewc", out=results, watch=watch)
    assert "resumed" not in kinds
    assert new.complete
    assert new.path != folder
    assert {path: path.read_bytes() for path in before} == before
