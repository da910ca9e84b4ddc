"""MoCo v2: learn features from images without labels.

Two looks at one image should give similar embeddings, and looks at different images different
ones. The different ones come from a queue of earlier embeddings; a slowly moving copy of the
encoder writes it, so that its embeddings stay comparable.

Chen, Fan, Girshick and He, Improved Baselines with Momentum Contrastive Learning, 2020; He et al.,
Momentum Contrast for Unsupervised Visual Representation Learning, CVPR 2020. The released code
shuffles samples between devices so that batch statistics cannot give a pair away. On one device
there is nothing to shuffle between, and it is left out.
"""

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from onward.errors import DamagedFolderError, unknown
from onward.models.augment import AUGMENTATIONS, augmented
from onward.models.embed import embed
from onward.models.encoder import ENCODERS, Encoder, build_encoder
from onward.models.shared import forward_macs
from onward.saved import to_arrays, to_tensors
from onward.seeds import Draws, draws
from onward.types import Array

OPTIMISERS: Mapping[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": partial(torch.optim.SGD, momentum=0.9),
    "adamw": torch.optim.AdamW,
}


@dataclass(frozen=True)
class MocoRecipe:
    """Pre-training in numbers.

    Parameters
    ----------
    encoder
        One of `onward.models.encoder.ENCODERS`.
    size
        Side of the looks that are taken at an image.
    augmentation
        One of `onward.models.augment.AUGMENTATIONS`.
    epochs, batch_size, learning_rate, weight_decay
        How long, and how fast; the rate falls to zero along a half cosine.
    optimiser
        ``sgd`` with a momentum of 0.9 as published, or ``adamw``, which is faster on little data.
    queue
        How many embeddings are kept to compare with. With none, the other images of the batch
        are what is compared with, as in MoCo v3 (Chen, Xie and He, ICCV 2021).
    key_momentum
        How much of itself the encoder that writes the queue keeps in a step.
    temperature
        Divides the similarities.
    width
        Of the embeddings, which the projection head makes and which are dropped afterwards.
    """

    encoder: str
    size: int
    augmentation: str
    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    optimiser: str
    queue: int
    key_momentum: float
    temperature: float
    width: int

    def __post_init__(self) -> None:
        for kind, name, known in (
            ("encoder", self.encoder, ENCODERS),
            ("augmentation", self.augmentation, AUGMENTATIONS),
            ("optimiser", self.optimiser, OPTIMISERS),
        ):
            if name not in known:
                raise unknown(kind, name, known, "docs/howto/pretraining.md")

    def rate(self, step: int, steps: int) -> float:
        """Return the learning rate of one step out of several."""
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * step / steps))


# The released settings, as CLEAR used them on bucket 0: photos, eight devices.
PAPER = MocoRecipe(
    encoder="resnet50",
    size=224,
    augmentation="photos",
    epochs=200,
    batch_size=256,
    learning_rate=0.03,
    weight_decay=1e-4,
    optimiser="sgd",
    queue=65536,
    key_momentum=0.999,
    temperature=0.2,
    width=128,
)
# For a thousand drawings and a few minutes on one core. There, comparing within the batch was
# better than a queue; docs/howto/pretraining.md says how this was chosen.
CPU = MocoRecipe(
    encoder="small",
    size=32,
    augmentation="drawings",
    epochs=90,
    batch_size=128,
    learning_rate=1.5e-3,
    weight_decay=1e-4,
    optimiser="adamw",
    queue=0,
    key_momentum=0.99,
    temperature=0.1,
    width=128,
)
RECIPES: Mapping[str, MocoRecipe] = {"cpu": CPU, "paper": PAPER}


class Moco:
    """An encoder under pre-training; the seed draws the first weights and the first queue.

    Randomness is drawn from the key given to each step, so that a step is the same whenever it
    is made; all else is in `state`.
    """

    def __init__(self, recipe: MocoRecipe, seed: int) -> None:
        self.recipe = recipe
        rng = draws(Draws.PRETRAINING, seed)
        first = build_encoder(recipe.encoder, int(rng.integers(2**31)))
        wide = ENCODERS[recipe.encoder].width
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**31)))
            head = nn.Sequential(nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, recipe.width))
        self._query = nn.Sequential(first, head)
        self._key = copy.deepcopy(self._query)
        queue = rng.normal(size=(recipe.queue, recipe.width)).astype(np.float32)
        self._queue = functional.normalize(torch.from_numpy(queue), dim=1)
        self._next = 0
        self._descent = OPTIMISERS[recipe.optimiser](
            self._query.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
        )
        shape = (3, recipe.size, recipe.size)
        self.macs = 2 * forward_macs(self._query.eval(), torch.zeros(1, *shape))
        self._query.train()

    @property
    def encoder(self) -> Encoder:
        """The encoder that is being trained."""
        found = self._query[0]
        if not isinstance(found, Encoder):
            raise TypeError("the first part of a branch is its encoder")
        return found

    @property
    def size(self) -> int:
        """The number of parameters of both copies."""
        return 2 * sum(p.numel() for p in self._query.parameters())

    def step(self, pixels: Tensor, rate: float, key: tuple[int, ...]) -> float:
        """Learn from a batch of images, (n, 3, height, width) between 0 and 1; return its loss.

        The key draws the two looks at each image: a seed and a step, say.
        """
        rng = draws(Draws.AUGMENTATION, *key)
        how = AUGMENTATIONS[self.recipe.augmentation]
        size = self.recipe.size
        looks, others = (augmented(pixels, how, size, rng) for _ in range(2))
        with torch.enable_grad():
            embedded = functional.normalize(self._query(looks), dim=1)
        with torch.no_grad():
            self._follow()
            keys = functional.normalize(self._key(others), dim=1)
        with torch.enable_grad():
            similar, right = self._compared(embedded, keys)
            loss = functional.cross_entropy(similar / self.recipe.temperature, right)
            self._descent.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
        for group in self._descent.param_groups:
            group["lr"] = rate
        self._descent.step()
        if self.recipe.queue:
            places = (self._next + torch.arange(len(keys))) % self.recipe.queue
            self._queue[places] = keys
            self._next = (self._next + len(keys)) % self.recipe.queue
        return float(loss.detach())

    def features(self, images: Array) -> Array:
        """Return what a probe reads from images given as bytes; nothing of them is remembered."""
        self.encoder.eval()
        found = embed(images, self.encoder.features, self.recipe.size)
        self.encoder.train()
        return found

    def state(self) -> dict[str, Any]:
        """Return everything that further steps need, as arrays and numbers."""
        return {
            "query": to_arrays(self._query.state_dict()),
            "key": to_arrays(self._key.state_dict()),
            "descent": {
                str(number): to_arrays(moments)
                for number, moments in self._descent.state_dict()["state"].items()
            },
            "queue": self._queue.numpy().copy(),
            "next": self._next,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take back what `state` returned."""
        try:
            self._query.load_state_dict(to_tensors(state["query"]))
            self._key.load_state_dict(to_tensors(state["key"]))
            moments = {int(number): to_tensors(m) for number, m in state["descent"].items()}
            groups = self._descent.state_dict()["param_groups"]
            self._descent.load_state_dict({"state": moments, "param_groups": groups})
            self._queue, self._next = torch.tensor(state["queue"]), state["next"]
        except (KeyError, RuntimeError) as error:
            raise DamagedFolderError(
                f"the saved state of the pre-training does not fit its recipe: {error}"
            ) from error

    def _compared(self, embedded: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return each embedding's similarities, and where the one to its own key is."""
        if not self.recipe.queue:
            return embedded @ keys.t(), torch.arange(len(keys))
        same = (embedded * keys).sum(1, keepdim=True)
        similar = torch.cat([same, embedded @ self._queue.t()], 1)
        return similar, torch.zeros(len(keys), dtype=torch.int64)

    def _follow(self) -> None:
        for slow, fast in zip(self._key.parameters(), self._query.parameters(), strict=True):
            slow.lerp_(fast, 1 - self.recipe.key_momentum)


def batch_of(samples: int, size: int, step: int, key: tuple[int, ...]) -> Array:
    """Return the positions of one step's samples; every epoch is a new permutation.

    What does not fill a last batch is left out of its epoch: statistics of a few samples would
    disturb the network.
    """
    size = min(size, samples)
    epoch, place = divmod(step, samples // size)
    order = draws(Draws.BATCHES, *key, epoch).permutation(samples)
    return order[place * size : (place + 1) * size]


def steps_of(samples: int, recipe: MocoRecipe, epochs: int | None = None) -> int:
    """Return how many steps the epochs of a recipe are."""
    passes = recipe.epochs if epochs is None else epochs
    return passes * (samples // min(recipe.batch_size, samples))
