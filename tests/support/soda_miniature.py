"""SODA10M in miniature: annotation files written from a few lines, with empty image files.

A frame is one line: split, day, time, city, location, period, weather, then its objects. It has the
traps of the real one: videos past 9, a day whose night belongs to no set, frames without a box.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from onward.data.soda_words import Place, name_of_place

Frame = dict[str, Any]
Box = dict[str, Any]


def box(category: int, bbox: tuple[float, ...] = (100, 100, 40, 40), **more: Any) -> Box:
    """Return an object that is large enough and kept, unless something else is said."""
    return {"category_id": category, "bbox": list(bbox), "iscrowd": 0, "occluded": 1, **more}


def frame(
    when: str, place: str = "Shanghai Citystreet Daytime Clear", *boxes: Box, **more: Any
) -> Frame:
    """Return a frame of a moment such as ``20191111 101500`` in a place."""
    date, time = when.split()
    return {
        "date": date,
        "time": time,
        **dict(zip(("city", "location", "period", "weather"), place.split(), strict=True)),
        "file_name_old": "video_1_1.jpg",
        "boxes": boxes,
        **more,
    }


def write_soda(
    root: Path,
    edit: Callable[[str, dict[str, Any]], None] = lambda split, document: None,
    size: tuple[int, int] = (1920, 1080),
    **splits: list[Frame],
) -> Path:
    """Write frames by split, and return the root. ``edit`` may spoil a document before."""
    folder = root / "SSLAD-2D" / "labeled"
    (folder / "annotations").mkdir(parents=True)
    for split in ("train", "val", "test"):
        (folder / split).mkdir()
        images, annotations = [], []
        for number, source in enumerate(splits.get(split, ()), start=1):
            entry = dict(source)
            boxes = entry.pop("boxes")
            place = Place(*(entry[name] for name in Place._fields))
            entry.setdefault("file_name", name_of_place(split, number, place))
            images.append({"id": number, "width": size[0], "height": size[1], **entry})
            (folder / split / entry["file_name"]).touch()
            for found in boxes:
                area = found["bbox"][2] * found["bbox"][3]
                row = {"id": len(annotations) + 1, "image_id": number, "area": area, **found}
                annotations.append(row)
        document = {"images": images, "annotations": annotations, "categories": []}
        edit(split, document)
        path = folder / "annotations" / f"instance_{split}.json"
        path.write_text(json.dumps(document))
    return root
