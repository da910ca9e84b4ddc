"""The outputs of a model for all samples of a view, and their score."""

import torch

from onward.crew import crew
from onward.models.model import Model
from onward.models.spread import Spread
from onward.train.loading import view_batches
from onward.types import Array, Task, View


def predicted(model: Model, view: View) -> Array:
    """Return a model's outputs for a view, which is read part by part.

    Processes that share a run read no more than their share of it.
    """
    team, alone = crew(), model.inner if isinstance(model, Spread) else model
    share = team.share(len(view))
    outputs = [alone.predict(inputs) for inputs in view_batches(view, alone.device, within=share)]
    return team.gather(torch.cat(outputs), len(view)).cpu().numpy()


def headline(model: Model, view: View, task: Task) -> float:
    """Return a model's score on samples that could be learned from, as if they were a test."""
    outputs, labels = task.as_test(predicted(model, view), view.labels)
    decisions = task.decode(outputs, view.classes, len(labels))
    return task.score(decisions, labels)[task.headline]
