"""Policies: whether to update, asked at the end of each period, with what is known by then."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol


@dataclass(frozen=True)
class Seen:
    """What somebody can know at the end of a period.

    Parameters
    ----------
    period
        The period that has just ended.
    since
        How many periods the model in service has been there; 0 if it has served none yet.
    scores
        What the model in service scored in the periods that it served, as far as their labels have
        arrived, in points, by period.
    drift
        How far the period that has just ended is from the newest one that the model in service has
        learned; None where nobody has measured it.
    """

    period: int
    since: int
    scores: Mapping[int, float] = field(default_factory=dict)
    drift: float | None = None


class Policy(Protocol):
    """Decides whether to update."""

    @property
    def kind(self) -> str:
        """The word for policies of this kind."""

    @property
    def name(self) -> str:
        """What it is called, for people."""

    @property
    def threshold(self) -> float | None:
        """What it holds what was seen against; None where that is no measured number."""

    def updates(self, seen: Seen) -> bool:
        """Say whether to update now."""


@dataclass(frozen=True)
class Never:
    """Keeps the first model."""

    kind: ClassVar[str] = "never"
    name: ClassVar[str] = "never"
    threshold: ClassVar[None] = None

    def updates(self, seen: Seen) -> bool:
        """Say no."""
        return False


@dataclass(frozen=True)
class Every:
    """Updates once the model has been in service for so many periods."""

    periods: int
    kind: ClassVar[str] = "every"
    threshold: ClassVar[None] = None

    @property
    def name(self) -> str:
        """What it is called."""
        return "every period" if self.periods == 1 else f"every {self.periods} periods"

    def updates(self, seen: Seen) -> bool:
        """Say whether the model has served its time."""
        return seen.since >= self.periods


@dataclass(frozen=True)
class Drifts:
    """Updates if the present is farther from what was learned than a threshold."""

    threshold: float
    kind: ClassVar[str] = "drift"

    @property
    def name(self) -> str:
        """What it is called."""
        return f"drift above {self.threshold:.3g}"

    def updates(self, seen: Seen) -> bool:
        """Say whether the drift is large."""
        return seen.drift is not None and seen.drift > self.threshold


@dataclass(frozen=True)
class Falls:
    """Updates if the newest measured score is so many points below the model's first."""

    threshold: float
    kind: ClassVar[str] = "fall"

    @property
    def name(self) -> str:
        """What it is called."""
        return f"fall of {self.threshold:g} point{'' if self.threshold == 1 else 's'}"

    def updates(self, seen: Seen) -> bool:
        """Say whether it has fallen, as far as labels tell."""
        if not seen.scores:
            return False
        return seen.scores[min(seen.scores)] - seen.scores[max(seen.scores)] > self.threshold


@dataclass(frozen=True)
class Below:
    """Updates if the newest measured score is below a threshold, in points."""

    threshold: float
    kind: ClassVar[str] = "below"

    @property
    def name(self) -> str:
        """What it is called."""
        return f"measured below {self.threshold:g}"

    def updates(self, seen: Seen) -> bool:
        """Say whether it is low, as far as labels tell."""
        return bool(seen.scores) and seen.scores[max(seen.scores)] < self.threshold
