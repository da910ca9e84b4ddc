"""The rules of every benchmark: what its protocols say, whatever a spec says of them."""

from collections.abc import Mapping

from onward.benchmarks import BENCHMARKS
from onward.types import Protocol


def rules() -> Mapping[tuple[str, str], Protocol]:
    """Return the protocols by the names of benchmark and protocol, for checks of run folders."""
    return {
        (name, protocol.name): protocol
        for name, listed in BENCHMARKS.items()
        for protocol in listed.protocols.values()
    }
