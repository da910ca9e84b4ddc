"""The last model, kept to look on while the next one learns."""

from typing import TYPE_CHECKING, Any

from onward.saved import Saved
from onward.train.weights import snapshot

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model


class Teacher(Saved):
    """A model as it was, with the classes that it knew; without any before it is first set."""

    saved = ("weights", "classes")

    def __init__(self) -> None:
        self.weights: dict[str, Tensor] = {}
        self.classes = 0
        self._made: Model | None = None

    def __bool__(self) -> bool:
        return bool(self.weights)

    def replace(self, model: "Model") -> None:
        """Make the model as it is now the teacher."""
        self.weights, self.classes, self._made = snapshot(model), model.classes, None

    def beside(self, model: "Model") -> "Model":
        """Return the teacher of a model, which has the same architecture."""
        if self._made is None:
            self._made = model.teacher_copy(self.weights, self.classes)
        return self._made

    def leave(self) -> None:
        """Let go of what was made for one call: samples may not outlive it."""
        self._made = None

    def restore(self, state: dict[str, Any]) -> None:
        """Take its weights back."""
        super().restore(state)
        self.leave()
