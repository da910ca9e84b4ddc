"""What emoji are called: a caption for each."""

from collections.abc import Sequence

from onward.types import Table


def caption(name: str, keywords: Sequence[str]) -> str:
    """Return the caption of an emoji: its name, and what else it stands for.

    Examples
    --------
    >>> caption("fox", ["animal", "face"])
    'fox. animal, face'
    """
    return f"{name}. {', '.join(keywords)}" if keywords else name


def captions(table: Table) -> list[str]:
    """Return the caption of every row of the emoji history."""
    named = zip(*(table.columns.column(n).to_pylist() for n in ("name", "keywords")), strict=True)
    return [caption(name, keywords) for name, keywords in named]
