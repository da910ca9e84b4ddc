"""What a step of a filter is: it looks at rows, and says which of them stay."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from onward.curate.images import Place, image_shards
from onward.errors import OnwardError

if TYPE_CHECKING:
    from onward.curate.known_clip import KnownClip

Alive = Callable[[], Iterator[tuple[str, pl.DataFrame]]]
"""Goes through what earlier steps have left: the name of a part, and its rows."""


@dataclass(frozen=True, eq=False)
class Given:
    """What somebody gave for the steps that need more than the rows.

    Parameters
    ----------
    images
        A folder of images or tar shards, where sizes are not in the rows.
    store
        What ``onward curate embed`` made of the images.
    clip
        The model that the store is from.
    reference
        Directions of images that are wanted, as ImageNet's: .npy, or a store.
    """

    images: Path | None = None
    store: Path | None = None
    clip: "KnownClip | None" = None
    reference: Path | None = None

    @cached_property
    def places(self) -> dict[str, Place]:
        """Where each image lies."""
        if self.images is None:
            return {}
        return {place.id: place for shard in image_shards(self.images) for place in shard.places()}


@dataclass
class Step:
    """A step; its fields are its options, as ``--step NAME:key=value`` sets them."""

    name: ClassVar[str] = ""
    columns: ClassVar[tuple[str, ...]] = ()
    """What it reads, beside ``id``."""
    learns: ClassVar[bool] = False
    """Whether it has to see all rows before it can say of one whether it stays."""

    def prepare(self, given: Given) -> None:
        """Take what it needs, or say what is missing."""

    def learn(self, alive: Alive) -> None:
        """Look at everything that is left."""

    def keep(self, part: str, rows: pl.DataFrame) -> pl.Series:
        """Say of each row whether it stays."""
        raise NotImplementedError

    def notes(self) -> dict[str, Any]:
        """Return what else was counted or found."""
        return {}

    @property
    def options(self) -> dict[str, Any]:
        """Return its options, as JSON holds them."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.init}

    def told(self) -> str:
        """Return its name, with options that are not the usual ones."""
        usual = {one.name: one.default for one in fields(self) if one.init}
        said = [f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
                for key, value in self.options.items() if value != usual[key]]  # fmt: skip
        return ":".join([self.name, ",".join(said)] if said else [self.name])


def need_given(held: Any, option: str, what: str, step: str) -> Any:
    """Return what was given, or say which option is missing."""
    if held is None:
        raise OnwardError(f"expected {what} for the step {step}, found none. Give {option}")
    return held
