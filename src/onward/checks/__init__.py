"""Checks that anyone can run on their own streams, methods and metrics.

- `check_stream`: periods, groups and time are kept apart, and nothing is prepared from the future.
- `check_method`: runs are repeatable and resumable, and the method sees only the past.
- `check_metric`: a pure function from a score matrix to a number.
- `check_data`: every image and every row of features can be read. It returns what is broken.
- `check_device`: models and methods compute on a device as on the CPU. It returns what it measured.

The others raise `CheckFailed`, or return a `Report` that says which properties hold. A check is one
function, whose name is the check's and whose first sentence is the property.

**What cannot be found.** A learner that brought its own copy of the data, read before the run or
mapped into memory by its module, computes from numbers that look like any others: noise in place
of the future does not reach them. Nor can samples be recognised that a learner was shown and
keeps in a transformed copy; only a budget of stored samples that is held through the loop counts
them. `check_method` finds what is within reach: streams, views, tables and memory maps inside a
learner, files opened while it learns or predicts, rows read past its view, and unchanged copies
of samples that the budget does not hold.

>>> print(check_metric("clear.next_domain").ok)
True
"""

from onward.checks.data import BrokenSample, check_data
from onward.checks.device import DeviceReport, check_device
from onward.checks.method import check_method
from onward.checks.metric import check_metric
from onward.checks.report import CheckFailed, Finding, Report
from onward.checks.stream import check_stream
from onward.checks.tiny import tiny_benchmark
from onward.checks.tiny_pairs import tiny_pairs

__all__ = [
    "BrokenSample",
    "CheckFailed",
    "DeviceReport",
    "Finding",
    "Report",
    "check_data",
    "check_device",
    "check_method",
    "check_metric",
    "check_stream",
    "tiny_benchmark",
    "tiny_pairs",
]
