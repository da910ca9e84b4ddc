"""Recall of retrieval: whether an image finds its own text among the first k.

All products are made block by block, so that a set of any size takes a few megabytes beyond its
embeddings, and little more time than the products themselves.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[np.floating]
Counts = NDArray[np.int64]

# A block of products, 4 MB, stays in the processor's cache while it is looked at.
_BLOCK = 1024


def recall_at_k(
    image_emb: ArrayLike, text_emb: ArrayLike, ks: Sequence[int] = (1, 5, 10)
) -> dict[str, dict[int, float]]:
    """Recall in both directions, by cosine: the share of pairs whose other half is found in time.

    Row i of both arrays is one pair, and all rows are the pool. Of equal scores, the one with the
    lower row comes first, so that a model that says the same of everything is not always right; but
    products of equal rows may differ in their last bit, and then chance decides.

    Parameters
    ----------
    image_emb, text_emb
        Embeddings of the same shape (pairs, width), of any length each.
    ks
        How many of the first answers count.

    Returns
    -------
        ``image_to_text`` and ``text_to_image``, each with the recall at every k.

    Examples
    --------
    >>> images = np.eye(3)
    >>> texts = np.array([[1, 0, 0], [0.9, 1, 0], [0, 1, 0.5]])
    >>> found = recall_at_k(images, texts, ks=(1, 2))
    >>> {way: {k: round(share, 3) for k, share in shares.items()} for way, shares in found.items()}
    {'image_to_text': {1: 0.667, 2: 1.0}, 'text_to_image': {1: 0.667, 2: 1.0}}

    References
    ----------
    Garg et al., TiC-CLIP, ICLR 2024, which takes the mean of both directions at k = 1.
    """
    images, texts = np.asarray(image_emb), np.asarray(text_emb)
    _require_pairs(images, texts)
    if not ks or min(ks) < 1:
        raise ValueError(f"expected each k to be 1 or more, got {tuple(ks)}")
    most = max(ks)
    ahead_of_text, ahead_of_image = _ahead(images, texts, most)
    return {
        "image_to_text": {k: float((ahead_of_text < k).mean()) for k in ks},
        "text_to_image": {k: float((ahead_of_image < k).mean()) for k in ks},
    }


def best_candidates(queries: ArrayLike, candidates: ArrayLike, most: int) -> NDArray[np.int32]:
    """Return for each query its best candidates by inner product, best first.

    Of equal scores, the lower row comes first; -1 stands behind the last where there are fewer.

    Parameters
    ----------
    queries, candidates
        Arrays (n, width) and (m, width).
    most
        How many are wanted of each.

    Examples
    --------
    >>> best_candidates(np.eye(2), np.array([[1, 0], [2, 1], [1, 1]]), 4).tolist()
    [[1, 0, 2, -1], [1, 2, 0, -1]]
    """
    asking, answering = np.asarray(queries, np.float32), np.asarray(candidates, np.float32)
    found = np.full((len(asking), most), -1, np.int32)
    for rows in _blocks(len(asking)):
        best = np.full((rows.stop - rows.start, most), -np.inf, np.float32)
        where = found[rows]
        for columns in _blocks(len(answering)):
            scores = asking[rows] @ answering[columns].T
            # Only who beats the last one kept changes anything: later blocks, fewer and fewer.
            better = np.flatnonzero(scores.max(1) > best[:, -1])
            both = np.concatenate([best[better], scores[better]], 1)
            order = np.argsort(-both, axis=1, kind="stable")[:, :most]
            names = np.concatenate([where[better], _numbered(columns, len(better))], 1)
            best[better] = np.take_along_axis(both, order, 1)
            where[better] = np.take_along_axis(names, order, 1)
    return found


def _numbered(columns: slice, rows: int) -> NDArray[np.int32]:
    numbers = np.arange(columns.start, columns.stop, dtype=np.int32)
    return np.broadcast_to(numbers, (rows, len(numbers)))


def _ahead(images: Rows, texts: Rows, most: int) -> tuple[Counts, Counts]:
    """Count for each pair who comes before its other half; `most` stands for that or more."""
    pairs = len(images)
    lengths = _lengths(images), _lengths(texts)
    own = np.empty(pairs, np.float32)
    for here in _blocks(pairs):
        # Out of the very products that they are compared with.
        own[here] = np.diagonal(_unit(images, lengths[0], here) @ _unit(texts, lengths[1], here).T)
    texts_ahead, images_ahead = np.zeros(pairs, np.int64), np.zeros(pairs, np.int64)
    products = np.empty((_BLOCK, _BLOCK), np.float32)
    for rows in _blocks(pairs):
        queries = _unit(images, lengths[0], rows)
        for columns in _blocks(pairs):
            answers = _unit(texts, lengths[1], columns)
            block = np.matmul(queries, answers.T, out=products[: len(queries), : len(answers)])
            if rows == columns:
                _count_on_diagonal(block, own[rows], texts_ahead[rows])
                _count_on_diagonal(block.T, own[rows], images_ahead[rows])
                continue
            # Whoever stands before the pair comes first also with the same score.
            before = columns.start < rows.start
            _count(block, own[rows], texts_ahead[rows], most, equal=before)
            _count(block.T, own[columns], images_ahead[columns], most, equal=not before)
    return np.minimum(texts_ahead, most), np.minimum(images_ahead, most)


def _count(block: Rows, own: Rows, ahead: Counts, most: int, *, equal: bool) -> None:
    """Add how many scores of each row are ahead of its own; rows that are out are not looked at."""
    if ahead.min() >= most:
        return
    best = block.max(1)
    beaten = np.flatnonzero((best >= own if equal else best > own) & (ahead < most))
    if len(beaten):
        rows, limits = block[beaten], own[beaten, None]
        ahead[beaten] += np.count_nonzero(rows >= limits if equal else rows > limits, axis=1)


def _count_on_diagonal(block: Rows, own: Rows, ahead: Counts) -> None:
    """Do the same where each row holds its own score, which what stands before it may equal."""
    limits = own[:, None]
    ahead += np.count_nonzero(block > limits, axis=1)
    ahead += np.count_nonzero(np.tril(block == limits, -1), axis=1)


def _blocks(pairs: int) -> list[slice]:
    return [slice(start, min(start + _BLOCK, pairs)) for start in range(0, pairs, _BLOCK)]


def _lengths(rows: Rows) -> Rows:
    """Return how long rows are, also those whose squares are too large or too small to be added."""
    tiny = np.finfo(np.float64).tiny
    found = []
    for here in _blocks(len(rows)):
        most = np.maximum(np.abs(rows[here]).max(1, keepdims=True).astype(np.float64), tiny)
        inside = (rows[here] / most).astype(np.float32)
        found.append(np.maximum(most * np.linalg.norm(inside, axis=1, keepdims=True), tiny))
    lengths = np.concatenate(found)
    single = np.finfo(np.float32)
    fits = lengths.max() < single.max and lengths.min() > single.tiny
    return np.asarray(lengths, np.float32 if fits else np.float64)


def _unit(rows: Rows, lengths: Rows, here: slice) -> Rows:
    return np.asarray(rows[here] / lengths[here], np.float32)


def _require_pairs(images: Rows, texts: Rows) -> None:
    if images.ndim != 2 or images.shape != texts.shape or not len(images):
        raise ValueError(
            f"expected embeddings of images and texts of one shape (pairs, width), got "
            f"{images.shape} and {texts.shape}"
        )
    for name, rows in (("image", images), ("text", texts)):
        if not np.isfinite(rows.sum(dtype=np.float64)):
            raise ValueError(f"expected finite {name} embeddings, got NaN or infinity")
