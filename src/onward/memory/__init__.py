"""Memories: which old samples a method keeps, by row, with the label each had when it was kept."""

from onward.memory.everything import Everything
from onward.memory.reservoir import Reservoir

__all__ = ["Everything", "Reservoir"]
