"""From scratch: forget everything, learn the newest."""

from typing import TYPE_CHECKING

from onward.train.method import GradientMethod

if TYPE_CHECKING:
    import torch

    from onward.models import Model


class Scratch(GradientMethod):
    """Train on what is new, starting from random weights each time.

    References
    ----------
    CLEAR supplement, section 5.
    """

    def starts_from(self, model: "Model", generator: "torch.Generator") -> None:
        """Draw new weights."""
        model.reset(generator)
