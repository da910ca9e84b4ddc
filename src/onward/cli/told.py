"""What a benchmark's card tells about its data, in lines for the terminal."""

from collections.abc import Iterator

from rich.markup import escape

from onward.types import Card


def told(card: Card) -> Iterator[str]:
    """Yield what is left out of the data, what is missing in it, and what else is to be known."""
    for reason, count in card.numbers.get("left_out", {}).items():
        yield f"[yellow]left out:[/] {count:,} rows {escape(reason)}"
    for name in ("gaps", "notes"):
        for line in card.numbers.get(name, ()):
            yield f"[yellow]mind:[/] {escape(line)}"
