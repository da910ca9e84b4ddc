"""Tests of images and texts: bags of both, in no telling order, and which belong together."""

import numpy as np

from onward.types import Rows, Samples

ZERO_SHOT = "zero_shot"
"""What the test of classes by prompts is called."""


def retrieval_test(images: Rows, texts: Rows, image_of: Rows, rng: np.random.Generator) -> Samples:
    """Ask each image for its texts and each text for its image.

    Rows of `images` have an image alone, those of `texts` a text alone; `image_of` says for each
    text which of the images it belongs to, of which each has one or more. They are shown in a
    random order.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> asked = retrieval_test(np.arange(2), np.arange(5, 8), np.array([0, 1, 1]), rng)
    >>> asked.rows.tolist(), asked.labels.tolist()
    ([0, 1, 7, 5, 6], [[1, -1], [0, 2], [1, -1], [0, -1], [1, -1]])
    """
    seen, read = rng.permutation(len(images)), rng.permutation(len(texts))
    place = np.empty(len(images), np.int64)
    place[seen] = np.arange(len(images))
    rows = np.concatenate([images[seen], texts[read]])
    return Samples(rows, right_answers(place[image_of[read]], len(images)))


def right_answers(image_of: Rows, images: int) -> Rows:
    """Return what is right for each image, then for each text: rows of places, -1 behind the last.

    `image_of` says for each text which image it belongs to; each image has one.

    Examples
    --------
    >>> right_answers(np.array([1, 0, 1]), 2).tolist()
    [[1, -1], [0, 2], [1, -1], [0, -1], [1, -1]]
    """
    # Texts by the image that they belong to.
    order = np.argsort(image_of, kind="stable")
    many = np.bincount(image_of, minlength=images)
    nth = np.arange(len(image_of)) - np.repeat(np.cumsum(many) - many, many)
    labels = np.full((images + len(image_of), max(int(many.max(initial=1)), 1)), -1, np.int64)
    labels[image_of[order], nth] = order
    labels[images:, 0] = image_of
    return labels


def zero_shot_test(images: Rows, classes: Rows, prompts: Rows, rng: np.random.Generator) -> Samples:
    """Ask each image for its class, among the prompts of all, which ask nothing.

    `classes` has the number of each image's class, `prompts` the rows with the prompts in that
    order. Images are shown in a random order.
    """
    order = rng.permutation(len(images))
    labels = np.concatenate([classes[order], np.full(len(prompts), -1)])
    return Samples(np.concatenate([images[order], prompts]), labels[:, None])
