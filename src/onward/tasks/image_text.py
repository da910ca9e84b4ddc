"""The task kind with images and texts: which of them belong together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from onward import distributed
from onward.errors import OnwardError
from onward.fit import CLASS_OUTPUTS, CLASS_ROWS, CLASSES, NEW_CLASSES, ONE_CLASS, PLACES
from onward.metrics.inputs import mean, share
from onward.metrics.retrieval import best_candidates
from onward.tasks.known import WithoutClasses, require_finite
from onward.tasks.shown import Marks, Shown
from onward.types import Array

if TYPE_CHECKING:
    from torch import Tensor

KEPT = 10
"""How many candidates of each question are kept."""
_DEPTHS = (1, 5, 10)
BY_IMAGE, BY_TEXT = 0, 1


def _similarities(outputs: "Tensor") -> "tuple[tuple[Tensor, int], tuple[Tensor, int], int]":
    """Return logits of texts given images and of images given texts, and the diagonal of pairs.

    With each of them goes the axis along which candidates are. Of a batch that is shared out, the
    samples of this process are compared with those of all processes, whose gradients flow back: no
    process has the logits of all pairs.
    """
    if not distributed.is_sharing():
        logits = outputs[:, 0] @ outputs[:, 1].t()
        return (logits, 1), (logits, 0), 0
    import torch  # loaded when it is needed

    counts = distributed.all_counts(len(outputs))
    every = torch.cat(distributed.gather(outputs, counts))
    to_texts, to_images = outputs[:, 0] @ every[:, 1].t(), outputs[:, 1] @ every[:, 0].t()
    return (to_texts, 1), (to_images, 1), sum(counts[: distributed.rank()])


def _right_candidates(decisions: Array, targets: Array) -> Marks:
    """Return which candidates, behind the first column, are right answers."""
    answers = np.where(targets < 0, -2, targets)
    return np.asarray(np.equal(decisions[:, 1:, None], answers[:, None, :]).any(2))


def _right(decisions: Array, targets: Array) -> Marks:
    return _right_candidates(decisions[:, :2], targets)[:, 0]


def _asks(targets: Array) -> Marks:
    return np.asarray((targets >= 0).any(1))


@dataclass(frozen=True)
class ImageText(WithoutClasses):
    """Each sample is an image, a text, or a pair of both: contrastive loss, judged by retrieval.

    Outputs are arrays (sample, 2, width): the normalized embeddings of the image and of the text,
    the image's multiplied by the logit scale; zeros where a sample has none. So the logits of a
    batch are the product of its images and its texts, and everything else follows from outputs
    alone.

    A test is a bag of images and of texts, in no telling order. Each image asks for its text among
    all of them, each text for its image. Labels are rows of right answers, counted among the texts
    or among the images of the test, -1 where there are fewer; a sample with none is a candidate
    that asks nothing. Classifying by prompts is the same: the texts are classes, in their order.

    Decisions are rows: who asks (0, an image; 1, a text), then the ten best candidates, best first.
    The headline is the share of questions that are answered right at first, as the mean of those of
    images and those of texts.
    """

    name: str = "image_text"
    headline: str = "recall1"
    targets: ClassVar[str] = "images and texts"
    compares_samples: ClassVar[bool] = True
    lacks: ClassVar[Mapping[str, str]] = {
        PLACES: "a pair is one thing as a whole",
        CLASSES: "a pair of image and text belongs to no class",
        ONE_CLASS: "a pair of image and text belongs to no class",
        NEW_CLASSES: "a pair of image and text belongs to no class",
        CLASS_OUTPUTS: "images are compared with texts, not with classes",
        CLASS_ROWS: "images are compared with texts, not with classes",
    }
    shown: ClassVar[Shown] = Shown("right first answers", "TiC-CLIP", right=_right, asks=_asks)

    def loss(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        """Return the mean cross-entropy of finding each text by its image and the reverse."""
        (to_texts, texts), (to_images, images), first = _similarities(outputs)
        right = to_texts.log_softmax(texts).diagonal(first)
        right = right + to_images.log_softmax(images).diagonal(first)
        return -right.mean() / 2

    def distillation_loss(
        self, outputs: "Tensor", teacher: "Tensor", temperature: float = 1.0
    ) -> "Tensor":
        """Return the mean cross-entropy to the teacher's similarities, both ways.

        That is the divergence between the two distributions, but for a term without gradient.
        """
        ways = [
            ((theirs / temperature).softmax(axis) * (ours / temperature).log_softmax(axis)).sum()
            for (ours, axis), (theirs, _) in zip(
                _similarities(outputs)[:2], _similarities(teacher)[:2], strict=True
            )
        ]
        return -(ways[0] + ways[1]) / (2 * len(outputs))

    def as_test(self, outputs: Any, targets: Any) -> tuple[Any, Any]:
        """Return pairs as a bag of their images and of their texts; what is a bag stays one."""
        found = np.asarray(outputs)
        if not (found != 0).any(2).all():
            return outputs, targets
        pairs = len(found)
        bag = np.zeros((2 * pairs, *found.shape[1:]), found.dtype)
        bag[:pairs, 0], bag[pairs:, 1] = found[:, 0], found[:, 1]
        return bag, np.tile(np.arange(pairs), 2)[:, None]

    def decode(self, outputs: Any, classes: tuple[str, ...], *tests: int) -> Array:
        """Return for each sample who asks, and the best candidates of its test, best first."""
        found, samples = np.asarray(outputs), sum(tests)
        if found.ndim != 3 or found.shape[:2] != (samples, 2) or found.dtype.kind != "f":
            raise OnwardError(
                f"expected from predict(view) an array of shape ({samples}, 2, width): what is "
                "made of each image and of each text, zeros where a sample has none; found shape "
                f"{found.shape} of type {found.dtype}"
            )
        require_finite(found, "directions")
        ends = np.cumsum(tests)[:-1]
        parts = [_answered(part) for part in np.split(found.astype(np.float32, copy=False), ends)]
        return np.concatenate(parts) if parts else np.empty((0, 1 + KEPT), np.int32)

    def score(self, decisions: Array, targets: Array) -> dict[str, float]:
        """Return the share of questions whose answer is among the first 1, 5 and 10 candidates.

        By image, by text, and as the mean of the two, or of the one that there is.

        Examples
        --------
        >>> asked = np.array([[0, 1, 0], [0, 1, 0], [1, 0, 1], [1, 1, 0]])
        >>> found = ImageText().score(asked, np.array([[0], [1], [0], [1]]))
        >>> found["image_to_text1"], found["text_to_image1"], found["recall1"], found["recall5"]
        (0.5, 1.0, 0.75, 1.0)
        """
        who, right = self._judged(decisions, targets)
        scores: dict[str, float] = {}
        for depth in _DEPTHS:
            hit = np.asarray(right[:, :depth].any(1))
            ways = [mean(hit[who == way]) for way in (BY_IMAGE, BY_TEXT)]
            there = [way for way in ways if not np.isnan(way)]
            scores[f"recall{depth}"] = mean(np.array(there))
            scores[f"image_to_text{depth}"], scores[f"text_to_image{depth}"] = ways
        return scores

    def by_class(self, decisions: Array, targets: Array, classes: int) -> Array:
        """Return the share of right first answers by class; NaN where candidates are no classes.

        They are where texts ask nothing, and there are as many of them as classes.
        """
        texts = decisions[:, 0] == BY_TEXT
        if np.count_nonzero(texts) != classes or (targets[texts] >= 0).any():
            return np.full(classes, np.nan)
        who, right = self._judged(decisions, targets)
        asked = targets[_asks(targets)][:, 0]
        images = (who == BY_IMAGE) & (asked < classes)
        tested = np.bincount(asked[images], minlength=classes)
        hits = np.bincount(asked[images], weights=right[images, 0], minlength=classes)
        return share(hits, tested)

    def _judged(self, decisions: Array, targets: Array) -> tuple[Array, Array]:
        """Return who asks, and which candidates are right, of all samples that ask."""
        asks = _asks(targets)
        return decisions[asks, 0], _right_candidates(decisions[asks], targets[asks])


def _answered(outputs: Array) -> Array:
    """Return the decisions of one test."""
    images, texts = (np.flatnonzero(outputs[:, side].any(1)) for side in (0, 1))
    both = np.intersect1d(images, texts)
    if len(both):
        raise OnwardError(
            f"expected zeros from predict(view) for what a sample of a test does not have, found "
            f"both directions for {len(both)} samples (first: {both[0]})"
        )
    decisions = np.full((len(outputs), 1 + KEPT), -1, np.int32)
    for who, asking, answering in ((BY_IMAGE, images, texts), (BY_TEXT, texts, images)):
        decisions[asking, 0] = who
        mine, theirs = outputs[asking, who], outputs[answering, 1 - who]
        # Lengths must not matter: only the model that learns needs them.
        decisions[asking, 1:] = best_candidates(_directions(mine), _directions(theirs), KEPT)
    return decisions


def _directions(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
