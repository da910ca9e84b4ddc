"""How training and test samples are kept apart."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Holdout:
    """Hold a share of the groups out of training in every period."""

    share: float


@dataclass(frozen=True)
class Folds:
    """Cut the groups into k folds; seed s holds out fold s mod k."""

    k: int


@dataclass(frozen=True)
class Released:
    """Hold out what a published split holds out, sample by sample: groups may straddle it.

    Of several splits that came with the data, seed s uses number s mod `splits`; ``None`` draws
    one for each seed by the published rule.
    """

    splits: int | None


@dataclass(frozen=True)
class Undivided:
    """Learn all samples of a period, and test all of them before they are learned.

    Only where the future alone is tested: there, a period's training samples are its test samples.
    """


Split = Holdout | Folds | Released | Undivided
