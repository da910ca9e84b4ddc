"""Finetuning: go on from the last weights with the new samples only."""

from onward.train.method import Method


class Finetune(Method):
    """Train on what is new, starting from the last weights. TiC-CLIP calls it Sequential.

    Why: It is the cheapest way to go on, and what all others have to beat. Where only the near
    future is asked for, few do.

    Known problems: What new samples do not show is forgotten; where classes come one after the
    other, little of the old ones is left.
    """

    keeps_best = True
