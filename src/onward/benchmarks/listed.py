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
    protocols
        What may be revealed and tested when; the first one is the usual one.
    usual
        Which data it is, where nobody says.
    """

    summary: str
    task: str
    data: tuple[str, ...]
    recipes: tuple[str, ...]
    protocols: tuple[str, ...]
    usual: str = "emoji"
