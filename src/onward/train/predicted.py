"""What a model says about all samples of a view, and how good that is."""

import torch
from torch.utils.dlpack import from_dlpack

from onward.crew import crew
from onward.models.model import Model
from onward.models.spread import Spread
from onward.pairs import as_bytes
from onward.types import Array, Task, View


def predicted(model: Model, view: View) -> Array:
    """Return a model's outputs for a view, which is read part by part.

    Processes that share a run read no more than their share of it.
    """
    team, alone = crew(), model.inner if isinstance(model, Spread) else model
    share = team.share(len(view))
    outputs = [alone.predict(from_dlpack(as_bytes(part))) for part in view.parts(within=share)]
    return team.gather(torch.cat(outputs), len(view)).cpu().numpy()


def headline(model: Model, view: View, task: Task) -> float:
    """Return a model's score on samples that could be learned from, as if they were a test."""
    outputs, labels = task.as_test(predicted(model, view), view.labels)
    decisions = task.decode(outputs, view.classes, len(labels))
    return task.score(decisions, labels)[task.headline]
