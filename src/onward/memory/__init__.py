"""Memories: which old samples a method keeps, by row, with the label each had when it was stored.

To add one, write its file and its line here.
"""

from collections.abc import Callable, Mapping

from onward.catalogue import Catalogue
from onward.memory.biased import BiasedReservoir, dynamic
from onward.memory.by_step import ByStep
from onward.memory.class_balanced import Balanced, Quota, Shares
from onward.memory.greedy_balanced import GreedyBalanced
from onward.memory.memory import Everything, Memory
from onward.memory.per_class import PerClass, herd
from onward.memory.rarest import Rarest
from onward.memory.reservoir import Reservoir
from onward.memory.uncertain import Uncertain
from onward.memory.weighted import Weighted

_OWN: Mapping[str, Callable[..., Memory]] = {
    "reservoir": Reservoir,
    "biased": BiasedReservoir,
    "balanced": Balanced,
    "greedy_balanced": GreedyBalanced,
    "shares": Shares,
    "weighted": Weighted,
}
MEMORIES = Catalogue("memory", _OWN, "onward.memories")
"""By name, those made of a capacity and a ``seed=``; a package adds one by an entry point."""

__all__ = [
    "MEMORIES",
    "Balanced",
    "BiasedReservoir",
    "ByStep",
    "Everything",
    "GreedyBalanced",
    "Memory",
    "PerClass",
    "Quota",
    "Rarest",
    "Reservoir",
    "Shares",
    "Uncertain",
    "Weighted",
    "dynamic",
    "herd",
]
