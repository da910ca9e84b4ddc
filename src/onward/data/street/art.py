"""The drawings of Emoji Street: emoji of six classes, cut out, recoloured, of one side of a split.

A drawing is one emoji in one style. Google redrew its vehicles twice in the years that the history
covers, so that an emoji is up to three drawings; people kept theirs, and are told apart by who they
are. A drawing is either training's or the test's. Twemoji, the second artist, is the test's alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from onward.data.emoji_history import TWEMOJI, load_emoji
from onward.types import Array

Sprite = NDArray[np.uint8]  # red, green and blue times alpha, and alpha

_STYLES = ((1,), (2, 3, 4), (5, 7))  # snapshots
# Emoji of each class, and the styles (0, 1, 2) of it that are the test's.
_EMOJI: Mapping[int, Mapping[str, tuple[int, ...]]] = {
    1: {
        "person walking": (),
        "man walking": (),
        "woman walking": (0, 1, 2),
        "person running": (),
        "man running": (),
        "woman running": (0, 1, 2),
        "man standing": (),
        "woman standing": (),
        "person standing": (0, 1, 2),
        "person with white cane": (0, 1, 2),
    },
    2: {"person biking": (), "man biking": (), "woman biking": (0, 1, 2)},
    3: {
        "automobile": (1,),
        "oncoming automobile": (0,),
        "taxi": (2,),
        "oncoming taxi": (1,),
        "sport utility vehicle": (),
        "police car": (0,),
        "oncoming police car": (2,),
        "minibus": (1,),
    },
    4: {
        "delivery truck": (1,),
        "articulated lorry": (2,),
        "pickup truck": (),
        "fire engine": (0,),
        "tractor": (0,),
    },
    5: {
        "bus": (2,),
        "oncoming bus": (1,),
        "trolleybus": (0,),
        "tram": (2,),
        "tram car": (0,),
        "light rail": (1,),
    },
    6: {"auto rickshaw": (2,)},
}
_SCENERY = (
    "deciduous tree",
    "evergreen tree",
    "palm tree",
    "vertical traffic light",
    "bus stop",
    "construction",
    "house",
    "house with garden",
)
_SECOND_ARTIST = 0.3
_DRAWN = 0.6  # share of tricycles that are not emoji, of which there is one only
# Vehicles that are known by their colour, and keep it.
_UNPAINTED = {"taxi", "oncoming taxi", "police car", "oncoming police car", "fire engine"}


@dataclass(frozen=True, eq=False)
class Drawing:
    """A drawing cut out at its edges: RGBA bytes, and what it is called."""

    name: str
    pixels: NDArray[np.uint8]


@dataclass(frozen=True)
class Chest:
    """The drawings of one side of the split: by class and style, and by the second artist."""

    by_style: Mapping[tuple[int, int], tuple[Drawing, ...]]
    second_artist: Mapping[int, tuple[Drawing, ...]]
    tricycles: tuple[Drawing, ...]

    def draw(
        self, category: int, art: tuple[float, float, float], rng: np.random.Generator
    ) -> Sprite:
        """Pick a drawing of a class in one of the styles, recolour it, and maybe mirror it."""
        style = int(rng.choice(3, p=np.array(art) / sum(art)))
        second, drawn = rng.random(2)
        if category == 6 and drawn < _DRAWN:
            choices = self.tricycles
        elif second < _SECOND_ARTIST and self.second_artist:
            choices = self.second_artist[category]
        else:
            nearest = sorted(range(3), key=lambda other: abs(other - style))
            choices = next(
                found for other in nearest if (found := self.by_style.get((category, other)))
            )
        chosen = choices[int(rng.integers(len(choices)))]
        pixels = _painted(chosen, category, rng)
        if rng.random() < 0.5:
            pixels = pixels[:, ::-1]
        return _premultiplied(pixels)


@cache
def chest(*, test: bool) -> Chest:
    """Return the drawings of training, or those of the test."""
    rows = _rows()
    by_style: dict[tuple[int, int], list[Drawing]] = {}
    second: dict[int, list[Drawing]] = {}
    for category, emoji in _EMOJI.items():
        for name, tested in emoji.items():
            for style, snapshots in enumerate(_STYLES):
                if (style in tested) != test:
                    continue
                for snapshot in snapshots:
                    if (name, snapshot) in rows:
                        found = by_style.setdefault((category, style), [])
                        found.append(_drawing(name, rows[name, snapshot]))
            if test:
                second.setdefault(category, []).append(_drawing(name, rows[name, TWEMOJI]))
    tricycles = ("passenger",) if test else ("cargo", "covered")
    return Chest(
        {key: tuple(found) for key, found in by_style.items()},
        {key: tuple(found) for key, found in second.items()},
        tuple(Drawing(f"{kind} tricycle", _tricycle(kind)) for kind in tricycles),
    )


@cache
def scenery() -> dict[str, Sprite]:
    """Return what stands beside the road and is not annotated."""
    rows = _rows()
    return {name: _premultiplied(_drawing(name, rows[name, 7]).pixels) for name in _SCENERY}


def _rows() -> dict[tuple[str, int], int]:
    table = load_emoji()
    wanted = {name for emoji in _EMOJI.values() for name in emoji} | set(_SCENERY)
    names = table.columns.column("name").to_pylist()
    snapshots = table.values("snapshot").tolist()
    pairs = zip(names, snapshots, strict=True)
    return {pair: row for row, pair in enumerate(pairs) if pair[0] in wanted}


def _drawing(name: str, row: int) -> Drawing:
    pixels = np.asarray(load_emoji().wide["image"][np.array([row])][0])
    return Drawing(name, _cut_out(pixels))


def _cut_out(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    solid = pixels[..., 3] > 40
    rows, columns = np.flatnonzero(solid.any(1)), np.flatnonzero(solid.any(0))
    return pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _premultiplied(pixels: NDArray[np.uint8]) -> Sprite:
    sprite = pixels.astype(np.int32)
    sprite[..., :3] = (sprite[..., :3] * sprite[..., 3:] + 127) // 255
    return sprite.astype(np.uint8)


def _painted(drawing: Drawing, category: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Give a vehicle another paint, a person another skin and other clothes."""
    turn = int(rng.integers(256))
    tone, shade = rng.random(2)
    pixels = drawing.pixels
    colours = np.array(Image.fromarray(pixels[..., :3]).convert("HSV"))
    hue, strong = colours[..., 0].astype(np.int64), colours[..., 1] > 90
    bright: Array = colours[..., 2].astype(np.float64)
    if category <= 2:
        skin = strong & (hue > 22) & (hue < 40)
        clothes = strong & ~skin
        hue = np.where(clothes, hue + turn, hue)
        bright = np.where(skin, bright * (1 - 0.55 * tone), bright)
        colours[..., 1] = np.where(skin, colours[..., 1] * 0.7, colours[..., 1])
        colours[..., 0] = np.where(skin, 20, hue % 256)
    elif drawing.name not in _UNPAINTED:
        # A third of all vehicles are white, grey or black.
        keep = 0.2 if tone < 0.33 else 0.75
        glass = (hue > 128) & (hue < 152) & (bright > 190)
        skin = (hue > 28) & (hue < 34) & drawing.name.endswith("tricycle")
        body = strong & ~glass & ~skin
        colours[..., 0] = (hue + turn * body) % 256
        colours[..., 1] = np.where(body, colours[..., 1] * keep, colours[..., 1])
    colours[..., 2] = np.clip(bright * (0.85 + 0.2 * shade), 0, 255)
    size = (pixels.shape[1], pixels.shape[0])
    painted = np.asarray(Image.frombytes("HSV", size, colours.tobytes()).convert("RGB"))
    return np.dstack([painted, pixels[..., 3]])


def _tricycle(kind: str) -> NDArray[np.uint8]:
    """Draw a tricycle from the side, eight times as large as it is needed."""
    image = Image.new("RGBA", (320, 256))
    pen = ImageDraw.Draw(image)
    frame, dark, skin = (214, 62, 48, 255), (44, 46, 52, 255), (255, 202, 64, 255)
    for centre, radius in ((62, 40), (246, 34)):
        box = (centre - radius, 208 - radius, centre + radius, 208 + radius)
        pen.ellipse(box, fill=dark)
        pen.ellipse((centre - 14, 194, centre + 14, 222), fill=(176, 180, 186, 255))
    pen.line((62, 208, 92, 116), fill=dark, width=10)
    pen.line((78, 122, 116, 112), fill=dark, width=10)
    if kind == "cargo":
        pen.polygon([(150, 132), (310, 132), (304, 200), (156, 200)], fill=frame)
        pen.line((150, 150, 308, 150), fill=(150, 40, 32, 255), width=6)
        for left in (160, 206, 252):
            pen.rectangle((left, 92, left + 44, 131), fill=(196, 152, 98, 255), outline=dark)
    elif kind == "covered":
        pen.rounded_rectangle((146, 40, 312, 200), 18, fill=frame)
        pen.rectangle((146, 92, 312, 104), fill=(150, 40, 32, 255))
        pen.rectangle((250, 60, 300, 88), fill=(170, 214, 236, 255))
    else:
        pen.line((96, 60, 104, 190), fill=dark, width=8)
        pen.rounded_rectangle((80, 36, 312, 62), 12, fill=frame)
        pen.rounded_rectangle((176, 128, 308, 200), 14, fill=frame)
        pen.line((300, 60, 300, 140), fill=dark, width=8)
        pen.ellipse((216, 74, 256, 114), fill=skin)
        pen.rounded_rectangle((206, 112, 268, 150), 10, fill=(70, 128, 200, 255))
    pen.polygon([(70, 196), (160, 196), (160, 180), (104, 176)], fill=frame)
    pen.ellipse((106, 40, 148, 82), fill=skin)
    pen.rounded_rectangle((106, 80, 152, 150), 14, fill=(60, 132, 92, 255))
    pen.line((118, 96, 84, 122), fill=skin, width=12)
    pen.line((128, 148, 108, 190), fill=dark, width=16)
    return _cut_out(np.asarray(image.resize((40, 32), Image.Resampling.LANCZOS)))
