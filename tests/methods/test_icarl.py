import numpy as np
import pytest
import torch
from last_outputs import last_outputs
from shown import begun, generator, shown

import onward
from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.methods.icarl import ICaRLCNN, ICaRLNorm
from onward.models import Model
from onward.models.classifier import mlp
from onward.tasks.many_labels import ManyLabels
from onward.tasks.one_label import OneLabel
from onward.train.method import Batch
from onward.types import Array, Task

INPUTS = np.random.default_rng(0).normal(size=(20, 3))
LABELS = np.array([[0, -1]] * 6 + [[1, -1]] * 6 + [[2, -1]] * 8)


def taught(method: ICaRLCNN | ICaRLNorm, task: Task) -> tuple[Model, torch.Tensor]:
    """Return a model that knew two classes when it became the teacher, and knows three now."""
    model = mlp((3,), 2, generator(), head=method.head, hidden_dim=5)
    begun(method, task)
    budget = Budget()
    labels: Array = LABELS[:12] if task.name == "many_labels" else LABELS[:12, 0]
    method.on_learn_end(model, shown(INPUTS, np.arange(12), labels, 2, budget), budget)
    model.add_classes(3, generator(1))
    inputs = torch.from_numpy(INPUTS.astype(np.float32))
    before = model.predict(inputs)[:, :2].clone()
    with torch.no_grad():
        model.get_parameter("backbone.0.weight").add_(0.3)
    return model, before


@pytest.mark.parametrize("kind", [ICaRLCNN, ICaRLNorm])
def test_old_classes_are_learned_from_the_last_model_and_new_ones_from_labels(
    kind: type[ICaRLCNN] | type[ICaRLNorm],
) -> None:
    method = kind()
    model, before = taught(method, ManyLabels())
    inputs, targets = torch.from_numpy(INPUTS.astype(np.float32)), torch.tensor(LABELS)
    outputs = model(inputs)
    leaf = outputs.detach().clone().requires_grad_()
    batch = Batch(model, inputs, outputs, targets, 20, np.arange(20))
    loss = method.compute_loss(batch)
    (found,) = torch.autograd.grad(loss, outputs)
    # For every sample, replayed ones too: their true labels of old classes are not used.
    wanted = torch.cat([before.sigmoid(), (targets[:, :1] == 2).float()], 1)
    value = torch.nn.functional.binary_cross_entropy_with_logits(leaf, wanted)
    value.backward()
    torch.testing.assert_close(found, leaf.grad)
    assert loss.item() == pytest.approx(value.item(), abs=1e-6)


def test_on_one_label_it_is_cross_entropy_to_both() -> None:
    method = ICaRLCNN()
    model, before = taught(method, OneLabel())
    inputs, targets = torch.from_numpy(INPUTS.astype(np.float32)), torch.tensor(LABELS[:, 0])
    outputs = model(inputs)
    leaf = outputs.detach().clone().requires_grad_()
    batch = Batch(model, inputs, outputs, targets, 20, np.arange(20))
    loss = method.compute_loss(batch)
    (found,) = torch.autograd.grad(loss, outputs)
    wanted = torch.cat([before.softmax(1), (targets[:, None] == 2).float()], 1)
    value = -(wanted * leaf.log_softmax(1)).sum(1).mean()
    value.backward()
    torch.testing.assert_close(found, leaf.grad)
    assert loss.item() == pytest.approx(value.item(), abs=1e-5)


def test_the_first_period_is_learned_from_labels() -> None:
    method = begun(ICaRLCNN())
    model = mlp((3,), 2, generator(), hidden_dim=5)
    inputs, targets = torch.randn(6, 3, generator=generator(2)), torch.tensor([[0, 1]] * 6)
    batch = Batch(model, inputs, model(inputs), targets, 6, np.arange(6))
    expected = ManyLabels().loss(batch.outputs, targets)
    torch.testing.assert_close(method.compute_loss(batch), expected)


def test_exemplars_are_herded_by_features_and_replayed_once_an_epoch() -> None:
    from onward.memory import herd

    method, budget = ICaRLCNN(per_class=3), Budget()
    _model, _ = taught(method, ManyLabels())
    first = mlp((3,), 2, generator(), hidden_dim=5)
    features = first.embed(torch.from_numpy(INPUTS.astype(np.float32))).numpy()
    expected = [*herd(features[:6], 3).tolist(), *(6 + herd(features[6:12], 3)).tolist()]
    assert method._memory.samples.rows.tolist() == expected
    budget.held = np.array(expected)
    training = method.training_data(
        shown(INPUTS, np.arange(12, 20), LABELS[12:], 3, budget), budget
    )
    assert training.view.rows.tolist() == [*range(12, 20), *expected]
    assert (training.epoch, training.replay, training.forward_passes) == (14, 0, 2)


@torch.no_grad()
def test_eta_begins_at_1_in_every_period_or_goes_on() -> None:
    for restarts, expected in ((True, 1.0), (False, 4.0)):
        method = ICaRLNorm(restarts_eta=restarts)
        model, _ = taught(method, ManyLabels())
        model.head.eta.fill_(4.0)
        method.init_weights(model, generator())
        assert model.head.eta.item() == expected
    one, other = (last_outputs("icarl_norm", "incomplete", restarts_eta=r) for r in (True, False))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("method", ["icarl_cnn", "icarl_norm", "lucir", "bic"])
@pytest.mark.parametrize("most", [4, 11, 30])
def test_classes_share_what_may_be_stored(method: str, most: int) -> None:
    # Of three classes, then four; twenty exemplars of each where nothing is limited.
    record = onward.run(tiny_benchmark("iid"), method, limits={"stored_samples": most})
    assert record.cost is not None
    assert record.cost.stored_samples == max(known * (most // known) for known in (3, 4))
