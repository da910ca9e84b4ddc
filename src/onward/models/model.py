"""The base class of models: a torch module whose classes can become more."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import torch
from torch import nn

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
    """In which precision products are computed: ``fp32``, ``bf16`` or ``fp16``."""
    features: Any = None
    head: Any
    """The last layer of a classifier."""
    net: Any
    """The network of a detector or a CLIP."""

    def __call__(self, *inputs: Any) -> Any:
        """Return `forward` in the precision of the model."""
        if self.precision == "fp32":
            return super().__call__(*inputs)
        with autocast(self.device, self.precision):
            return super().__call__(*inputs)

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

    def continue_backward(self) -> None:
        """Continue after ``loss.backward()``, for models whose outputs are leaves of the graph."""

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


def set_weights(model: Model, weights: Mapping[str, torch.Tensor]) -> None:
    """Overwrite all parameters and buffers in place."""
    model.load_state_dict(dict(weights))
