"""The step that compares an image with its caption."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from onward.curate.filters.step import Alive, Given, Step, need_given
from onward.curate.known_clip import require_same_model
from onward.curate.nearest import require_width
from onward.curate.queries import text_directions
from onward.curate.stage import open_stage
from onward.curate.store import Store
from onward.errors import OnwardError
from onward.types import Array

_AT_A_TIME = 256


@dataclass
class ClipScore(Step):
    """Pairs whose image and caption are similar, as a CLIP of yours sees them.

    Kept is what scores `threshold` or more, or else the best share, `top`: DataComp's 0.3.
    """

    name: ClassVar[str] = "clip_score"
    columns: ClassVar[tuple[str, ...]] = ("caption",)
    learns: ClassVar[bool] = True
    threshold: float | None = None
    top: float | None = None
    _scores: dict[str, dict[str, float]] = field(default_factory=dict, init=False, repr=False)
    _cut: float = field(default=0.0, init=False, repr=False)
    _lost: int = field(default=0, init=False, repr=False)
    _images: Any = field(default=None, init=False, repr=False)
    _clip: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.threshold is None and self.top is None:
            self.top = 0.3
        if self.threshold is not None and self.top is not None:
            raise OnwardError("expected a threshold or a top share for clip_score, found both")
        if self.top is not None and not 0 < self.top <= 1:
            raise OnwardError(f"expected a share between 0 and 1 for clip_score, found {self.top}")

    def prepare(self, given: Given) -> None:
        """Open the store, and see that it is of the same model."""
        store = need_given(given.store, "--store DIR", "a store of onward curate embed", self.name)
        known = need_given(given.clip, "--model NAME", "the model of the store", self.name)
        require_same_model(open_stage(store, "embed").options.get("model"), known.identity)
        self._images, self._clip = Store.open(store), known.clip

    def learn(self, alive: Alive) -> None:
        """Score everything that is left."""
        every = []
        for part, rows in alive():
            vectors, there = self._images.of(rows["id"].to_arrow())
            scores = np.full(len(rows), np.nan, np.float32)
            places = np.flatnonzero(there)
            texts = rows["caption"].fill_null("").gather(places).to_list()
            for first in range(0, len(places), _AT_A_TIME):
                some = slice(first, first + _AT_A_TIME)
                said = text_directions(self._clip, texts[some]).astype(np.float32)
                require_width(said.shape[1], vectors.shape[1])
                scores[places[some]] = (vectors[places[some]] * said).sum(1)
            self._scores[part] = dict(zip(rows["id"].to_list(), scores.tolist(), strict=True))
            self._lost += int((~there).sum())
            every.append(scores)
        self._cut = self._bound(np.concatenate(every))

    def _bound(self, scores: Array) -> float:
        if self.threshold is not None:
            return self.threshold
        known = np.sort(scores[~np.isnan(scores)])
        kept = int(np.ceil((self.top or 0) * len(scores)))
        return float(known[max(len(known) - kept, 0)]) if len(known) else float("inf")

    def keep(self, part: str, rows: pl.DataFrame) -> pl.Series:
        """Look the scores up."""
        scores = self._scores.get(part, {})
        return pl.Series(
            [scores[one] >= self._cut for one in rows["id"].to_list()], dtype=pl.Boolean
        )

    def notes(self) -> dict[str, Any]:
        """Return the score from which on pairs stay, and how many have no image in the store."""
        found: dict[str, Any] = {"kept from": round(self._cut, 6)}
        return found | ({"not in the store": self._lost} if self._lost else {})
