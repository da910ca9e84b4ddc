"""SODA10M's data looked through: published counts, and every image beside what is said of it."""

from collections.abc import Callable
from functools import partial

from PIL import Image

from onward.data.clad_counts import counts
from onward.data.folder_images import UNREADABLE
from onward.data.gaps import Flaw
from onward.data.inspection import Inspection
from onward.data.soda import Soda, contradictions


def inspect_soda(soda: Soda, *, published: bool) -> Inspection:
    """Look through annotations; Emoji Street's counts were not published."""
    found = counts(soda) if published else []
    right = sum(count.right for count in found)
    return Inspection(
        layout="SODA10M",
        counts=found,
        shown=found,
        agreed=f"{right} of {len(found)} counts as published" * bool(found),
        images=sum(len(split.images) for split in soda.splits),
        read=partial(check_clad, soda),
    )


def check_clad(soda: Soda, progress: Callable[[int], None] = lambda done: None) -> list[Flaw]:
    """Return what is wrong with the images: unreadable, of another size, of another place."""
    flaws = []
    for split in soda.splits:
        flaws += [Flaw("", str(soda.folder), problem) for problem in contradictions(split)]
        for row in split.images.select(["path", "width", "height"]).to_pylist():
            problem = _problem(soda, row["path"], (row["width"], row["height"]))
            if problem is not None:
                flaws.append(Flaw(row["path"], str(soda.folder), f"image {row['path']}: {problem}"))
            progress(1)
    return flaws


def _problem(soda: Soda, path: str, size: tuple[int, int]) -> str | None:
    try:
        with Image.open(soda.folder / path) as image:
            image.load()
            same = image.size == size
            return None if same else f"expected {size}, found {image.size} pixels"
    except UNREADABLE as error:
        return f"it cannot be decoded ({error}). Fetch it again"
