"""From scratch: forget everything, learn the newest."""

from onward.train.method import GradientMethod, Start


class Scratch(GradientMethod):
    """Train on what is new, starting from random weights each time.

    References
    ----------
    CLEAR supplement, section 5.
    """

    start: Start = "random"
