"""What methods share that hold weights back by how much they mattered."""

from typing import Any

from onward.train.anchor import Anchor
from onward.train.every import Every
from onward.train.method import GradientMethod
from onward.types import Setting


class Anchored(GradientMethod):
    """Abstract: finetune with a pull towards the weights of the last consolidation.

    What is gathered for the next anchor is in `state_inside`, and saved with it.

    Parameters
    ----------
    strength
        How strong the pull is.
    every
        After how many samples the anchor is set; by default as `Every` says.
    """

    def __init__(self, strength: float, every: int | None) -> None:
        self._anchor = Anchor(strength)
        self._every = Every(every)

    def begin(self, setting: Setting) -> None:
        """Learn when to set the anchor."""
        super().begin(setting)
        self._every.begin(setting)

    def state(self) -> dict[str, Any]:
        """Return the anchor, and what was gathered for the next one."""
        return {
            "anchor": self._anchor.state(),
            "every": self._every.state(),
            **self.state_inside(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take that back."""
        self._anchor.restore(state["anchor"])
        self._every.restore(state["every"])
        self.restore_inside(state)
