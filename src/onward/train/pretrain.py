"""Pre-training from images to weights on disk; a run that is killed resumes from its checkpoint."""

import contextlib
import hashlib
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import save

from onward.data.past import Past
from onward.errors import OnwardError
from onward.files import locked, remove_drafts, storage, write_atomic
from onward.hardware import ANY_HARDWARE, Hardware
from onward.models.device import explained, resolve_device
from onward.models.weights_folder import CARD, WEIGHTS, read_card, translated_recipe
from onward.results.folder import replace_checkpoint
from onward.results.read import checkpoints
from onward.results.state import load_state, save_state
from onward.train.loading import batches, computing_on
from onward.train.moco import CropReader, Moco, MocoRecipe

Watch = Callable[[int, int, float | None], None]
"""Called with the number of finished steps, that of all steps, and the last loss."""


def pretrain(
    past: Past,
    recipe: MocoRecipe,
    seed: int,
    out: Path,
    *,
    hardware: Hardware = ANY_HARDWARE,
    checkpoint_seconds: float = 30.0,
    watch: Watch = lambda done, steps, loss: None,
    on_wait: Callable[[], None] = lambda: None,
) -> bool:
    """Pre-train an encoder, or finish what was begun; the weights and their card are in `out`.

    However often it is interrupted, and with any number of workers, a device gives the same
    weights, bit for bit.

    Parameters
    ----------
    out
        The folder: ``weights.safetensors`` and ``card.json``. The card does not say on which
        hardware they were computed.
    checkpoint_seconds
        How many seconds of work a kill may cost at most.
    watch
        Called after every step.
    on_wait
        Called if another process trains in the same folder, before waiting for that one.

    Returns
    -------
    Whether it trained: False where the weights were complete.
    """
    spec = {"data_digest": past.digest, "recipe": asdict(recipe), "seed": seed}
    if _is_complete(out, spec):
        return False
    # Before there is a folder: the device may not be there, or not compute in this precision.
    moco = Moco(recipe, seed, resolve_device(hardware.device))
    with contextlib.ExitStack() as stack:
        with storage(out):
            stack.enter_context(locked(out / ".lock", on_wait))
        if _is_complete(out, spec):
            return False
        remove_drafts(out / "checkpoint")
        with computing_on(hardware):
            _train(past, moco, out, spec, checkpoint_seconds, watch)
        shutil.rmtree(out / "checkpoint", ignore_errors=True)
        return True


def _train(
    past: Past, moco: Moco, out: Path, spec: dict[str, Any], checkpoint_seconds: float, watch: Watch
) -> None:
    recipe, samples = moco.recipe, past.images.shape[0]
    read = CropReader([past.images.__getitem__], [samples], recipe, (spec["seed"],))
    steps, schedule = recipe.epochs * read.per_epoch, recipe.optimization
    losses: list[float] = []
    saved = checkpoints(out)
    if saved:
        state = load_state(saved[-1])
        _require_same(translated_recipe(state["spec"]), spec, out)
        moco.restore(state["moco"])
        losses = state["losses"].tolist()
    watch(len(losses), steps, None)
    saved_at, left = time.monotonic(), range(len(losses), steps)
    for step, crops in batches(read, left, len(left), moco.device):
        try:
            loss = moco.step(crops, schedule.lr_at(step, steps))
        except RuntimeError as error:
            raise explained(error) from error
        losses.append(loss)
        watch(step + 1, steps, loss)
        if time.monotonic() - saved_at >= checkpoint_seconds:
            state = {"spec": spec, "moco": moco.state(), "losses": np.array(losses)}
            replace_checkpoint(out, partial(save_state, state=state))
            saved_at = time.monotonic()
    weights = save(moco.encoder.trunk.state_dict())
    curve = np.array(losses).reshape(-1, read.per_epoch).mean(1)
    card = {
        **spec,
        "past": past.name,
        "images": samples,
        "steps": steps,
        "loss_by_epoch": [round(float(loss), 6) for loss in curve],
        "sha256": hashlib.sha256(weights).hexdigest(),
    }
    with storage(out):
        write_atomic(out / WEIGHTS, weights)
        # Written last: with it, the weights are complete.
        write_atomic(out / CARD, json.dumps(card, indent=1).encode())


def _is_complete(out: Path, spec: dict[str, Any]) -> bool:
    """Return whether the weights are there; raise if they are others."""
    if not (out / CARD).exists():
        return False
    _require_same(read_card(out), spec, out)
    return True


def _require_same(found: dict[str, Any], spec: dict[str, Any], out: Path) -> None:
    differ = [name for name, value in spec.items() if found.get(name) != value]
    if differ:
        raise OnwardError(
            f"expected weights of this {' and '.join(differ)} in {out}, found others. Choose "
            "another folder with --out"
        )
