"""The demonstration: a model goes stale on real evolving data, and methods that keep it fresh."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from onward.benchmarks import Source
from onward.data.emoji_history import TWEMOJI, load_emoji
from onward.results.collect import Collected
from onward.results.record import RunRecord
from onward.sweep import Job

METHODS = ("finetune", "nap", "scratch", "cumulative", "er")
PROTOCOLS = ("streaming", "iid")
# As few as an exact test over paired differences can decide with.
SEEDS = range(6)

# Chosen by eye: what changed most visibly, and what everybody knows.
CONCEPTS = {
    "1F52B": "pistol",
    "1F4F1": "phone",
    "1F4BE": "floppy disk",
    "260E": "telephone",
    "1F600": "grinning",
    "1F62D": "crying",
    "1F631": "screaming",
    "1F47D": "alien",
    "1F483": "dancer",
    "1F46A": "family",
    "1F436": "dog",
    "1F419": "octopus",
    "1F697": "car",
    "1F680": "rocket",
}


def jobs() -> list[Job]:
    """Return the sixty runs of the demonstration."""
    return [
        Job(Source("clear", protocol=protocol), method, seed)
        for seed in SEEDS
        for protocol in PROTOCOLS
        for method in METHODS
    ]


def emoji_sheet() -> bytes:
    """Draw the chosen emoji in every snapshot, as a PNG."""
    from onward.report.contact_sheet import contact_sheet  # drawings: heavy

    table = load_emoji()
    codes, snapshot = table.values("code"), table.values("snapshot")
    days = table.values("time").astype("datetime64[D]").astype(object)
    numbers = [int(number) for number in np.unique(snapshot) if number != TWEMOJI]

    def picture(code: str, number: int) -> Image.Image | None:
        rows = np.flatnonzero((codes == code) & (snapshot == number))
        return Image.fromarray(table.wide["image"][rows][0]) if len(rows) else None

    columns = [
        (caption, [picture(code, number) for number in numbers])
        for code, caption in CONCEPTS.items()
    ]
    dates = [days[snapshot == number][0] for number in numbers]
    sheet = contact_sheet(columns, [f"{day.year}\n{day.day} {day:%B}" for day in dates])
    # A palette keeps the file small enough for a README.
    palette = sheet.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    sink = io.BytesIO()
    palette.save(sink, "PNG", optimize=True)
    return sink.getvalue()


def write_demo_page(records: Sequence[RunRecord], path: Path) -> Path:
    """Write the page of the demonstration from its runs."""
    from onward.report.page import write_page  # drawings: heavy

    page = write_page(
        Collected(tuple(records)),
        path,
        title="Ten years of emoji",
        contact_sheet_png=emoji_sheet(),
    )
    return page.path
