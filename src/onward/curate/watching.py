"""How the stages of curation show that they are at work."""

import contextlib
from collections.abc import Callable, Iterator

Watch = Callable[[int, str, str], contextlib.AbstractContextManager[Callable[[int], None]]]
"""Shows progress: how many there are of what, and what is done to them; then how many more are."""


@contextlib.contextmanager
def unwatched(total: int, what: str, verb: str) -> Iterator[Callable[[int], None]]:
    """Show nothing."""
    yield lambda done: None
