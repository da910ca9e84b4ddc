"""What `onward list` says of a benchmark without loading it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Listed:
    """A benchmark in a catalogue.

    Parameters
    ----------
    summary
        The question that it asks.
    task
        Its task kind.
    data
        What ``data`` may be.
    recipes
        How its models can be trained.
    """

    summary: str
    task: str
    data: tuple[str, ...]
    recipes: tuple[str, ...]
