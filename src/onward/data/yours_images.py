"""Images of a table of yours: files that it names, or bytes that it holds."""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from PIL import Image, ImageOps

from onward.data.cache import cached
from onward.data.features import VERSION, hog_colour
from onward.data.folder_images import UNREADABLE, FolderImages, file_sizes
from onward.data.hashing import Hashes, hash_texts, mix_in
from onward.errors import OnwardError
from onward.types import Array, Rows

# What the hand-made features are made for.
DRAWING = 32
_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class YourImages(FolderImages):
    """Images that are turned upright as their cameras say, and laid on white if transparent.

    ``encoded`` has the bytes of images that the table holds itself, null where it names a file;
    ``content`` names the content; ``rows`` are the images' rows in the table that was read, for
    messages.
    """

    encoded: pa.ChunkedArray | None = field(kw_only=True)
    content: str = field(kw_only=True)
    rows: Rows = field(kw_only=True)

    def _opened(self, row: int) -> Image.Image:
        stored = None if self.encoded is None else self.encoded[row].as_py()
        path = self.root / self.paths[row]
        try:
            with Image.open(path if stored is None else io.BytesIO(stored)) as file:
                image = ImageOps.exif_transpose(file)
                if image.has_transparency_data:
                    drawing = image.convert("RGBA")
                    image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), drawing)
                return image.convert("RGB")
        except UNREADABLE as error:
            where = "in the table itself" if stored is not None else str(path)
            raise OnwardError(
                f"expected an image in row {self.rows[row]} ({where}), found what cannot be "
                f"decoded ({error}). Mend the file or take the row out; onward check data finds "
                "all of them"
            ) from error


@dataclass(frozen=True, eq=False)
class ImageParts:
    """A column of images before anything is decoded: paths, bytes, and which of them are there."""

    root: Path
    paths: list[str]
    encoded: pa.ChunkedArray | None
    sizes: Mapping[str, int]
    there: NDArray[np.bool_]

    def images(self, rows: Rows, size: int) -> YourImages:
        """Return the images of these rows as a wide column."""
        paths = [self.paths[row] for row in rows.tolist()]
        encoded = None if self.encoded is None else self.encoded.take(pa.array(rows))
        content = hashlib.sha256()
        for place, path in enumerate(paths):
            stored = None if encoded is None else encoded[place].as_py()
            facts = f"{path}\n{self.sizes.get(path)}\n".encode()
            content.update(facts if stored is None else hashlib.sha256(stored).digest())
        return YourImages(
            self.root, paths, size, encoded=encoded, content=content.hexdigest(), rows=rows
        )

    @property
    def hashes(self) -> Hashes:
        """One hash per row: equal where the path, or the bytes, are."""
        hashes = hash_texts(pa.array(self.paths, pa.string()))
        if self.encoded is None:
            return hashes
        held = (value.as_py() for value in self.encoded)
        stored = [None if b is None else hashlib.sha256(b).digest() for b in held]
        return mix_in(hashes, hash_texts(pa.array(stored, pa.binary())))


def image_parts(column: pa.ChunkedArray, name: str, root: Path) -> ImageParts:
    """Look which images a column names or holds.

    They are paths, which begin at the root if they are relative, bytes, or both as Hugging Face
    keeps them: ``{bytes, path}``.
    """
    named, encoded = _parts(column, name)
    paths = named.fill_null("").to_pylist()
    held = np.zeros(len(paths), np.bool_)
    if encoded is not None:
        held = np.asarray(encoded.is_valid())
    sizes = file_sizes(root, (path for path, bytes_ in zip(paths, held, strict=True) if not bytes_))
    there = held | np.array([path in sizes for path in paths], np.bool_)
    return ImageParts(root, paths, encoded, sizes, there)


def _parts(column: pa.ChunkedArray, name: str) -> tuple[Any, pa.ChunkedArray | None]:
    kind = column.type
    if pa.types.is_struct(kind) and {"bytes", "path"} <= {field.name for field in kind}:
        return pc.struct_field(column, "path"), pc.struct_field(column, "bytes")
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pa.chunked_array([pa.nulls(len(column), pa.string())]), column
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column, None
    raise OnwardError(
        f"expected paths or bytes of images in column {name!r}, found values of type {kind}. Name "
        "another one with image_column"
    )


def drawing_features(images: YourImages) -> NDArray[np.float32]:
    """Return hand-made features of all images: each is described by itself, nothing is fitted.

    They are cached under the images' content. Noise in their place is described anew.
    """
    key = hashlib.sha256(f"{images.content} {_last_changes(images)}".encode()).hexdigest()
    real = replace(images, noise=None)
    features = np.array(cached(f"{VERSION}-yours-{key[:24]}", lambda: _described(real)))
    images.put_noise(features, np.arange(len(features)), _drawn)
    return features


def _described(images: YourImages) -> NDArray[np.float32]:
    everything = np.arange(len(images.paths))
    parts = [
        _drawn(images[everything[start : start + _AT_ONCE]])
        for start in range(0, len(everything), _AT_ONCE)
    ]
    return np.concatenate(parts)


def _drawn(pixels: Array) -> Array:
    opaque = np.full_like(pixels[..., :1], 255)
    return hog_colour(np.concatenate([pixels, opaque], axis=3))


def _last_changes(images: YourImages) -> str:
    """Name when the files were last changed: a cache must notice what a run's name need not."""
    changes = hashlib.sha256()
    for path in images.paths:
        file = images.root / path
        if path and file.is_file():
            changes.update(f"{file.stat().st_mtime_ns}\n".encode())
    return changes.hexdigest()
