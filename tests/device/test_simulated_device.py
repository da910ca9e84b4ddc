"""The simulated device runs what is right, with the numbers of the CPU, and refuses what is not."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from simulated_device import DEVICE, NAME, SimulatedTensor, simulated_device
from torch import nn

from onward.models.device import resolve_device

CPU = torch.device("cpu")
MIXED = "Expected all tensors to be on the same device"


@pytest.fixture
def device() -> Iterator[torch.device]:
    with simulated_device() as made:
        yield made


class Network(nn.Module):
    """A network that normalizes its inputs, with a layer of each usual kind."""

    mean: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3)
        )
        self.register_buffer("mean", torch.full((3, 1, 1), 0.5))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.layers(images - self.mean)
        return found


@dataclass
class Places:
    """Where the parts of a program are, each of which may be left on the CPU."""

    model: torch.device
    buffers: torch.device
    penalty: torch.device
    optimizer: torch.device
    targets: torch.device

    @classmethod
    def all_on(cls, device: torch.device) -> "Places":
        return cls(*[device] * 5)


def train(places: Places, device: torch.device) -> torch.Tensor:
    """Train with a quadratic penalty and a restored momentum; return the outputs."""
    torch.manual_seed(0)
    network = Network().to(places.model)
    network.mean = network.mean.to(places.buffers)
    named = dict(network.named_parameters())
    anchor = {name: torch.zeros(p.shape, device=places.penalty) for name, p in named.items()}
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    for parameter in network.parameters():
        momentum = torch.full(parameter.shape, 0.01, device=places.optimizer)
        optimizer.state[parameter] = {"momentum_buffer": momentum}
    images, targets = torch.rand(5, 3, 8, 8).to(device), torch.arange(5) % 3
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(images), targets.to(places.targets))
        penalty = sum(((p - anchor[name]) ** 2).sum() for name, p in named.items())
        (loss + 0.01 * penalty).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
    with torch.no_grad():
        return network.eval()(images)


def test_a_right_program_computes_the_numbers_of_the_cpu(device: torch.device) -> None:
    there = train(Places.all_on(device), device)
    assert there.device == device
    torch.testing.assert_close(there.cpu(), train(Places.all_on(CPU), CPU))


@pytest.mark.parametrize("part", ["model", "buffers", "penalty", "optimizer", "targets"])
def test_what_is_left_on_the_cpu_raises(part: str, device: torch.device) -> None:
    places = Places.all_on(device)
    setattr(places, part, CPU)
    with pytest.raises(RuntimeError, match=MIXED):
        train(places, device)


MISTAKES: dict[str, tuple[type[Exception], Callable[[torch.Tensor, torch.Tensor], object]]] = {
    "index_select with a CPU index": (
        RuntimeError,
        lambda there, here: there.index_select(0, torch.tensor([1])),
    ),
    "gather with a CPU index": (
        RuntimeError,
        lambda there, here: there.gather(1, torch.zeros(3, 1, dtype=torch.int64)),
    ),
    "a CPU tensor indexed by one of the device": (
        RuntimeError,
        lambda there, here: here[torch.tensor([1], device=there.device)],
    ),
    "a CPU tensor masked by one of the device": (RuntimeError, lambda there, here: here[there > 0]),
    "CPU values assigned by an index": (
        RuntimeError,
        lambda there, here: there.index_put_((torch.tensor([0, 1]),), here[:2]),
    ),
    "a CPU tensor added": (RuntimeError, lambda there, here: there + here),
    "a CPU tensor added in place": (RuntimeError, lambda there, here: there.add_(here)),
    "added in place to a CPU tensor": (RuntimeError, lambda there, here: here.add_(there)),
    "added in place to a CPU number": (
        RuntimeError,
        lambda there, here: torch.zeros(()).add_(there.sum()),
    ),
    "a number of the device times a CPU tensor": (
        RuntimeError,
        lambda there, here: here * there.sum(),
    ),
    "a CPU tensor in cat": (RuntimeError, lambda there, here: torch.cat([there, here])),
    "a CPU mask in where": (RuntimeError, lambda there, here: there.where(here > 0, 0.0)),
    "a CPU tensor in a foreach operator": (
        RuntimeError,
        lambda there, here: torch._foreach_add([there], [here]),
    ),
    "a CPU tensor as out": (RuntimeError, lambda there, here: torch.add(there, 1, out=here)),
    "a CPU tensor as .data": (RuntimeError, lambda there, here: setattr(there, "data", here)),
    "a CPU generator": (
        RuntimeError,
        lambda there, here: torch.rand(2, device=there.device, generator=torch.Generator()),
    ),
    "a CPU generator in place": (
        RuntimeError,
        lambda there, here: there.uniform_(generator=torch.Generator()),
    ),
    ".numpy()": (TypeError, lambda there, here: there.numpy()),
    "np.asarray": (TypeError, lambda there, here: np.asarray(there)),
    "a mask of the device into numpy": (TypeError, lambda there, here: np.ones(3)[there[:, 0] > 0]),
    "a stack of numpy": (TypeError, lambda there, here: np.stack([np.ones(3), there[:, 0]])),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_raises(mistake: str, device: torch.device) -> None:
    kind, act = MISTAKES[mistake]
    here = torch.arange(6.0).reshape(3, 2)
    act(here, here.clone()) if kind is TypeError else None  # it is no mistake on the CPU
    with pytest.raises(kind):
        act(here.to(device), here.clone())


def test_what_cuda_takes_does_not_raise(device: torch.device) -> None:
    here = torch.arange(6.0).reshape(3, 2)
    there = here.to(device)
    right: list[tuple[torch.Tensor, torch.Tensor]] = [
        (there * torch.tensor(2.0), here * 2),
        (there[torch.tensor([2, 0])], here[[2, 0]]),
        (there[here > 2], here[here > 2]),
        (there[[1]], here[[1]]),
        (torch.from_numpy(here.numpy()).to(device) + there, here * 2),
        (torch.zeros(3, 2, device=device).copy_(here), here),
        (torch.zeros(3, 2).copy_(there), here),
        (torch.tensor([1.0, 2.0], device=device), torch.tensor([1.0, 2.0])),
        (torch.as_tensor(here.numpy(), device=device), here),
        (there.new_tensor(np.ones(2)), torch.ones(2)),
    ]
    for found, expected in right:
        torch.testing.assert_close(found.cpu(), expected)
    assert float(there.sum()) == 15.0
    assert there[1].tolist() == [2.0, 3.0]
    assert bool((there == there).all())
    with torch.device(device):
        assert torch.ones(2).device == torch.tensor([1]).device == device


def test_views_share_memory(device: torch.device) -> None:
    wide = torch.zeros(4, 2, device=device)
    rows = wide[1:3]
    rows += 1
    rows.view(-1)[0] = 5
    assert wide.tolist() == [[0, 0], [5, 1], [1, 1], [0, 0]]


def test_a_parameter_can_be_given_rows_of_another_tensor(device: torch.device) -> None:
    wide = torch.zeros(4, 2, device=device)
    parameter = nn.Parameter(torch.ones(2, 2, device=device))
    parameter.data = wide[:2]
    (parameter.sum() * 3).backward()
    assert parameter.grad is not None
    with torch.no_grad():
        parameter.add_(parameter.grad)
    assert wide.tolist() == [[3, 3], [3, 3], [0, 0], [0, 0]]


def test_copies_have_memory_of_their_own(device: torch.device) -> None:
    network = Network().to(device)
    copied = copy.deepcopy(network)
    assert [*copied.state_dict()] == [*network.state_dict()]
    assert all(isinstance(p, nn.Parameter) for p in copied.parameters())
    with torch.no_grad():
        copied.layers[0].weight.zero_()
    assert bool(network.layers[0].weight.any())


def test_gradients_of_single_samples(device: torch.device) -> None:
    weights = torch.tensor([1.0, 2.0], device=device)
    inputs = torch.tensor([[1.0, 3.0], [2.0, 0.0]], device=device)
    found = torch.func.vmap(torch.func.grad(lambda w, x: ((w * x) ** 2).sum()), in_dims=(None, 0))(
        weights, inputs
    )
    torch.testing.assert_close(found.cpu(), torch.tensor([[2.0, 36.0], [8.0, 0.0]]))


def test_tensors_are_made_there_only_within_the_context() -> None:
    with simulated_device() as device:
        assert isinstance(torch.ones(2, device=device), SimulatedTensor)
        assert type(torch.ones(2)) is torch.Tensor
    assert not torch._C._only_lift_cpu_tensors()
    assert torch.tensor([1.0]).device == CPU


def test_the_device_is_found_by_its_name() -> None:
    assert resolve_device(NAME).type == DEVICE.type
    assert resolve_device(f"{NAME}:0") == DEVICE
