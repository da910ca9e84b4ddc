"""MoCo v2: learn features from images without labels.

Two crops of one image should have similar embeddings, and crops of different images different
ones. The different ones come from a queue of earlier embeddings, which a slowly moving copy of the
encoder writes, so that they stay comparable.

Chen, Fan, Girshick and He, Improved Baselines with Momentum Contrastive Learning, 2020; He et al.,
Momentum Contrast for Unsupervised Visual Representation Learning, CVPR 2020. The released code
shuffles samples between devices so that batch statistics cannot give a pair away. On one device
there is nothing to shuffle between, and it is left out.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from onward.errors import DamagedFolderError, unknown
from onward.models.augment import AUGMENTATIONS, augmented
from onward.models.device import autocast, require_precision
from onward.models.encoder import ENCODERS, build_encoder, embed
from onward.models.pixels import to_pixels
from onward.models.shared import forward_macs
from onward.saved import to_arrays, to_tensors
from onward.seeds import Draws, draws
from onward.train.optimizers import ModelOptimizer, optimizer_class
from onward.train.recipe import Precision, Recipe, check_fields
from onward.types import Array, Rows

CPU_DEVICE = torch.device("cpu")


@dataclass(frozen=True)
class MocoRecipe:
    """The hyperparameters of pre-training.

    Parameters
    ----------
    encoder
        One of `onward.models.encoder.ENCODERS`.
    image_size
        Side of the crops.
    augmentation
        One of `onward.models.augment.AUGMENTATIONS`.
    epochs, batch_size
        How long; a last batch that is not full is left out of its epoch.
    lr
        The learning rate of the first step; it falls to zero along a half cosine.
    weight_decay
        As the optimizer defines it.
    optimizer
        The name of a class of `torch.optim` in any case, or of one of timm's optimizers: ``sgd`` as
        published, or ``adamw``, which is faster on little data.
    queue_size
        How many embeddings the queue has. Without one, each crop is compared with the other images
        of the batch, as in MoCo v3 (Chen, Xie and He, ICCV 2021).
    key_momentum
        How much of itself the key encoder, which writes the queue, keeps in a step.
    temperature
        Divides the similarities.
    embedding_dim
        Width of the embeddings, which the projection head makes; it is dropped afterwards.
    momentum
        For optimizers that have it.
    precision
        ``fp32``, or ``bf16`` or ``fp16`` for matrix products and convolutions by `torch.autocast`.
    """

    encoder: str
    image_size: int
    augmentation: str
    epochs: int
    batch_size: int
    lr: float
    weight_decay: float
    optimizer: str
    queue_size: int
    key_momentum: float
    temperature: float
    embedding_dim: int
    momentum: float = 0.9
    precision: Precision = "fp32"

    def __post_init__(self) -> None:
        for kind, known in {"encoder": ENCODERS, "augmentation": AUGMENTATIONS}.items():
            if (name := getattr(self, kind)) not in known:
                raise unknown(kind, name, known, "docs/howto/pretraining.md")
        check_fields(self, from_zero=("epochs", "queue_size"))
        optimizer_class(self.optimization.optimizer)

    @property
    def optimization(self) -> Recipe:
        """What the optimizer and its learning rates are made from."""
        return Recipe(
            model=self.encoder,
            lr=self.lr,
            weight_decay=self.weight_decay,
            batch_size=self.batch_size,
            epochs=1,
            optimizer=self.optimizer,
            momentum=self.momentum,
            schedule="cosine",
        )


# The released settings, as CLEAR used them on bucket 0: photos, eight devices.
PAPER = MocoRecipe(
    encoder="resnet50",
    image_size=224,
    augmentation="photos",
    epochs=200,
    batch_size=256,
    lr=0.03,
    weight_decay=1e-4,
    optimizer="sgd",
    queue_size=65536,
    key_momentum=0.999,
    temperature=0.2,
    embedding_dim=128,
)
# For a thousand drawings and a few minutes on one core. There, comparing within the batch was
# better than a queue; docs/howto/pretraining.md says how this was chosen.
CPU = MocoRecipe(
    encoder="small",
    image_size=32,
    augmentation="drawings",
    epochs=90,
    batch_size=128,
    lr=1.5e-3,
    weight_decay=1e-4,
    optimizer="adamw",
    queue_size=0,
    key_momentum=0.99,
    temperature=0.1,
    embedding_dim=128,
)
RECIPES: Mapping[str, MocoRecipe] = {"cpu": CPU, "paper": PAPER}


class Moco:
    """An encoder under pre-training on a device; the seed draws its weights and the first queue.

    A step depends on its crops, its learning rate and what is in `state`, and on nothing else.
    """

    def __init__(self, recipe: MocoRecipe, seed: int, device: torch.device = CPU_DEVICE) -> None:
        require_precision(device, recipe.precision)
        self.recipe, self.device = recipe, device
        rng = draws(Draws.PRETRAINING, seed)
        self.encoder = build_encoder(recipe.encoder, int(rng.integers(2**31)))
        wide = ENCODERS[recipe.encoder].width
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(int(rng.integers(2**31)))
            head = nn.Sequential(
                nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, recipe.embedding_dim)
            )
        self._encoder_q = nn.Sequential(self.encoder, head)
        queue = rng.normal(size=(recipe.queue_size, recipe.embedding_dim)).astype(np.float32)
        self._queue = functional.normalize(torch.from_numpy(queue), dim=1).to(device)
        self._queue_ptr = 0
        sample = torch.zeros(1, 3, recipe.image_size, recipe.image_size)
        self.macs = 2 * forward_macs(self._encoder_q.eval(), sample)
        with torch.no_grad():
            self.feature_dim = self.encoder.features(sample).shape[1]
        # The parameters of both encoders.
        self.size = 2 * sum(p.numel() for p in self._encoder_q.parameters())
        self._encoder_q.train().to(device)
        self._encoder_k = copy.deepcopy(self._encoder_q).requires_grad_(False)
        self._optimizer = self._new_optimizer()
        self._scaler = torch.amp.GradScaler(device.type, enabled=recipe.precision == "fp16")

    def step(self, crops: Tensor, lr: float) -> float:
        """Learn from two crops of each image, see `two_crops`, on the device; return the loss."""
        with torch.enable_grad():
            queries = self._embedded(self._encoder_q, crops[0])
        with torch.no_grad():
            self._update_key_encoder()
            keys = self._embedded(self._encoder_k, crops[1])
        with torch.enable_grad():
            logits, labels = self._logits(queries, keys)
            loss = functional.cross_entropy(logits / self.recipe.temperature, labels)
            self._encoder_q.zero_grad()
            self._scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            if self._optimizer.unscale(self._scaler):
                self._optimizer.step(lr)
            self._enqueue(keys)
        return float(loss.detach())

    def features(self, images: Tensor) -> Tensor:
        """Return what a probe reads from a batch of images, see `embed`, on the device.

        Nothing is learned from them.
        """
        self.encoder.eval()
        found = embed(images, self.encoder.features, self.recipe.image_size)
        self.encoder.train()
        return found

    def state(self) -> dict[str, Any]:
        """Return everything that further steps need, as arrays and numbers."""
        return {
            "encoder_q": to_arrays(self._encoder_q.state_dict()),
            "encoder_k": to_arrays(self._encoder_k.state_dict()),
            "optimizer": to_arrays(self._optimizer.state()),
            "scaler": self._scaler.state_dict(),
            "queue": self._queue.cpu().numpy().copy(),
            "queue_ptr": self._queue_ptr,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` returned, on this device."""
        try:
            self._encoder_q.load_state_dict(to_tensors(state["encoder_q"]))
            self._encoder_k.load_state_dict(to_tensors(state["encoder_k"]))
            self._optimizer = self._new_optimizer(to_tensors(state["optimizer"]))
            self._scaler.load_state_dict(state["scaler"])
            self._queue = torch.tensor(state["queue"], device=self.device)
            self._queue_ptr = state["queue_ptr"]
        except KeyError as error:
            raise DamagedFolderError(
                f"expected {error} in the saved state of the pre-training, found none: another "
                "version wrote it. Delete its folder and pre-train again"
            ) from error
        except RuntimeError as error:
            raise DamagedFolderError(
                f"the saved state of the pre-training does not fit its recipe: {error}"
            ) from error

    def _new_optimizer(self, state: Mapping[str, Tensor] | None = None) -> ModelOptimizer:
        named = dict(self._encoder_q.named_parameters())
        return ModelOptimizer(named, self.recipe.optimization, state=state)

    def _embedded(self, network: nn.Module, crops: Tensor) -> Tensor:
        """Return embeddings of length 1 in fp32."""
        with autocast(self.device, self.recipe.precision):
            embeddings: Tensor = network(crops)
        return functional.normalize(embeddings.float(), dim=1)

    def _logits(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return the similarities of each query, and the position of that to its own key."""
        if not self.recipe.queue_size:
            return queries @ keys.t(), torch.arange(len(keys), device=self.device)
        positive = (queries * keys).sum(1, keepdim=True)
        logits = torch.cat([positive, queries @ self._queue.t()], 1)
        return logits, torch.zeros(len(keys), dtype=torch.int64, device=self.device)

    def _enqueue(self, keys: Tensor) -> None:
        """Overwrite the oldest embeddings of the queue."""
        if self.recipe.queue_size:
            places = self._queue_ptr + torch.arange(len(keys), device=self.device)
            self._queue[places % self.recipe.queue_size] = keys
            self._queue_ptr = (self._queue_ptr + len(keys)) % self.recipe.queue_size

    def _update_key_encoder(self) -> None:
        weights = zip(self._encoder_k.parameters(), self._encoder_q.parameters(), strict=True)
        for slow, fast in weights:
            slow.lerp_(fast, 1 - self.recipe.key_momentum)


def two_crops(images: Array, recipe: MocoRecipe, key: tuple[int, ...]) -> Tensor:
    """Return two random crops of each image, (2, n, 3, side, side) between 0 and 1.

    Images are bytes, see `to_pixels`. Crops are drawn from the key: a seed and a step.
    """
    pixels, rng = to_pixels(images), draws(Draws.AUGMENTATION, *key)
    how = AUGMENTATIONS[recipe.augmentation]
    return torch.stack([augmented(pixels, how, recipe.image_size, rng) for _ in range(2)])


@dataclass(frozen=True)
class CropReader:
    """Reads two crops of each image of a batch, by the number of the step.

    Every epoch is a new permutation of all images. What does not fill a last batch is left out of
    its epoch: statistics of a few samples would disturb the network.

    `sources` are functions that return images at some positions, one for each part of the data, and
    `sizes` how many images each has. Permutations and crops are drawn from the key: a seed, and the
    number of the call.
    """

    sources: Sequence[Callable[[Rows], Array]]
    sizes: Sequence[int]
    recipe: MocoRecipe
    key: tuple[int, ...]

    @property
    def batch_size(self) -> int:
        """How many images a batch has: no more than there are."""
        return min(self.recipe.batch_size, sum(self.sizes))

    @property
    def per_epoch(self) -> int:
        """The number of steps of an epoch."""
        return sum(self.sizes) // self.batch_size

    def positions(self, step: int) -> list[tuple[int, Rows]]:
        """Return the numbers of the sources in a step's batch, with the positions in each."""
        epoch, batch = divmod(step, self.per_epoch)
        order = draws(Draws.BATCHES, *self.key, epoch).permutation(sum(self.sizes))
        chosen = order[batch * self.batch_size :][: self.batch_size]
        ends = np.cumsum(self.sizes)
        source = np.searchsorted(ends, chosen, side="right")
        starts = ends - self.sizes
        return [(n, chosen[source == n] - starts[n]) for n in np.unique(source).tolist()]

    def __call__(self, step: int) -> Tensor:
        """Return the crops of a step, see `two_crops`."""
        images = [self.sources[number](rows) for number, rows in self.positions(step)]
        return two_crops(np.concatenate(images), self.recipe, (*self.key, step))
