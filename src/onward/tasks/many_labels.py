"""The task kind with any number of labels per sample."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError
from onward.fit import ONE_CLASS, PLACES
from onward.metrics.iirc import exact_match, jaccard, pw_jaccard
from onward.metrics.inputs import share
from onward.tasks.known import WithClasses, require_finite
from onward.tasks.shown import Marks, Shown
from onward.types import Array

if TYPE_CHECKING:
    from torch import Tensor


def _right(decisions: Array, targets: Array) -> Marks:
    return np.asarray((decisions == label_sets(targets, decisions.shape[1])).all(1))


@dataclass(frozen=True)
class ManyLabels(WithClasses):
    """Each sample has a set of labels: every class is predicted on its own.

    Learned by binary cross-entropy over the classes known so far, decided at a probability of one
    half, judged by the precision-weighted Jaccard index. Labels are rows of class indices, -1 where
    a sample has fewer than the others; one label per sample will do too.
    """

    name: str = "many_labels"
    headline: str = "pw_jaccard"
    lacks: ClassVar[Mapping[str, str]] = {
        PLACES: "a sample is one thing as a whole",
        ONE_CLASS: "a sample has many labels",
    }
    shown: ClassVar[Shown] = Shown("Jaccard score", "IIRC", sets=True, right=_right)

    def loss(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        """Return the mean binary cross-entropy over samples and classes."""
        return self.soft_target_loss(outputs, self.soft_targets(outputs, targets))

    def soft_targets(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        """Return labels as a matrix of zeros and ones, in the shape of the outputs."""
        rows = targets[:, None] if targets.ndim == 1 else targets
        # One column more takes what does not count.
        ones = outputs.new_zeros(len(outputs), outputs.shape[1] + 1)
        ones.scatter_(1, rows.where(rows >= 0, outputs.shape[1]), 1.0)
        return ones[:, :-1]

    def probabilities(self, outputs: "Tensor") -> "Tensor":
        """Return how probable each class is."""
        return outputs.sigmoid()

    def soft_target_loss(self, outputs: "Tensor", probabilities: "Tensor") -> "Tensor":
        """Return the mean binary cross-entropy to these probabilities."""
        from torch.nn.functional import binary_cross_entropy_with_logits  # when it is needed

        return binary_cross_entropy_with_logits(outputs, probabilities)

    def decode(self, outputs: Any, classes: tuple[str, ...], *tests: int) -> Array:
        """Accept scores per class, above 0 for yes, or a boolean per class; return booleans."""
        found, samples = np.asarray(outputs), sum(tests)
        if found.shape != (samples, len(classes)) or found.dtype.kind not in "biuf":
            raise OnwardError(
                f"expected from predict(view) an array of shape ({samples}, {len(classes)}) with a "
                "score per class, above 0 where the class applies, or a boolean per class; found "
                f"shape {found.shape} of type {found.dtype}"
            )
        require_finite(found, "scores")
        return np.asarray(found > 0)

    def by_class(self, decisions: Array, targets: Array, classes: int) -> Array:
        """Return the recall of each class; NaN where no sample has it.

        A class that the decisions do not know yet is never predicted.
        """
        true = label_sets(targets, classes)
        predicted = np.pad(decisions, ((0, 0), (0, classes - decisions.shape[1])))
        return share((predicted & true).sum(0), true.sum(0))

    def score(self, decisions: Array, targets: Array) -> dict[str, float]:
        """Return the overlap of predicted and true labels, as a mean over samples.

        Labels of classes that the decisions do not know yet do not count.

        Examples
        --------
        >>> predicted = np.array([[True, False, False], [True, True, False]])
        >>> ManyLabels().score(predicted, np.array([[0, 3], [1, -1]]))
        {'pw_jaccard': 0.625, 'jaccard': 0.75, 'exact_match': 0.5}
        """
        if not len(decisions):
            return dict.fromkeys(("pw_jaccard", "jaccard", "exact_match"), float("nan"))
        true = label_sets(targets, decisions.shape[1])
        return {
            "pw_jaccard": float(pw_jaccard(decisions, true).mean()),
            "jaccard": float(jaccard(decisions, true).mean()),
            "exact_match": float(exact_match(decisions, true).mean()),
        }


def label_sets(labels: Array, classes: int) -> NDArray[np.bool_]:
    """Return labels as a boolean matrix (samples, classes), without those of other classes.

    Examples
    --------
    >>> label_sets(np.array([[0, 2], [1, -1]]), 2).tolist()
    [[True, False], [False, True]]
    """
    rows = np.asarray(labels[:, None] if labels.ndim == 1 else labels, np.int64)
    # One column more takes what does not count.
    sets = np.zeros((len(rows), classes + 1), np.bool_)
    counts = (rows >= 0) & (rows < classes)
    np.put_along_axis(sets, np.where(counts, rows, classes), True, axis=1)
    return sets[:, :classes]
