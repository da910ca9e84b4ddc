"""The options by which verbs of curation are told how to read metadata, and what carries them."""

from typing import Annotated

import typer


def column(name: str, what: str, more: str = "") -> typer.models.OptionInfo:
    """Return the option that names a column."""
    return typer.Option(f"--{name}-column", help=f"Which column has the {what}.{more}")  # type: ignore[no-any-return]


def named(asked: dict[str, str | None]) -> dict[str, str]:
    """Return the columns that somebody named, by what they are for."""
    return {name: found for name, found in asked.items() if found is not None}


IdColumn = Annotated[str | None, column("id", "id")]
UrlColumn = Annotated[str | None, column("url", "URL of the image")]
CaptionColumn = Annotated[str | None, column("caption", "caption")]
EngineName = Annotated[
    str, typer.Option(help="polars on this machine, or spark on a cluster: the same output.")
]
Master = Annotated[
    str | None, typer.Option(help="Where Spark is, such as local[2] or spark://host:7077.")
]
