"""Work by several threads whose results are wanted in order."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")


def in_order(
    work: Callable[[_T], _R], given: Iterable[_T], workers: int, ahead: int
) -> Generator[tuple[_T, _R], None, None]:
    """Yield what was given with its result, in order; only so many are ahead of that.

    Who stops early lets what is begun come to its end, and nothing else begin.

    Examples
    --------
    >>> list(in_order(abs, [-1, 2, -3], workers=2, ahead=1))
    [(-1, 1), (2, 2), (-3, 3)]
    """
    pool = ThreadPoolExecutor(workers)
    waiting: deque[tuple[_T, Future[_R]]] = deque()
    try:
        for one in given:
            waiting.append((one, pool.submit(work, one)))
            if len(waiting) > ahead:
                first, result = waiting.popleft()
                yield first, result.result()
        while waiting:
            first, result = waiting.popleft()
            yield first, result.result()
    finally:
        pool.shutdown(cancel_futures=True)
