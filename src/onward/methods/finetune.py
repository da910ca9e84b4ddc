"""Finetuning: go on from the last weights with the new samples only."""

from onward.train.method import GradientMethod


class Finetune(GradientMethod):
    """Train on what is new, starting from the last weights. TiC-CLIP calls it Sequential."""

    keeps_best = True
