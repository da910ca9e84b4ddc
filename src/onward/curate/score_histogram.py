"""A small drawing: the scores of candidates beside those of their whole bucket."""

from typing import Any

import numpy as np
from markupsafe import Markup

from onward.table import Array

_WIDTH, _HEIGHT = 240, 52
_MOST_BARS = 48


def histogram_svg(scores: Any, candidates: Array) -> Markup:
    """Draw two outlines, each as high as the drawing, as there are a thousand times fewer of one.

    Parameters
    ----------
    scores
        Rows of `onward.curate.records.SCORES` of one bucket and concept.
    candidates
        The scores of the candidates.
    """
    low, high = scores["low"].to_numpy(), scores["high"].to_numpy()
    first, last = float(low.min()), float(high.max())
    fine = max(round((last - first) / float(high[0] - low[0])), 1)
    parts = min(fine, _MOST_BARS)

    def counted(values: Array, images: Array | None = None) -> Array:
        places = ((values - first) / (last - first) * parts).astype(np.int64)
        return np.bincount(places.clip(0, parts - 1), images, minlength=parts)

    every, found = counted((low + high) / 2, scores["images"].to_numpy()), counted(candidates)
    alt = (
        f"Scores from {first:.3f} to {last:.3f} in the whole bucket; candidates from "
        f"{candidates.min():.3f} to {candidates.max():.3f}"
    )
    return Markup(
        '<svg class="scores" viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img" '
        'aria-label="{alt}">'
        '<path class="all" d="{all}"/><path class="mine" d="{mine}"/></svg>'
        '<p class="ends"><span>{first}</span><span>{last}</span></p>'
    ).format(
        width=_WIDTH,
        height=_HEIGHT,
        alt=alt,
        all=_outline(every),
        mine=_outline(found),
        first=f"{first:.2f}",
        last=f"{last:.2f}",
    )


def _outline(counts: Array) -> str:
    """Return steps of a bar each, closed along the bottom."""
    edges = np.linspace(0, _WIDTH, len(counts) + 1)
    tops = _HEIGHT * (1 - counts / max(counts.max(), 1))
    steps = "".join(f"V{top:.1f}H{right:.1f}" for top, right in zip(tops, edges[1:], strict=True))
    return f"M0 {_HEIGHT}{steps}V{_HEIGHT}Z"
