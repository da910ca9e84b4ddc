"""Where CLAD's frames come from: a folder of SODA10M's layout, or Emoji Street, made when asked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onward.benchmarks.progress import reading_images
from onward.data.cache import cache_folder
from onward.data.inspection import Inspection
from onward.data.soda import Soda, read_soda
from onward.data.soda_words import DOMAINS
from onward.data.street.drives import FRAMES
from onward.errors import OnwardError, unknown
from onward.files import locked
from onward.types import Card

STREET = "street"
TEST = "test"
_JUDGES = (TEST, "validation")
# Of the drawing: another version is another folder.
_VERSION = 1
_CITATION = (
    "Verwimp et al., CLAD: A realistic Continual Learning benchmark for Autonomous Driving, Neural "
    "Networks 2023"
)


SODA = "soda:"
"""What specs put before the name of a folder with SODA10M."""


def soda_of(data: str, frames: int | None) -> tuple[str, Soda]:
    """Read the annotations of a folder, or of Emoji Street; return what the data is called, too."""
    if data == STREET:
        return STREET, read_soda(street_folder(FRAMES if frames is None else frames))
    if frames is not None:
        raise OnwardError(f"expected frames with data='{STREET}' only, found it with {data!r}")
    folder = Path(data).expanduser()
    if not folder.is_dir():
        raise OnwardError(
            f"expected '{STREET}', or a folder that holds SODA10M's SSLAD-2D, found nothing at "
            f"{data}. Emoji Street needs no download: --data {STREET}"
        )
    return f"{SODA}{folder.resolve().name}", read_soda(folder)


def frames_option(frames: int | None) -> int | None:
    """Return the number of frames as specs have it: None for the usual one."""
    return None if frames == FRAMES else frames


def inspect_clad(data: str, options: Mapping[str, Any]) -> Inspection:
    """Look through a folder of SODA10M's layout, or through Emoji Street."""
    from onward.data.soda_inspected import inspect_soda  # counts that no run asks for

    _, soda = soda_of(data, options.get("frames"))
    return inspect_soda(soda, published=data != STREET)


def street_folder(frames: int) -> Path:
    """Return the folder with Emoji Street, which is drawn there first if it is not yet."""
    from onward.data.street.make import make_street  # Pillow's filters take a moment to load

    folder = cache_folder() / f"street-{_VERSION}-{frames}"
    with locked(cache_folder() / f".street-{frames}.lock", lambda: None):
        if not folder.is_dir():
            with reading_images("drawing Emoji Street") as watch:
                done = 0

                def more(drawn: int) -> None:
                    nonlocal done
                    done += drawn
                    watch(done, frames)

                make_street(folder, frames=frames, progress=more)
    return folder


def require_judge(benchmark: str, judge: str) -> None:
    """Raise unless what is to be tested is a part that there is."""
    if judge not in _JUDGES:
        raise unknown(f"judge of {benchmark}", judge, _JUDGES, "onward run --help")


def card_of(
    data: str, title: str, summary: str, numbers: Mapping[str, Any], pictures: tuple[str, ...]
) -> Card:
    """Return the card of either benchmark."""
    street = data == STREET
    return Card(
        title=f"{title}, Emoji Street" if street else title,
        summary=summary,
        licence=(
            "drawings Apache-2.0 (Noto) and CC BY 4.0 (Twemoji, in tests)"
            if street
            else "SODA10M's: academic research, not for redistribution"
        ),
        citation=_CITATION,
        numbers=numbers,
        pictures=pictures,
        domains=DOMAINS,
    )
