"""A line on the error stream while a benchmark prepares its images; quiet without a terminal."""

import contextlib
from collections.abc import Iterator

from onward.data.extracted import Watch


@contextlib.contextmanager
def reading_images(doing: str) -> Iterator[Watch]:
    """Show how far it is."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn(doing), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        bar = progress.add_task("", total=None)
        yield lambda done, of: progress.update(bar, completed=done, total=of)
