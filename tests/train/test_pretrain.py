"""Pre-training that is interrupted ends with the weights of one that was not."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import killable_pretraining
import numpy as np
import pytest

from onward.data.past import Past
from onward.errors import DamagedFolderError, OnwardError
from onward.hardware import Hardware
from onward.models.encoder import pretrained_encoder
from onward.models.weights_folder import CARD, RECIPE_FIELDS, read_card
from onward.train.moco import CPU, MocoRecipe
from onward.train.pretrain import pretrain

RECIPE = replace(CPU, image_size=16, epochs=3, batch_size=16, queue_size=32)
STEPS = 9


class Stop(Exception):
    pass


@pytest.fixture(scope="module")
def past() -> Past:
    images = np.random.default_rng(0).integers(0, 256, (50, 16, 16, 3), np.uint8)
    return Past(images, "noise", "digest of noise")


@pytest.fixture(scope="module")
def whole(past: Past, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    assert pretrain(past, RECIPE, 0, out)
    return out


def test_stopped_after_every_step(past: Past, whole: Path, tmp_path: Path) -> None:
    begun = []

    def stop(done: int, steps: int, loss: float | None) -> None:
        assert steps == STEPS
        if loss is None:
            begun.append(done)
        elif done < steps:
            raise Stop

    for _ in range(2 * STEPS):
        try:
            # The step before the one that was stopped is in the checkpoint.
            assert pretrain(past, RECIPE, 0, tmp_path, checkpoint_seconds=0, watch=_twice(stop))
            break
        except Stop:
            continue
    assert begun[-1] > 0
    assert len(begun) > 3
    for name in ("weights.safetensors", "card.json"):
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes()
    assert not (tmp_path / "checkpoint").exists()


def _twice(stop):  # noqa: ANN001, ANN202
    """Let one step pass before stopping, so that it gets on."""
    passed = []

    def watch(done: int, steps: int, loss: float | None) -> None:
        if loss is not None and not passed:
            passed.append(done)
            return
        stop(done, steps, loss)

    return watch


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path) -> None:
    peace, killed = tmp_path / "peace", tmp_path / "killed"
    script = [sys.executable, killable_pretraining.__file__]
    subprocess.run([*script, peace], check=True)
    for wait in (0.05, 0.4, 0.9):
        with subprocess.Popen([*script, killed], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()  # the first step is done
            time.sleep(wait)
            process.kill()
    assert not (killed / "card.json").exists()
    subprocess.run([*script, killed], check=True, stdout=subprocess.DEVNULL)
    for name in ("weights.safetensors", "card.json"):
        assert (killed / name).read_bytes() == (peace / name).read_bytes()


def test_the_card_says_what_the_weights_are(whole: Path) -> None:
    card = read_card(whole)
    assert card["data_digest"] == "digest of noise"
    assert (card["past"], card["images"], card["seed"], card["steps"]) == ("noise", 50, 0, STEPS)
    assert card["recipe"]["encoder"] == "small"
    assert len(card["loss_by_epoch"]) == RECIPE.epochs


def test_what_is_complete_is_left_alone(past: Past, whole: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in whole.rglob("*.*")}
    assert not pretrain(past, RECIPE, 0, whole)
    assert {path: path.stat().st_mtime_ns for path in whole.rglob("*.*")} == before


@pytest.mark.parametrize(
    ("seed", "epochs", "differs"), [(1, 3, "this seed"), (0, 4, "this recipe")]
)
def test_other_weights_are_not_overwritten(
    past: Past, whole: Path, seed: int, epochs: int, differs: str
) -> None:
    with pytest.raises(OnwardError, match=differs):
        pretrain(past, replace(RECIPE, epochs=epochs), seed, whole)


def test_another_seed_gives_other_weights(past: Past, whole: Path, tmp_path: Path) -> None:
    pretrain(past, RECIPE, 1, tmp_path)
    assert read_card(tmp_path)["sha256"] != read_card(whole)["sha256"]


def test_without_epochs_the_weights_are_untrained(past: Past, tmp_path: Path) -> None:
    assert pretrain(past, replace(RECIPE, epochs=0), 0, tmp_path)
    assert read_card(tmp_path)["loss_by_epoch"] == []


def test_changed_weights_are_noticed(past: Past, tmp_path: Path) -> None:
    pretrain(past, replace(RECIPE, epochs=0), 0, tmp_path)
    card = json.loads((tmp_path / "card.json").read_text())
    (tmp_path / "card.json").write_text(json.dumps({**card, "sha256": "0" * 64}))
    with pytest.raises(DamagedFolderError, match="expected weights with sha256 000000000000"):
        read_card(tmp_path)


@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_workers_gives_the_same_bytes(
    past: Past, whole: Path, tmp_path: Path, workers: int
) -> None:
    assert pretrain(past, RECIPE, 0, tmp_path, hardware=Hardware("cpu", workers))
    for name in ("weights.safetensors", "card.json"):
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes()


def test_stopped_with_workers_and_resumed_without(past: Past, whole: Path, tmp_path: Path) -> None:
    def stop(done: int, steps: int, loss: float | None) -> None:
        if done == STEPS - 3:
            raise Stop

    with pytest.raises(Stop):
        pretrain(
            past, RECIPE, 0, tmp_path, hardware=Hardware("cpu", 2), checkpoint_seconds=0, watch=stop
        )
    assert pretrain(past, RECIPE, 0, tmp_path)
    assert (tmp_path / CARD).read_bytes() == (whole / CARD).read_bytes()


@pytest.mark.filterwarnings("ignore:this processor has no instructions")
def test_precision_is_part_of_what_the_weights_are(past: Past, whole: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, epochs=1, precision="bf16")
    assert pretrain(past, recipe, 0, tmp_path)
    assert read_card(tmp_path)["recipe"]["precision"] == "bf16"
    with pytest.raises(OnwardError, match="expected weights of this recipe"):
        pretrain(past, replace(recipe, precision="fp32"), 0, tmp_path)


def test_a_card_of_an_older_version_is_read(past: Past, tmp_path: Path) -> None:
    recipe = replace(RECIPE, epochs=0)
    pretrain(past, recipe, 0, tmp_path)
    card = json.loads((tmp_path / CARD).read_text())
    older = {new: old for old, new in RECIPE_FIELDS.items()}
    card["recipe"] = {
        older.get(name, name): value
        for name, value in card["recipe"].items()
        if name not in ("momentum", "precision")
    }
    assert {"learning_rate", "optimiser", "size", "queue", "width"} < card["recipe"].keys()
    (tmp_path / CARD).write_text(json.dumps(card))
    assert MocoRecipe(**read_card(tmp_path)["recipe"]) == recipe
    _, size = pretrained_encoder(tmp_path)
    assert size == recipe.image_size
    assert not pretrain(past, recipe, 0, tmp_path), "the weights are complete"
