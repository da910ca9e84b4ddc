"""Policies: whether to update, asked at the end of each period, with what is known by then."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


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

    def updates(self, seen: Seen) -> bool:
        """Say whether to update now."""


@dataclass(frozen=True)
class Never:
    """Keeps the first model."""

    kind: str = field(default="never", init=False)

    @property
    def name(self) -> str:
        """What it is called."""
        return "never"

    def updates(self, seen: Seen) -> bool:
        """Say no."""
        return False


@dataclass(frozen=True)
class Every:
    """Updates once the model has been in service for so many periods."""

    periods: int
    kind: str = field(default="every", init=False)

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
    kind: str = field(default="drift", init=False)

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

    points: float
    kind: str = field(default="fall", init=False)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"fall of {self.points:g} point{'' if self.points == 1 else 's'}"

    def updates(self, seen: Seen) -> bool:
        """Say whether it has fallen, as far as labels tell."""
        if not seen.scores:
            return False
        return seen.scores[min(seen.scores)] - seen.scores[max(seen.scores)] > self.points


@dataclass(frozen=True)
class Below:
    """Updates if the newest measured score is below a threshold, in points."""

    score: float
    kind: str = field(default="below", init=False)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"measured below {self.score:g}"

    def updates(self, seen: Seen) -> bool:
        """Say whether it is low, as far as labels tell."""
        return bool(seen.scores) and seen.scores[max(seen.scores)] < self.score
