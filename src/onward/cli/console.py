"""The console that commands print to."""

import io
import sys

from rich.console import Console

# A pipe or a file has no width of its own; the tables are laid out for this many columns.
PIPE_WIDTH = 100


def console() -> Console:
    """Return a console for results: as wide as the terminal, never narrower than a table."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a letter shows another in its place.
        sys.stdout.reconfigure(errors="replace")
    found = Console(highlight=False)
    if found.is_terminal:
        return found
    return Console(highlight=False, width=PIPE_WIDTH)
