"""Where CLIP computes, and with how much memory."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from small_models import generator, grad_copies

import onward
from onward.benchmarks import retrained
from onward.errors import OnwardError
from onward.models import MODELS
from onward.models.device import Device, chosen, device
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.tasks.image_text import ImageText


@dataclass
class Hardware:
    """What torch would say of a device."""

    there: bool
    count: int = 1
    bf16: bool = False

    def is_available(self) -> bool:
        return self.there

    def device_count(self) -> int:
        return self.count

    def is_bf16_supported(self, *, including_emulation: bool) -> bool:
        return self.bf16 or including_emulation


NONE = Hardware(there=False, bf16=True)


@pytest.mark.parametrize(
    ("cuda", "mps", "rank", "expected"),
    [
        (NONE, NONE, {}, Device("cpu")),
        (NONE, Hardware(there=True), {}, Device("mps")),
        (Hardware(there=True), NONE, {}, Device("cuda:0")),
        (Hardware(there=True, bf16=True), NONE, {}, Device("cuda:0", torch.bfloat16)),
        (Hardware(there=True, count=4), NONE, {"LOCAL_RANK": "3"}, Device("cuda:3")),
        (Hardware(there=True, count=2), NONE, {"LOCAL_RANK": "3"}, Device("cuda:1")),
    ],
)
def test_the_best_that_there_is(
    cuda: Hardware, mps: Hardware, rank: dict[str, str], expected: Device
) -> None:
    assert chosen(cuda, mps, rank) == expected


def test_a_processor_computes_in_whole_numbers_of_32_bits() -> None:
    with Device("cpu").precision():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
        assert not torch.is_autocast_enabled("cpu")


@pytest.mark.skipif(device().name != "cpu", reason="there is something better than a processor")
def test_computing_again_has_the_same_gradient() -> None:
    rng, shape = np.random.default_rng(0), (32, 32, 3)
    images = rng.integers(0, 256, (6, *shape), np.uint8)
    pairs = made_pairs(pair_type(shape, 20), images, [f"{n} foxes" for n in range(6)])
    found = []
    for recomputes in (False, True):
        model = MODELS["clip_small"](shape, 3, generator(), recomputes=recomputes)
        outputs = model(torch.from_numpy(as_bytes(pairs)))
        ImageText().loss(outputs, torch.arange(6)).backward()
        found.append(grad_copies(model))
        kept = model.net.transformer.grad_checkpointing
        assert kept is recomputes
    torch.testing.assert_close(*found)


def test_only_clip_computes_again() -> None:
    emoji = onward.load("clear", data="emoji", protocol="streaming")
    with pytest.raises(OnwardError, match="recomputes = True, found linear"):
        onward.run(retrained(emoji, {"recomputes": True}), "finetune")
