"""What a meter counts, by clocks that are turned by hand."""

import pytest

from onward.budget import Budget
from onward.results.cost import Meter
from onward.results.schema import Cost


def test_a_share_of_the_time_that_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = {"process_time": 100.0, "monotonic": 500.0}
    for name in clocks:
        monkeypatch.setattr(f"onward.results.cost.time.{name}", lambda name=name: clocks[name])

    def pass_by(cpu: float, wall: float) -> None:
        clocks["process_time"] += cpu
        clocks["monotonic"] += wall

    meter = Meter((), Cost(cpu_seconds=7.0, wall_seconds=9.0))
    pass_by(64, 64)  # before anything is charged
    meter.charge(1.0)
    pass_by(4, 8)
    meter.charge(0.0)
    pass_by(32, 32)
    meter.charge(0.25)
    pass_by(8, 16)
    cost = meter.cost(Budget({}))
    assert (cost.cpu_seconds, cost.wall_seconds) == (7 + 4 + 2, 9 + 8 + 4)
