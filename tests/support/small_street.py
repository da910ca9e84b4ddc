"""A few frames of Emoji Street, drawn once for all tests of one process."""

import tempfile
from functools import cache
from pathlib import Path

from onward.data.street.make import make_street


@cache
def small_street(frames: int = 150) -> str:
    """Return a folder of SODA10M's layout with about so many small frames."""
    folder = Path(tempfile.mkdtemp(prefix="street-")) / "made"
    make_street(folder, frames=frames)
    return str(folder)
