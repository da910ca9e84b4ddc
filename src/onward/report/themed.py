"""A figure as part of a page: its colours become the page's own, its methods can be set apart."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping

from markupsafe import Markup
from matplotlib.figure import Figure

from onward.report.style import (
    AS_DRAWN,
    BAR,
    COLOURS,
    DOT,
    EMPTY,
    FAINT,
    INK,
    RULE,
    to_svg,
)

# What the page calls each colour: `templates/page.css` has a light and a dark one of every name.
_VARIABLES = {
    INK: "--ink",
    FAINT: "--soft",
    RULE: "--rule",
    EMPTY: "--empty",
    "#ffffff": "--card",
    BAR: "--bar",
    DOT: "--dot",
    **{colour.lower(): f"--m{at}" for at, colour in enumerate(COLOURS)},
}
_BLACK = "var(--m6)"
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_REFERENCE = re.compile(r"#([A-Za-z][\w.-]*)")
_NUMBER = re.compile(r"-?\d+\.\d+")
_LIGHT_GREY = 0xDC


def to_themed_svg(figure: Figure, prefix: str, methods: Mapping[str, int]) -> Markup:
    """Return a figure as SVG that stands inside a page.

    Parameters
    ----------
    figure
        What to show. Artists may have a method's label as their ``gid``.
    prefix
        What its ids begin with, so that no other figure of the page has the same.
    methods
        The number of each label; it becomes ``data-method`` of what is drawn for the method.
    """
    root = ET.fromstring(to_svg(figure))
    referred = {found for item in root.iter() for found in _references(item)}
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    _plain(root, prefix, referred, methods, drawn=False)
    width = float(root.attrib.pop("width").removesuffix("pt")) * 4 / 3
    root.attrib.pop("height")
    # Black is left out by matplotlib, as the default of SVG; on dark paper it is not black.
    root.attrib.update({"width": f"{width:.0f}", "style": f"fill:{_BLACK}", "aria-hidden": "true"})
    return Markup(ET.tostring(root, encoding="unicode"))


def _references(item: ET.Element) -> set[str]:
    values = [value for name, value in item.attrib.items() if name != "id" and "#" in value]
    return {found for value in values for found in _REFERENCE.findall(value)}


def _plain(
    item: ET.Element, prefix: str, referred: set[str], methods: Mapping[str, int], *, drawn: bool
) -> None:
    """Rewrite an element and what is in it for a page; ``drawn`` keeps colours as they are."""
    item.tag = item.tag.rpartition("}")[2]
    attributes = {name.rpartition("}")[2]: value for name, value in item.attrib.items()}
    name = attributes.pop("id", None)
    drawn = drawn or name == AS_DRAWN
    item.attrib.clear()
    if name in referred:
        item.set("id", prefix + str(name))
    elif name in methods:
        item.set("data-method", str(methods[str(name)]))
    for key, value in attributes.items():
        if key == "version" or (key == "transform" and value.startswith("rotate(-0 ")):
            continue
        if key == "style":
            value = _style(value, text=item.tag == "text", drawn=drawn)
        elif key in ("d", "x", "y", "points"):
            value = " ".join(_NUMBER.sub(_shorter, value).split())
        if key in ("href", "clip-path", "style"):
            value = _REFERENCE.sub(
                lambda found: f"#{prefix}{found[1]}" if found[1] in referred else found[0], value
            )
        item.set(key, value)
    if item.tag != "text" and item.text is not None:
        item.text = None
    item.tail = None
    for child in item:
        _plain(child, prefix, referred, methods, drawn=drawn)


def _shorter(number: re.Match[str]) -> str:
    """Round to a hundredth of a point: nobody sees less, and half of a figure is such digits."""
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _style(style: str, *, text: bool, drawn: bool) -> str:
    parts = dict(part.split(":", 1) for part in style.split(";") if ":" in part)
    kept = {key.strip(): value.strip() for key, value in parts.items()}
    kept.pop("font-family", None)  # the page's
    if not drawn:
        for key in ("fill", "stroke"):
            # White text stands on a colour; a white area is paper.
            if key in kept and not (text and kept[key] == "#ffffff"):
                kept[key] = _COLOUR.sub(lambda found: _variable(found[0]), kept[key])
    elif text and "fill" not in kept:
        kept["fill"] = "#000"
    return ";".join(f"{key}:{value}" for key, value in kept.items())


def _variable(colour: str) -> str:
    if colour in _VARIABLES:
        return f"var({_VARIABLES[colour]})"
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    # A light grey of a picture's own, such as the shade of a night, is light on light paper only.
    if min(parts) >= _LIGHT_GREY and max(parts) - min(parts) <= 16:
        return "var(--empty)"
    return colour
