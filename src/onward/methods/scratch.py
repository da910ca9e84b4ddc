"""From scratch: forget everything, learn the newest."""

from onward.train.method import Method, Start


class Scratch(Method):
    """Train on what is new, starting from random weights each time.

    Why: The difference to finetuning is what old weights are worth.

    Known problems: What a small period does not show, it does not know.

    References
    ----------
    CLEAR supplement, section 5.
    """

    start: Start = "random"
