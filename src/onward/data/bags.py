"""Tests of images and texts: bags of both, in no telling order, and which belong together."""

import numpy as np

from onward.types import Rows, Samples


def retrieval_test(images: Rows, texts: Rows, image_of: Rows, rng: np.random.Generator) -> Samples:
    """Ask each image for its texts and each text for its image.

    Parameters
    ----------
    images
        Rows with an image alone.
    texts
        Rows with a text alone.
    image_of
        For each text, which of the images it belongs to; an image has one or more.
    rng
        Draws the order in which they are shown.

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
    by_text = place[image_of[read]]
    # Texts by the image that they belong to, as places in the order shown.
    order = np.argsort(by_text, kind="stable")
    many = np.bincount(by_text, minlength=len(images))
    nth = np.arange(len(texts)) - np.repeat(np.cumsum(many) - many, many)
    labels = np.full((len(images) + len(texts), max(int(many.max(initial=1)), 1)), -1, np.int64)
    labels[by_text[order], nth] = order
    labels[len(images) :, 0] = by_text
    return Samples(np.concatenate([images[seen], texts[read]]), labels)


def zero_shot_test(images: Rows, classes: Rows, prompts: Rows, rng: np.random.Generator) -> Samples:
    """Ask each image for its class, among the prompts of all, which ask nothing.

    Parameters
    ----------
    images
        Rows with an image alone.
    classes
        The number of each one's class.
    prompts
        Rows with the prompts, in the order of classes.
    rng
        Draws the order in which images are shown.
    """
    order = rng.permutation(len(images))
    labels = np.concatenate([classes[order], np.full(len(prompts), -1)])
    return Samples(np.concatenate([images[order], prompts]), labels[:, None])
