"""Draw Emoji Street: python tools/show_street.py FOLDER [OUT].

FOLDER is what ``onward data make street`` has made, or SODA10M itself. Writes a contact sheet of
every domain of CLAD-D, boxes drawn in the right half, one of all places, and the picture of
CLAD-C's stream.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from PIL import Image, ImageDraw

from clad_stream import stream_picture
from onward.data.clad_sets import DOMAINS_OF_IMAGES, clad_c, clad_d
from onward.data.soda import Soda, read_soda
from onward.report.style import to_png

COLOURS = ("", "#ff4040", "#ff9f1a", "#ffe94a", "#38f06a", "#35e0ff", "#ff5cf4")
SIZE = (384, 216)


def sheet(soda: Soda, images: pa.Table, columns: int = 4, rows: int = 5) -> Image.Image:
    """Return frames spread over a table of images, the last two columns with their boxes."""
    chosen = np.linspace(0, len(images) - 1, columns * rows).astype(int)
    whole = Image.new("RGB", (columns * SIZE[0], rows * SIZE[1]))
    for place, row in enumerate(images.take(chosen).to_pylist()):
        with Image.open(soda.folder / row["path"]) as file:
            frame = file.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
        if place % columns >= columns // 2:
            pen, scale = ImageDraw.Draw(frame), SIZE[0] / row["width"]
            for box, label in zip(row["boxes"], row["labels"], strict=True):
                pen.rectangle([edge * scale for edge in box], outline=COLOURS[label], width=2)
        whole.paste(frame, (place % columns * SIZE[0], place // columns * SIZE[1]))
    return whole


def overview(soda: Soda, columns: int = 6) -> Image.Image:
    """Return two frames that follow each other of each city, location, period and weather."""
    rows = soda.test.images.to_pylist()
    places: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("period", "weather", "location", "city"))
        places.setdefault(key, []).append(row["path"])
    ordered = [places[key] for key in sorted(places)]
    paths = [path for found in ordered for path in found[len(found) // 2 :][:2]]
    lines = len(paths) // columns
    whole = Image.new("RGB", (columns * 240, lines * 135))
    for place, path in enumerate(paths[: columns * lines]):
        with Image.open(soda.folder / path) as file:
            frame = file.convert("RGB").resize((240, 135), Image.Resampling.LANCZOS)
        whole.paste(frame, (place % columns * 240, place // columns * 135))
    return whole


def main(folder: Path, out: Path) -> None:
    """Write the pictures of a folder."""
    soda = read_soda(folder)
    images = clad_d(soda)
    out.mkdir(parents=True, exist_ok=True)
    numbers, sets = images.column("domain").to_numpy(), np.array(images.column("set").to_pylist())
    for number, domain in enumerate(DOMAINS_OF_IMAGES):
        for name in ("train", "test"):
            mine = images.take(np.flatnonzero((numbers == number) & (sets == name)))
            path = out / f"domain_{number + 1}_{domain.name}_{name}.png"
            sheet(soda, mine).save(path)
            print(f"{path}: {len(mine)} frames")
    overview(soda).save(out / "street.jpg", quality=82)
    path = out / "stream.png"
    path.write_bytes(to_png(stream_picture(clad_c(soda)), dpi=130))
    print(path)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) == 3 else "street_pictures"))
