"""Pre-training from images to weights on disk, which a kill at any moment cannot harm."""

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
from onward.models.device import computing
from onward.models.pixels import to_pixels
from onward.models.weights_folder import CARD, WEIGHTS, read_card
from onward.results.folder import replace_checkpoint
from onward.results.read import checkpoints
from onward.results.state import load_state, save_state
from onward.train.moco import Moco, MocoRecipe, batch_of, steps_of

Watch = Callable[[int, int, float | None], None]
"""Told the finished steps, all steps, and the last loss."""


def pretrain(
    past: Past,
    recipe: MocoRecipe,
    seed: int,
    out: Path,
    *,
    checkpoint_seconds: float = 30.0,
    watch: Watch = lambda done, steps, loss: None,
    on_wait: Callable[[], None] = lambda: None,
) -> bool:
    """Pre-train an encoder, or finish what was begun; the weights and their card are in `out`.

    However often it is stopped on the way, the weights come out the same, bit for bit.

    Parameters
    ----------
    past
        What to learn from.
    recipe, seed
        How: the seed decides every random choice.
    out
        The folder: ``weights.safetensors`` and ``card.json``.
    checkpoint_seconds
        How much work may be lost to a kill, at most.
    watch
        Called after every step.
    on_wait
        Called if another process is at it, before waiting for that one.

    Returns
    -------
    Whether there was anything to do.
    """
    with contextlib.ExitStack() as stack:
        with storage(out):
            stack.enter_context(locked(out / ".lock", on_wait))
        spec = _spec(past, recipe, seed)
        if (out / CARD).exists():
            _require_same(read_card(out), spec, out)
            return False
        remove_drafts(out / "checkpoint")
        with computing():
            _train(past, recipe, seed, out, spec, checkpoint_seconds, watch)
        shutil.rmtree(out / "checkpoint", ignore_errors=True)
        return True


def _train(
    past: Past,
    recipe: MocoRecipe,
    seed: int,
    out: Path,
    spec: dict[str, Any],
    checkpoint_seconds: float,
    watch: Watch,
) -> None:
    samples = past.images.shape[0]
    steps = steps_of(samples, recipe)
    moco, losses = Moco(recipe, seed), list[float]()
    saved = checkpoints(out)
    if saved:
        state = load_state(saved[-1])
        _require_same(state["spec"], spec, out)
        moco.restore(state["moco"])
        losses = state["losses"].tolist()
    watch(len(losses), steps, None)
    saved_at = time.monotonic()
    for step in range(len(losses), steps):
        rows = batch_of(samples, recipe.batch_size, step, (seed,))
        loss = moco.step(to_pixels(past.images[rows]), recipe.rate(step, steps), (seed, step))
        losses.append(loss)
        watch(step + 1, steps, loss)
        if time.monotonic() - saved_at >= checkpoint_seconds:
            state = {"spec": spec, "moco": moco.state(), "losses": np.array(losses)}
            replace_checkpoint(out, partial(save_state, state=state))
            saved_at = time.monotonic()
    weights = save(moco.encoder.trunk.state_dict())
    per_epoch = steps // recipe.epochs if recipe.epochs else 1
    curve = np.array(losses).reshape(-1, per_epoch).mean(1)
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


def _spec(past: Past, recipe: MocoRecipe, seed: int) -> dict[str, Any]:
    return {"data_digest": past.digest, "recipe": asdict(recipe), "seed": seed}


def _require_same(found: dict[str, Any], spec: dict[str, Any], out: Path) -> None:
    differ = [name for name, value in spec.items() if found.get(name) != value]
    if differ:
        raise OnwardError(
            f"expected weights of this {' and '.join(differ)} in {out}, found others. Choose "
            "another folder with --out"
        )
