"""When to update: staleness, costs and policies, read from run folders alone.

A score matrix R[i, j] says what the model that has learned up to period i is worth in period j. A
policy says, at the end of each period, whether the model of that moment goes into service; replayed
on R, it has a score in every later period, a number of updates, and so a cost.
"""

from onward.planning.costs import Costs
from onward.planning.plan import Plan, make_plan

__all__ = ["Costs", "Plan", "make_plan"]
