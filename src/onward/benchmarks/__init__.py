"""The benchmarks: a hand-written catalogue, one file each, and how to load one.

To add one, write its file and its line here.
"""

from collections.abc import Callable, Mapping
from typing import Any

from onward.benchmarks import clear
from onward.errors import unknown
from onward.types import Benchmark

BENCHMARKS: Mapping[str, Callable[..., Benchmark]] = {"clear": clear.load}


def load(name: str, data: str = "emoji", protocol: str = "streaming", **options: Any) -> Benchmark:
    """Load a benchmark.

    Parameters
    ----------
    name
        A name of the catalogue, see ``onward list benchmarks``.
    data
        Which data: ``emoji`` is embedded.
    protocol
        What is revealed and tested when, see ``onward list benchmarks``.
    options
        Further options of the benchmark, such as ``recipe="paper"``.

    Examples
    --------
    >>> benchmark = load("clear", data="emoji", protocol="streaming")
    >>> stream = benchmark.stream(seed=0)
    >>> len(stream), stream[0].name, stream[-1].name
    (7, '2017-05', '2025-09')
    """
    if name not in BENCHMARKS:
        raise unknown("benchmark", name, BENCHMARKS, "onward list benchmarks")
    return BENCHMARKS[name](data=data, protocol=protocol, **options)
