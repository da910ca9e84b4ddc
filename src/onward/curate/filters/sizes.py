"""Steps that look at how large an image is."""

from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl

from onward.curate.filters.step import Given, Step
from onward.data.folder_images import opened_image
from onward.errors import OnwardError


@dataclass
class _Sized(Step):
    """A step that needs width and height, of the rows or of the images themselves."""

    columns: ClassVar[tuple[str, ...]] = ("width", "height")
    _given: Given = field(default_factory=Given, init=False, repr=False)
    _read: int = field(default=0, init=False, repr=False)
    _lost: int = field(default=0, init=False, repr=False)

    def prepare(self, given: Given) -> None:
        """Remember where images are."""
        self._given = given

    def sizes(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the shorter and the longer side of each row; null where nobody knows."""
        wide, high = rows["width"], rows["height"]
        unknown = wide.is_null() | high.is_null()
        if unknown.any():
            if self._given.images is None:
                raise OnwardError(
                    f"expected the width and height of every image for the step {self.name}, found "
                    f"{int(unknown.sum()):,} of {len(rows):,} rows without. Give --images DIR, or "
                    "name the columns in onward curate date"
                )
            places = unknown.arg_true()
            found = [self._size(one) for one in rows["id"].gather(places).to_list()]
            wide = wide.scatter(places, pl.Series([w for w, _ in found], dtype=pl.Int32))
            high = high.scatter(places, pl.Series([h for _, h in found], dtype=pl.Int32))
        sides = pl.DataFrame({"wide": wide, "high": high})
        return sides.select(
            short=pl.min_horizontal("wide", "high"), long=pl.max_horizontal("wide", "high")
        )

    def notes(self) -> dict[str, int]:
        """Count images that were looked at, and those that could not be."""
        found = {"sizes read from images": self._read, "images not found or broken": self._lost}
        return {key: value for key, value in found.items() if value}

    def _size(self, id: str) -> tuple[int | None, int | None]:
        place = self._given.places.get(id)
        if place is not None:
            try:
                with opened_image(place.read(), lambda: id) as image:
                    self._read += 1
                    return int(image.size[0]), int(image.size[1])
            except OnwardError:
                pass  # counted as lost
        self._lost += 1
        return None, None


@dataclass
class Size(_Sized):
    """Images whose shorter side has 200 pixels or more."""

    name: ClassVar[str] = "size"
    pixels: int = 200

    def keep(self, part: str, rows: pl.DataFrame) -> pl.Series:
        """Compare the shorter side."""
        return (self.sizes(rows)["short"] >= self.pixels).fill_null(value=False)


@dataclass
class Aspect(_Sized):
    """Images whose longer side is at most three times as long as the shorter one."""

    name: ClassVar[str] = "aspect"
    ratio: float = 3.0

    def keep(self, part: str, rows: pl.DataFrame) -> pl.Series:
        """Compare the sides."""
        sides = self.sizes(rows)
        return (sides["long"] <= self.ratio * sides["short"]).fill_null(value=False)
