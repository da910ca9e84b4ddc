from dataclasses import replace

import numpy as np
import pytest
import torch
from last_outputs import last_outputs

import onward
from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.errors import OnwardError
from onward.methods.cwr import CWRStar, merged
from onward.models.classifier import linear_probe
from onward.tasks.one_label import OneLabel
from onward.train.learner import GradientLearner
from onward.turns import Event
from onward.types import Setting


def test_a_merge_by_hand() -> None:
    kept = torch.tensor([[3.0, 5.0], [9.0, 9.0]])
    trained = torch.tensor([[1.0, 3.0], [5.0, 7.0]])  # of mean 4
    weight = torch.tensor([2.0, 0.0])  # √(4 / 1); the second class has no past
    assert merged(kept, trained, weight).tolist() == [[1.0, 3.0], [1.0, 3.0]]


class _Seen:
    """Stands for a view of which only the labels matter."""

    classes = ("a", "b", "c")

    def __init__(self, labels: list[int]) -> None:
        self.labels = self.newest = np.array(labels)

    def __len__(self) -> int:
        return len(self.labels)


@torch.no_grad()
def test_two_periods_by_hand() -> None:
    recipe = tiny_benchmark().recipes["cpu"]
    method, probe = CWRStar(), linear_probe((1,), 3, torch.Generator())
    weight = probe.head.weight
    method.begin(Setting(OneLabel(), recipe, 0))

    def period(labels: list[int], trained: list[float]) -> tuple[list[float], list[float]]:
        view = _Seen(labels)
        method.training_data(view, Budget())  # type: ignore[arg-type]
        method.init_weights(probe, torch.Generator())
        begins = weight[:3, 0].tolist()
        weight[:3, 0] = torch.tensor(trained)
        method.on_learn_end(probe, view, Budget())  # type: ignore[arg-type]
        return begins, weight[:3, 0].tolist()

    begins, ends = period([0, 0, 0, 0, 1], [6.0, 2.0, -8.0])
    assert begins == [0, 0, 0]
    assert ends == [2, -2, 0]  # centred at the 4 of classes 0 and 1; class 2 was not there
    begins, ends = period([0, 2], [9.0, 7.0, 3.0])
    assert begins == [2, 0, 0]  # class 1 is not there: zero while others train
    assert ends == pytest.approx([(2 * 2 + 3) / 3, -2, -3])  # √(4 / 1) = 2; 9 − 6; 3 − 6


def test_windows_stand_for_periods_online() -> None:
    often, seldom = (last_outputs("cwr", "online", every=n) for n in (1, 20))
    assert not np.array_equal(often, seldom)
    np.testing.assert_array_equal(seldom, last_outputs("cwr", "online"))  # the recipe's memory


def test_the_body_is_frozen_after_the_first_period() -> None:
    seen: list[dict[str, torch.Tensor]] = []

    def note(event: Event) -> None:
        if event.kind == "learned":
            assert isinstance(event.learner, GradientLearner)
            model = event.learner._model
            assert model is not None
            seen.append({name: p.detach().clone() for name, p in model.named_parameters()})

    recipe = replace(tiny_benchmark().recipes["cpu"], model="mlp", weight_decay=0.01)
    benchmark = replace(tiny_benchmark(), recipes={"cpu": recipe})
    onward.run(benchmark, "cwr", watch=note)
    for later in seen[1:]:
        body = [name for name in later if name.startswith("backbone.")]
        assert len(body) == 2
        assert all(torch.equal(later[name], seen[0][name]) for name in body)
        assert not torch.equal(later["head.weight"], seen[0]["head.weight"])


def test_it_is_not_finetuning_and_says_what_it_needs() -> None:
    assert not np.array_equal(last_outputs("cwr"), last_outputs("finetune"))
    with pytest.raises(OnwardError, match="every 1 or more samples, found 0"):
        CWRStar(every=0)
