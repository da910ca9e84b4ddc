"""The console that commands print to."""

from rich.console import Console

# A pipe or a file has no width of its own; the tables are laid out for this many columns.
PIPE_WIDTH = 100


def console() -> Console:
    """Return a console for results: as wide as the terminal, never narrower than a table."""
    found = Console(highlight=False)
    if found.is_terminal:
        return found
    return Console(highlight=False, width=PIPE_WIDTH)
