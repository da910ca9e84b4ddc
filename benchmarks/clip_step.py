"""A training step of a small CLIP beside a plain loop of open_clip's, on the same batches."""

from dataclasses import replace

import numpy as np
import torch

import onward
from measured import Measured, Target, cpu_milliseconds, measure
from onward.budget import Budget
from onward.methods.finetune import Finetune
from onward.models.clip_config import SMALL, open_clip
from onward.models.pixels import Normalize
from onward.pairs import PairLayout, as_bytes
from onward.train.augment import augmented
from onward.train.learner import GradientLearner
from onward.train.loading import BatchSampler, computing_on
from onward.train.method import TrainingSet
from onward.train.recipe import Recipe
from onward.train.shared_runs import train_together
from onward.types import Benchmark, Call, Setting, View
from onward.view import reader_of


def clip(rounds: int, *, quick: bool) -> list[Measured]:
    """Compare steps of a run with those of a plain loop."""
    steps = 10 if quick else 40
    benchmark = onward.load("tic")
    recipe = replace(benchmark.recipes["cpu"], max_steps=steps)

    def own() -> float:
        return _ours(benchmark, recipe) / steps

    def other() -> float:
        return _plain(benchmark, recipe, steps) / steps

    own(), other()
    unit = "ms of CPU time a training step"
    return [measure("clip", own, other, rounds, unit, Target(1.03, at_least=False))]


def _ours(benchmark: Benchmark, recipe: Recipe) -> float:
    """Return the CPU time of the first call of learn, without what is made once."""
    learner = GradientLearner(Finetune(), Setting(benchmark.task, recipe, 0))
    view, budget = _view(benchmark)
    with computing_on(learner.setting.hardware):
        trainer = learner.start(view, budget)
        taken = cpu_milliseconds(lambda: train_together([trainer]))
        if error := trainer.failure():
            raise error
    return taken


def _plain(benchmark: Benchmark, recipe: Recipe, iterations: int) -> float:
    """Return the CPU time of as many steps as open_clip's training has them."""
    library = open_clip()
    view, _ = _view(benchmark)
    reader = reader_of(view)
    steps = BatchSampler(
        TrainingSet(view, len(view)), recipe.batch_size, [0, 0], across_epochs=True
    )
    net, tokens = library.model.CLIP(**dict(SMALL.written_out or {})), SMALL.tokenizer()
    loss_of = library.loss.ClipLoss()
    small = [p for p in net.parameters() if p.ndim < 2]
    large = [p for p in net.parameters() if p.ndim >= 2]
    optimizer = torch.optim.AdamW(
        [{"params": small, "weight_decay": 0.0}, {"params": large, "weight_decay": 0.1}],
        lr=recipe.lr,
        betas=recipe.betas,
        eps=recipe.eps,
    )
    layout = PairLayout(view.input_shape)
    normalize = Normalize((library.OPENAI_DATASET_MEAN, library.OPENAI_DATASET_STD))
    net.train()

    def learn() -> None:
        for step in range(iterations):
            for group in optimizer.param_groups:
                group["lr"] = recipe.lr_at(step, iterations)
            indices = np.arange(len(steps[step]))
            batch = augmented(reader, steps[step], recipe.augment, (0, 0, step), indices)
            rows = torch.from_numpy(as_bytes(batch))
            optimizer.zero_grad()
            images = normalize(layout.images(rows))
            found = net(images, tokens(layout.texts(rows)))
            loss_of(*found[:3]).backward()
            optimizer.step()
            with torch.no_grad():
                net.logit_scale.clamp_(0, float(np.log(100)))

    return cpu_milliseconds(learn)


def _view(benchmark: Benchmark) -> tuple[View, Budget]:
    stream, budget = benchmark.stream(0), Budget()
    budget.open(stream[0].train.rows)
    return View(stream.table, stream[0].train, stream[0].classes, Call(budget)), budget
