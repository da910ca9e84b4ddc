"""The forms that votes are written down in."""

from enum import StrEnum
from pathlib import Path

from onward.errors import OnwardError


class Format(StrEnum):
    """How votes are written down."""

    LABEL_STUDIO = "label-studio"
    CROWD_KIT = "crowd-kit"
    CSV = "csv"
    PARQUET = "parquet"


_ENDINGS = {".json": Format.LABEL_STUDIO, ".csv": Format.CSV, ".parquet": Format.PARQUET}


def format_of(path: Path, given: Format | None) -> Format:
    """Return the format that was asked for, or that a file's name says.

    Examples
    --------
    >>> format_of(Path("votes.json"), None).value
    'label-studio'
    """
    found = given or _ENDINGS.get(path.suffix.lower())
    if found is None:
        raise OnwardError(
            f"expected a file that ends with {', '.join(_ENDINGS)}, or --format, found {path.name}"
        )
    return found
