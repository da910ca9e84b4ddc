"""Dark Experience Replay++ (Buzzega et al., NeurIPS 2020): replay logits and labels."""

from dataclasses import replace

import numpy as np
import torch
from torch.nn.functional import mse_loss

from onward import Method
from onward.memory import Reservoir
from onward.train.method import TrainingSet
from onward.train.replay_memory import ReplayMemory


class DERpp(Method):
    """Replay two batches of the memory: one to match its logits, one to learn its labels."""

    saved = ("_memory", "_rows", "_logits")
    step_state = ("_logits",)

    def __init__(self, *, alpha: float = 0.1, beta: float = 0.5, memory: int | None = None):
        self.alpha, self.beta, self._memory = alpha, beta, ReplayMemory(Reservoir, memory)
        self._rows, self._logits = np.empty(0, np.int64), np.empty((0, 0), np.float32)

    def override_recipe(self, recipe):
        return replace(recipe, grad_clip_norm=1.0)

    def training_data(self, new, budget):
        view = self._memory.with_replay(new)
        self._look_up(view.rows, len(view.classes))
        replay = 2 * self.setting.recipe.batch_size if len(self._memory) else 0
        return TrainingSet(view, epoch=len(new), replay=replay)

    def compute_loss(self, batch):
        task, new, outputs, targets = self.setting.task, batch.num_new, batch.outputs, batch.targets
        logits = batch.gather(outputs[:new], "new").cpu()
        self._logits[batch.gather(batch.positions[:new], "new")] = logits
        loss = task.loss(outputs[:new], targets[:new])
        if batch.is_replay.any():
            half = (new + len(outputs)) // 2
            stored = torch.from_numpy(self._logits[batch.positions[new:half]]).to(outputs.device)
            # A class that was unknown when a sample was stored has no logit to match.
            stored = stored.where(~stored.isnan(), outputs[new:half].detach())
            loss = (
                loss
                + self.alpha * mse_loss(outputs[new:half], stored)
                + self.beta * task.loss(outputs[half:], targets[half:])
            )
        return loss

    def on_learn_end(self, model, new, budget):
        self._memory.admit(new, budget)
        self._look_up(self._memory.samples.rows, len(new.classes))

    def _look_up(self, rows, classes):
        """Keep the logits of these samples; those that are not known are NaN."""
        place = {row: number for number, row in enumerate(self._rows.tolist())}
        missing = ((0, 1), (0, classes - self._logits.shape[1]))  # a last row, and new classes
        known = np.pad(self._logits, missing, constant_values=np.nan)
        self._rows, self._logits = rows, known[[place.get(row, -1) for row in rows.tolist()]]
