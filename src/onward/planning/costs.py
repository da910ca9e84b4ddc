"""What updates and lost points cost."""

import math
from dataclasses import dataclass

from onward.errors import OnwardError


@dataclass(frozen=True)
class Costs:
    """What things cost, in one currency.

    Parameters
    ----------
    update
        One update.
    loss
        One lost point in one period.
    cpu_hour
        One hour of a processor, for methods that compute more than others.
    """

    update: float
    loss: float
    cpu_hour: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not math.isfinite(value) or value < 0:
                raise OnwardError(f"expected a cost of 0 or more for {name}, found {value}")
        if not any(vars(self).values()):
            raise OnwardError("expected a cost above 0, found none: every policy would be as good")
