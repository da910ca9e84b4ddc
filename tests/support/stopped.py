"""A run that is stopped on its way, as Ctrl-C would stop it."""

from collections.abc import Callable

from onward.turns import Event


class StopError(Exception):
    """The run was stopped."""


def stop_after(period: int) -> Callable[[Event], None]:
    """Return what watches a run and stops it once a period is learned."""

    def watch(event: Event) -> None:
        if event.kind == "learned" and event.period == period:
            raise StopError

    return watch
