"""What methods cost on a benchmark, before anything is run: steps, samples and work."""

from dataclasses import dataclass

from onward.train.recipe import Recipe


@dataclass(frozen=True)
class PeriodCost:
    """What one period costs: optimiser steps, pairs in them, replayed ones too, forward MACs.

    ``work`` is MACs forward and backward, where a teacher only looks forward: what time goes with.
    """

    iterations: int
    pairs: int
    macs: int
    work: int


@dataclass(frozen=True)
class MethodCost:
    """What a method costs through all periods.

    ``published`` is what the paper calls it, ``paper_times`` how many times the budget it spends by
    the paper, where that counts otherwise.
    """

    method: str
    published: str | None
    periods: tuple[PeriodCost, ...]
    paper_times: float | None

    @property
    def work(self) -> int:
        """The sum over periods."""
        return sum(period.work for period in self.periods)

    @property
    def macs(self) -> int:
        """The sum over periods."""
        return sum(period.macs for period in self.periods)


@dataclass(frozen=True)
class ComputeBudget:
    """What a method may spend by a recipe, and what every method makes of it.

    ``macs`` is the budget of all periods, ``published`` what the paper prints for it; ``remarks``
    are sentences on how it is counted.
    """

    data: str
    title: str
    recipe_name: str
    recipe: Recipe
    pair_macs: int
    periods: int
    macs: int
    published: float | None
    methods: tuple[MethodCost, ...]
    remarks: tuple[str, ...]
