"""The base class of models: a torch module whose classes can become more."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from onward.errors import OnwardError
from onward.models.device import autocast


class Model(nn.Module):
    """Abstract: a `torch.nn.Module` with what continual learning needs beside `forward`.

    In training mode `forward` keeps the inputs of the last layer in ``features``, with their graph.
    ``class_rows`` are the parameters with one row per class.
    """

    # Whether a batch's samples depend on each other in training, by batch normalization or a loss.
    uses_batch_statistics = False
    # Whether outputs are a `DetectorOutput`, which computes its own loss, instead of a tensor.
    is_detector = False
    macs: int
    """Multiply-accumulates of one forward pass of one sample."""
    precision: str = "fp32"
    """In which precision products are computed: ``fp32``, ``bf16``, ``fp16`` or ``fp64``."""
    micro_batch_size: int | None = None
    """How many samples are computed together in training, where memory is short; None is all."""
    features: Any = None
    head: Any
    """The last layer of a classifier."""
    net: Any
    """The network of a detector or a CLIP."""

    def __call__(self, inputs: Any) -> Any:
        """Return `forward` in the precision of the model, for large batches in micro-batches."""
        in_parts = self.micro_batch_size is not None and len(inputs) > self.micro_batch_size
        call = self._forward_in_micro_batches if in_parts else super().__call__
        with autocast(self.device, self.precision):
            return call(inputs)

    def _forward_in_micro_batches(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs of a batch, of which only those of one micro-batch keep activations.

        Activations are computed again in the backward pass, so that a loss that compares all
        samples, as CLIP's does, has the gradient of the whole batch in the memory of one
        micro-batch: the gradient caching of Gao et al., RepL4NLP 2021.
        """

        def forward(part: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return super(Model, self).__call__(part), self.features

        parts = [
            checkpoint(forward, part, use_reentrant=False)
            for part in inputs.split(self.micro_batch_size)  # type: ignore[no-untyped-call]
        ]
        outputs, features = zip(*parts, strict=True)
        self.features = torch.cat(features)
        return torch.cat(outputs)

    def compute_in_micro_batches(self, size: int) -> None:
        """Set `micro_batch_size`; raise if the model needs all samples of a batch together."""
        if self.uses_batch_statistics:
            found = "boxes" if self.is_detector else "batch normalization"
            raise OnwardError(
                "expected a model whose samples do not depend on each other to compute batches in "
                f"parts of micro_batch_size = {size}, found one with {found}. Leave "
                "micro_batch_size out, or choose another model"
            )
        self.micro_batch_size = size

    @property
    def classes(self) -> int:
        """The number of classes."""
        raise NotImplementedError

    @property
    def class_rows(self) -> Mapping[str, torch.Tensor]:
        """The parameters with one row per class, by name."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(parameter.numel() for parameter in self.parameters())

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.parameters()).device

    @property
    def is_random(self) -> bool:
        """Whether training draws random numbers: dropout or stochastic depth."""
        return any(
            max(getattr(module, "p", 0) or 0, getattr(module, "drop_prob", 0) or 0) > 0
            for module in self.modules()
            if "Drop" in type(module).__name__ or "StochasticDepth" in type(module).__name__
        )

    def init_weights(self, generator: torch.Generator) -> None:
        """Initialize all weights anew, or load those of the file again."""
        raise NotImplementedError

    def add_classes(self, classes: int, generator: torch.Generator) -> None:
        """Extend the last layer to this many classes; known ones keep their weights."""
        raise NotImplementedError

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs in evaluation mode, without a graph."""
        raise NotImplementedError

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the features in evaluation mode, without a graph."""
        raise NotImplementedError

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Be in evaluation mode, without gradients, and in the mode of before afterwards."""
        training = self.training
        self.eval()
        try:
            with torch.no_grad(), autocast(self.device, self.precision):
                yield
        finally:
            self.train(training)

    def compile_network(self) -> None:
        """Compile the layers by `torch.compile`, at their first use."""
        raise NotImplementedError

    def clear_graph(self) -> None:
        """Release the features of the last `forward`, and the graph with them."""
        self.features = None

    def teacher_copy(self, weights: Mapping[str, torch.Tensor], classes: int) -> Self:
        """Return a copy with the weights of an earlier state dict, for evaluation only."""
        features, self.features = self.features, None  # a graph cannot be copied
        try:
            teacher = copy.deepcopy(self)
        finally:
            self.features = features
        teacher._set_classes(classes)
        teacher.load_state_dict(dict(weights))
        return teacher.eval().requires_grad_(requires_grad=False)

    def _set_classes(self, classes: int) -> None:
        """Give the last layer room for exactly this many classes; its weights are set later."""
        raise NotImplementedError


def to_full_precision(values: torch.Tensor) -> torch.Tensor:
    """Return numbers of 16 bits in fp32, and others as they are."""
    return values if values.dtype == torch.float64 else values.float()


def set_weights(model: Model, weights: Mapping[str, torch.Tensor]) -> None:
    """Overwrite all parameters and buffers in place."""
    model.load_state_dict(dict(weights))
