"""How often somebody may ask."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

_MOST_REMEMBERED = 20_000


class Limit:
    """So many requests a second in the long run, and so many at once, for each who asks.

    Examples
    --------
    >>> limit = Limit(per_second=1, at_once=2, clock=lambda: 0.0)
    >>> [limit.allows("somebody") for _ in range(3)]
    [True, True, False]
    """

    def __init__(
        self, per_second: float, at_once: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._most, self._clock = per_second, at_once, clock
        # Who asked longest ago is forgotten first: they would be allowed anyway.
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def allows(self, who: Hashable) -> bool:
        """Count a request; return whether it may be answered."""
        now = self._clock()
        left, then = self._left.pop(who, (float(self._most), now))
        left = min(self._most, left + (now - then) * self._rate)
        allowed = left >= 1
        self._left[who] = (left - 1 if allowed else left, now)
        if len(self._left) > _MOST_REMEMBERED:
            self._left.popitem(last=False)
        return allowed
