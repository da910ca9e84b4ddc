"""A contact sheet: how a few things looked at several dates, side by side."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

__all__ = ["contact_sheet"]

PAPER = "#ffffff"
INK = "#1f2328"
FAINT = "#6e7781"
RULE = "#e6e8eb"
_SIDE = 32


@cache
def _font(name: str, size: int) -> ImageFont.FreeTypeFont:
    # matplotlib ships DejaVu Sans, so nothing depends on the fonts of the machine.
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name, size)


def contact_sheet(
    columns: Sequence[tuple[str, Sequence[Image.Image | None]]],
    dates: Sequence[str],
    *,
    scale: int = 3,
) -> Image.Image:
    """Draw one column per thing and one row per date.

    Parameters
    ----------
    columns
        The caption of each column and its pictures, one for each date; ``None`` leaves the cell
        empty.
    dates
        The label of each row. A second line, after a line break, is drawn smaller and fainter.
    scale
        How many times the pictures, and the type with them, are enlarged; those that are not of 32
        pixels are fitted to that.

    Returns
    -------
    PIL.Image.Image
        The sheet, on white.

    Examples
    --------
    >>> red, blue = Image.new("RGBA", (32, 32), "red"), Image.new("RGBA", (32, 32), "blue")
    >>> contact_sheet([("square", [red, blue])], ["2016", "2017"], scale=1).mode
    'RGB'
    """
    for caption, pictures in columns:
        if len(pictures) != len(dates):
            raise ValueError(
                f"column {caption!r}: expected {len(dates)} pictures, one for each date, found "
                f"{len(pictures)}. Put None where a date has no picture"
            )
    side = _SIDE * scale
    gap = side // 4
    strong = _font("DejaVuSans-Bold.ttf", round(side * 0.2))
    plain = _font("DejaVuSans.ttf", round(side * 0.145))
    lines = [date.partition("\n")[::2] for date in dates]
    left = gap + round(
        max(
            (max(strong.getlength(first), plain.getlength(second)) for first, second in lines),
            default=0,
        )
        + gap * 1.2
    )
    pitch = max(
        side + gap, *(round(plain.getlength(caption)) + gap // 2 for caption, _ in columns), 0
    )
    top = gap + round(side * 0.3)
    width = left + pitch * len(columns) + gap // 2
    sheet = Image.new("RGB", (width, top + (side + gap) * len(dates)), PAPER)
    draw = ImageDraw.Draw(sheet)
    for column, (caption, _) in enumerate(columns):
        centre = left + pitch * column + pitch // 2
        draw.text((centre, top - gap // 2), caption, INK, plain, anchor="ms")
    for row, (first, second) in enumerate(lines):
        y = top + (side + gap) * row
        draw.line([(gap, y), (width - gap, y)], RULE, max(1, scale // 2))
        middle = y + (side + gap) // 2
        if second:
            draw.text((gap, middle), first, INK, strong, anchor="ls")
            draw.text((gap, middle + round(side * 0.21)), second, FAINT, plain, anchor="ls")
        else:
            draw.text((gap, middle), first, INK, strong, anchor="lm")
        for column, (_, pictures) in enumerate(columns):
            found = pictures[row]
            if found is not None:
                art = found.convert("RGBA").resize((side, side), Image.Resampling.LANCZOS)
                x = left + pitch * column + (pitch - side) // 2
                sheet.paste(art, (x, y + gap // 2), art)
    return sheet
