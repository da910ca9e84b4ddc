"""Runs of a method whose future was replaced by noise, made where the real one was never seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onward.checks.noise import with_noise
from onward.checks.trace import Trace, trace
from onward.errors import OnwardError
from onward.learners import choose
from onward.types import Benchmark, Stream


@dataclass(frozen=True)
class Futures:
    """What a method does with noise after each period in turn, and then with its real future.

    An error is told as a text.
    """

    noised: list[Trace | str]
    control: Trace | str


def try_futures(
    method: Any, options: Mapping[str, Any], benchmark: Benchmark, stream: Stream, seed: int
) -> Futures:
    """Run a method up to each period in turn, with noise after it, and once as it is.

    The real future comes last: what a module keeps from an earlier run, it has from noise. The
    stream tells where samples are; its inputs are not read.
    """
    noised = [
        try_present(method, options, with_noise(benchmark, stream, upto), seed, upto)
        for upto in range(len(stream))
    ]
    return Futures(noised, try_present(method, options, benchmark, seed))


def try_present(
    method: Any,
    options: Mapping[str, Any],
    benchmark: Benchmark,
    seed: int,
    upto: int | None = None,
) -> Trace | str:
    """Run a method on what is there, perhaps not to its end; an error is told as a text."""
    try:
        return trace(benchmark, choose(method, options, benchmark), seed, upto=upto)
    except OnwardError as error:
        return f"{type(error).__name__}: {error}"
