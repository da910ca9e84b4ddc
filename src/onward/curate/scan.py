"""One pass over a store by several threads, see `onward.curate.looking`."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from onward.curate.looking import Found, Looking, Scan
from onward.curate.store import Store

# Numbers in a block: 4 MB of float32. Rows of a few numbers would make many scores of it.
_NUMBERS, _MOST_ROWS = 1 << 20, 4096


def scan(
    store: Store,
    wanted: Scan,
    *,
    threads: int | None = None,
    block_rows: int | None = None,
    watch: Callable[[int], None] = lambda rows: None,
) -> Found:
    """Look through a store once.

    Parameters
    ----------
    threads
        How many compute; by default as many as torch uses, which ``OMP_NUM_THREADS`` decides.
    block_rows
        How many rows are multiplied at once. It changes no result, but for a histogram, where a
        score on the border of two parts may be counted in the other.
    watch
        Called with the number of rows after each block, by any thread.
    """
    import torch  # a second, and nobody else here needs it

    from onward.models.device import computing

    work = Looking(store, wanted)
    rows = block_rows or min(max(_NUMBERS // store.width, 1), _MOST_ROWS)
    blocks = iter(
        [
            (shard, first, min(first + rows, len(array)))
            for shard, array in enumerate(store.arrays)
            for first in range(0, len(array), rows)
        ]
    )
    failed = threading.Event()

    def many() -> None:
        try:
            look = work.looker(rows)
            for shard, first, last in blocks:  # a list's iterator gives each block to one thread
                if failed.is_set():
                    return
                look(shard, first, last)
                watch(last - first)
        except BaseException:
            failed.set()
            raise

    count = min(threads or torch.get_num_threads(), max(len(store) // rows, 1))
    with computing():
        if count == 1:
            many()
        else:
            with ThreadPoolExecutor(count) as pool, _stopping(failed):
                for one in [pool.submit(many) for _ in range(count)]:
                    one.result()
        return work.found()


@contextlib.contextmanager
def _stopping(failed: threading.Event) -> Iterator[None]:
    """Let threads end with whoever waits for them, after Ctrl-C for one."""
    try:
        yield
    except BaseException:
        failed.set()
        raise
