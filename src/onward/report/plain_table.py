"""The table that terminals are shown: a rule below its headings, and no frame."""

from rich import box
from rich.table import Table
from rich.text import Text


def plain_table(title: str | None = None) -> Table:
    """Return one without columns."""
    return Table(
        title=None if title is None else Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
