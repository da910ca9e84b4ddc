"""C1 as the paper describes it: five and five, a reservoir for each class, merged heads."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from drive_calls import LABELS, RECIPE, counts, learner_of, taught

from onward.errors import OnwardError
from onward.methods.c1 import C1
from onward.methods.cwr import merged
from onward.train.learner import GradientLearner
from onward.train.method import Batch


def head(learner: GradientLearner) -> dict[str, torch.Tensor]:
    assert learner._model is not None
    return {name: p.detach().clone() for name, p in learner._model.class_rows.items()}


def test_five_new_and_five_old_samples_make_a_batch() -> None:
    sizes: list[tuple[int, int]] = []

    def note(batch: Batch) -> None:
        sizes.append((batch.num_new, len(batch.targets) - batch.num_new))
        assert len(np.unique(batch.positions)) == len(batch.positions)

    taught(C1(), 4, seen=note)
    assert sizes[:2] == [(5, 0), (5, 0)]
    assert sizes[2:] == [(5, 5)] * 6


def test_no_class_takes_the_room_of_another() -> None:
    held: list[list[int]] = []
    taught(C1(), 30, after=lambda learner, budget: held.append(counts(LABELS[budget.held])))
    assert held[-1] == [10, 10, 10]
    _, budget = taught(C1(per_class=4), 30)
    assert counts(LABELS[budget.held]) == [4, 4, 4]


def test_images_are_scaled_to_what_the_network_was_made_for() -> None:
    photos = replace(RECIPE, model="resnet50")
    assert C1().override_recipe(photos).side == 224
    assert C1(side=0).override_recipe(photos).side is None
    assert C1(side=16).override_recipe(RECIPE).side == 16
    changed = C1().override_recipe(photos)
    assert (changed.batch_size, changed.augment) == (5, "flip")
    assert (changed.optimizer, changed.learning_rate) == ("sgd", photos.learning_rate)


def test_heads_are_merged_half_and_half_and_drawn_anew() -> None:
    method = C1(every=20, fresh=True)
    trained: list[dict[str, torch.Tensor]] = []
    shown: list[dict[str, torch.Tensor]] = []

    def note(batch: Batch) -> None:
        if batch.num_new == 5 and len(trained) == len(shown):
            trained.append({n: p.detach().clone() for n, p in batch.model.class_rows.items()})

    taught(method, 5, seen=note, after=lambda learner, budget: shown.append(head(learner)))
    # The first two calls train one head, which then becomes the lasting one.
    assert torch.equal(trained[1]["head.weight"], shown[0]["head.weight"])
    # The third begins with another one, and tests see half of each.
    assert not torch.equal(trained[2]["head.weight"], shown[1]["head.weight"])
    assert trained[2]["head.weight"].abs().max() <= 96**-0.5
    third = method._trained  # of the fifth call: merges are due after two and four
    lasting = method._lasting
    ones = torch.ones(3)
    for name, values in shown[4].items():
        torch.testing.assert_close(values, merged(lasting[name], third[name], ones))


def test_training_goes_on_with_the_head_that_tests_do_not_see() -> None:
    method = C1(every=10, fresh=False)
    begins: list[torch.Tensor] = []
    ends: list[torch.Tensor] = []

    def note(batch: Batch) -> None:
        if len(begins) == len(ends):
            begins.append(batch.model.head.weight.detach().clone())

    taught(
        method, 4, seen=note, after=lambda *_: ends.append(method._trained["head.weight"].clone())
    )
    for before, after in zip(ends, begins[1:], strict=False):
        assert torch.equal(before, after)


def test_without_merging_there_is_one_head() -> None:
    heads: list[torch.Tensor] = []
    method = C1(merges=False)
    taught(method, 5, after=lambda learner, budget: heads.append(head(learner)["head.weight"]))
    assert not method._lasting
    assert len(heads) == 5


def test_networks_of_imagenet_begin_with_fresh_heads_and_others_do_not() -> None:
    small = C1()
    learner_of(small)
    assert small._fresh is False


def test_wrong_options_are_named() -> None:
    with pytest.raises(OnwardError, match="newest as a number above 0 and up to 1, found 0"):
        C1(newest=0)
    with pytest.raises(OnwardError, match="side as a number of pixels, or 0, found -1"):
        C1(side=-1)
    with pytest.raises(OnwardError, match="every 1 or more samples, found 0"):
        C1(every=0)
