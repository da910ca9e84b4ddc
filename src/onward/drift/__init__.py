"""How data moves in time: distances between periods, each beside what it would be without drift.

>>> import onward
>>> from onward.drift import measure_drift
>>> found = measure_drift(onward.load("clear", data="emoji"), samples=300, width=8, draws=9)
>>> first, *_, last = (pair for pair in found.pairs if pair.neighbours)
>>> first.drift, last.drift
(True, False)
"""

from onward.drift.measure import Drift, measure_drift
from onward.drift.page import write_drift_page

__all__ = ["Drift", "measure_drift", "write_drift_page"]
