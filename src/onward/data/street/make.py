"""Emoji Street on disk: frames and annotations as SODA10M has them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from onward.data.emoji_history import publish_drawings
from onward.data.images import encoded
from onward.data.soda_words import CATEGORIES, name_of_place
from onward.data.street.art import chest
from onward.data.street.camera import HEIGHT, WIDTH
from onward.data.street.drives import Drive, plan
from onward.data.street.frame import Seen, render
from onward.data.street.light import light_at
from onward.data.street.road import View
from onward.data.street.traffic import Traffic
from onward.errors import OnwardError
from onward.seeds import Draws, draws

_SPEED = {"Citystreet": 9.0, "Highway": 27.0, "Countryroad": 17.0}  # metres per second


def make_street(
    out: Path,
    *,
    seed: int = 0,
    frames: int,
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Render Emoji Street into a folder of SODA10M's layout, and return how many frames it has.

    The same seed and number of frames give the same bytes. The folder is there whole or not at all.

    Another seed is another traffic, on the same days. There are about as many frames as asked for
    over all three annotation files; `progress` is called with how many more have been drawn.
    """
    if frames < 1:
        raise OnwardError(f"expected at least one frame, found {frames}. Ask for more")
    drives = plan(frames)

    def fill(draft: Path) -> None:
        labelled = draft / "SSLAD-2D" / "labeled"
        (labelled / "annotations").mkdir(parents=True)
        for split in ("train", "val", "test"):
            (labelled / split).mkdir()
            mine = [drive for drive in drives if drive.split == split]
            document = _draw_split(labelled / split, mine, seed, progress)
            text = json.dumps(document, separators=(",", ":"))
            (labelled / "annotations" / f"instance_{split}.json").write_text(text)

    publish_drawings(out, fill)
    return sum(drive.frames for drive in drives)


def _draw_split(
    folder: Path, drives: list[Drive], seed: int, progress: Callable[[int], None]
) -> dict[str, Any]:
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for drive in drives:
        rng = draws(Draws.STREET, seed, drive.number)
        for entry, content, seen in _frames(drive, rng):
            entry["id"] = len(images) + 1
            entry["file_name"] = name_of_place(drive.split, entry["id"], drive.place)
            (folder / entry["file_name"]).write_bytes(content)
            images.append(entry)
            for found in seen:
                number = len(annotations) + 1
                annotations.append(_annotation(number, entry["id"], found))
            progress(1)
    categories = [{"id": number, "name": name} for number, name in CATEGORIES.items()]
    return {
        "info": {"description": "Emoji Street, a miniature rendered by Onward; not SODA10M"},
        "categories": categories,
        "images": images,
        "annotations": annotations,
    }


def _annotation(number: int, image: int, found: Seen) -> dict[str, Any]:
    return {
        "id": number,
        "image_id": image,
        "category_id": found.category,
        "bbox": list(found.box),
        "area": found.box[2] * found.box[3],
        "iscrowd": 0,
        # CLAD's released filter drops the objects with a 0 here, and its paper the occluded ones.
        "occluded": int(not found.occluded),
    }


def _frames(
    drive: Drive, rng: np.random.Generator
) -> Iterator[tuple[dict[str, Any], bytes, list[Seen]]]:
    """Yield the frames of a drive: what the annotation file says of it, its bytes, what is seen."""
    traffic = Traffic(drive, chest(test=drive.split == "test"), rng)
    location = str(drive.place.location)
    key, travelled, bend = drive.number * 101 + 7, 40.0 + 100 * float(rng.random()), 0.0
    for number, time in enumerate(drive.times()):
        # In the city one waits at lights.
        moving = location != "Citystreet" or bool(rng.random() < 0.7)
        if moving and number:
            travelled += _SPEED[location] * 10 * float(0.6 + 0.6 * rng.random())
        turn = float(rng.random() - 0.5)
        bend = 0.0 if location == "Citystreet" else 0.6 * bend + 0.0016 * turn
        users = traffic.step(moving=moving)
        view = View(drive.place, travelled, bend, key)
        pixels, seen = render(view, light_at(time, drive.place), users, rng)
        frame = encoded(Image.fromarray(pixels), "JPEG", quality=93, subsampling=0)
        entry = {
            "width": WIDTH,
            "height": HEIGHT,
            **drive.place._asdict(),
            "date": f"{time:%Y%m%d}",
            "time": f"{time:%H%M%S}",
            "file_name_old": f"video_{drive.number:03d}_{number}.jpg",
        }
        yield entry, frame, seen
