"""Read SODA10M's images in full, and compare what the annotations say of them."""

from collections.abc import Callable

from PIL import Image

from onward.data.folder_images import UNREADABLE
from onward.data.soda import Soda, contradictions


def check_clad(soda: Soda, progress: Callable[[int], None] = lambda done: None) -> list[str]:
    """Return what is wrong with the images: unreadable, of another size, of another place."""
    problems = []
    for split in (soda.train, soda.val, soda.test):
        problems += contradictions(split)
        for row in split.images.select(["path", "width", "height"]).to_pylist():
            path, size = row["path"], (row["width"], row["height"])
            try:
                with Image.open(soda.folder / path) as image:
                    image.load()
                    if image.size != size:
                        problems.append(f"image {path}: expected {size}, found {image.size} pixels")
            except UNREADABLE as error:
                problems.append(f"image {path}: it cannot be decoded ({error}). Fetch it again")
            progress(1)
    return problems


def clad_images(soda: Soda) -> int:
    """Return how many images `check_clad` reads."""
    return sum(len(split.images) for split in (soda.train, soda.val, soda.test))
