"""The task kind with one label per sample."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from onward.errors import OnwardError
from onward.fit import PLACES
from onward.metrics.inputs import share
from onward.tasks.known import WithClasses, require_finite
from onward.tasks.shown import Shown
from onward.types import Array

if TYPE_CHECKING:
    from torch import Tensor

CLASS_MEAN = "class_mean_accuracy"
"""The score in which classes count alike."""


@dataclass(frozen=True)
class OneLabel(WithClasses):
    """Each sample has exactly one label: cross-entropy to learn, accuracy to judge.

    Outputs of the gradient learner are logits. The tensors bring their own operations, so this
    module scores with numpy alone where no learning framework is loaded.
    """

    name: str = "one_label"
    headline: str = "accuracy"
    lacks: ClassVar[Mapping[str, str]] = {PLACES: "a sample is one thing as a whole"}
    shown: ClassVar[Shown] = Shown("right answers", class_mean=CLASS_MEAN, right=np.equal)

    def loss(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        """Return the mean cross-entropy."""
        from torch.nn.functional import cross_entropy  # loaded when it is needed

        if outputs.device.type != "cpu":
            return cross_entropy(outputs, targets)
        # A CPU normalizes few classes several times as fast along the samples.
        return cross_entropy(outputs.t().unsqueeze(0), targets.unsqueeze(0))

    def losses_of_heads(self, outputs: "Tensor", targets: "Tensor") -> "tuple[Tensor, Tensor]":
        """Return the mean cross-entropy of each head, and the gradient at the outputs.

        The gradient of a cross-entropy is the softmax less the one-hot target: in this form it
        takes a third of the time that autograd takes for many heads.

        Parameters
        ----------
        outputs
            Logits (head, class, sample).
        targets
            A class index per sample.
        """
        index = targets.expand(len(outputs), 1, -1)
        losses = -outputs.log_softmax(1).gather(1, index).mean((1, 2))
        gradient = outputs.softmax(1)
        gradient.scatter_add_(1, index, gradient.new_tensor(-1.0).expand(index.shape))
        return losses, gradient.div_(len(targets))

    def soft_targets(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        """Return labels as a matrix of zeros and ones, in the shape of the outputs."""
        return outputs.new_zeros(outputs.shape).scatter_(1, targets.unsqueeze(1), 1.0)

    def probabilities(self, outputs: "Tensor") -> "Tensor":
        """Return how probable each class is."""
        return outputs.softmax(1)

    def soft_target_loss(self, outputs: "Tensor", probabilities: "Tensor") -> "Tensor":
        """Return the mean cross-entropy to these probabilities; they may add up to less than 1."""
        return -(probabilities * outputs.log_softmax(1)).sum(1).mean()

    def decode(self, outputs: Any, classes: tuple[str, ...], *tests: int) -> Array:
        """Accept scores per class, class indices or class names; return class indices."""
        found, samples = np.asarray(outputs), sum(tests)
        if found.ndim == 2 and found.shape == (samples, len(classes)):
            require_finite(found, "scores")
            return np.asarray(found.argmax(1), np.int64)
        if found.shape == (samples,) and np.issubdtype(found.dtype, np.integer):
            if len(found) and not (found.min() >= 0 and found.max() < len(classes)):
                raise OnwardError(
                    f"expected class indices from 0 to {len(classes) - 1} from predict(view), "
                    f"found {found.min()} to {found.max()}"
                )
            return found.astype(np.int64)
        if found.shape == (samples,) and found.dtype.kind in "UO":
            index = {name: number for number, name in enumerate(classes)}
            if unknown := sorted({str(name) for name in found if name not in index}):
                raise OnwardError(
                    f"expected class names out of {', '.join(classes)} from predict(view), found "
                    f"{', '.join(unknown[:3])}"
                )
            return np.array([index[name] for name in found], np.int64)
        raise OnwardError(
            f"expected from predict(view) an array of {samples} class indices or names, or of "
            f"shape ({samples}, {len(classes)}) with a score per class; found shape {found.shape} "
            f"of type {found.dtype}"
        )

    def by_class(self, decisions: Array, targets: Array, classes: int) -> Array:
        """Return the share of right decisions on each class; NaN where it has no sample."""
        tested = np.bincount(targets, minlength=classes)
        right = np.bincount(targets, weights=decisions == targets, minlength=classes)
        return share(right, tested)

    def score(self, decisions: Array, targets: Array) -> dict[str, float]:
        """Return the share of right decisions, over samples and as the mean over classes.

        Examples
        --------
        >>> OneLabel().score(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]))
        {'accuracy': 0.75, 'class_mean_accuracy': 0.75}
        >>> OneLabel().score(np.array([0, 0, 0, 0]), np.array([0, 0, 0, 1]))
        {'accuracy': 0.75, 'class_mean_accuracy': 0.5}
        """
        right = decisions == targets
        if not len(right):
            return {"accuracy": float("nan"), CLASS_MEAN: float("nan")}
        per_class = self.by_class(decisions, targets, int(targets.max()) + 1)
        return {"accuracy": float(right.mean()), CLASS_MEAN: float(np.nanmean(per_class))}
