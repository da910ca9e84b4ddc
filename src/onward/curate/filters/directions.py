"""Directions of the images of a part, out of a store, by id."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from onward.curate.stage import open_stage
from onward.curate.store import Store
from onward.types import Array


class Directions:
    """What ``onward curate embed`` made of images, found by their ids."""

    def __init__(self, folder: Path) -> None:
        self.stage = open_stage(folder, "embed")
        self.store = Store.open(folder)
        self.model: Any = self.stage.options.get("model")

    @cached_property
    def _rows(self) -> pl.DataFrame:
        rows = np.arange(len(self.store))
        ids = pl.Series("id", self.store.ids(rows), dtype=pl.String)
        held = pl.DataFrame({"id": ids, "row": rows})
        return held.unique("id", keep="first", maintain_order=True)

    def of(self, ids: pl.Series) -> tuple[Array, Array]:
        """Return the directions of these ids, float32, and which of them have one."""
        held = pl.DataFrame({"id": ids}).with_row_index("place")
        found = held.join(self._rows, on="id", how="left").sort("place")["row"]
        there = found.is_not_null().to_numpy()
        vectors = np.zeros((len(ids), self.store.width), np.float32)
        vectors[there] = self.store.take(found.drop_nulls().to_numpy())
        return vectors, there
