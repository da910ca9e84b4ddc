"""ER-infinite: replay everything, with the labels that it was shown with."""

from collections.abc import Mapping
from typing import ClassVar

from onward.fit import FULL_MEMORY
from onward.memory import Everything, Quota
from onward.train.kept import Kept, whole
from onward.train.rehearsal import Rehearsal


class ERInfinite(Rehearsal):
    """Train on everything seen so far, each sample with the labels that it had when it came.

    Without a capacity this is `cumulative`; IIRC's released code has one of 100,000.

    Why: Beside ER it tells how much is lost by a small memory, and how much by labels that were
    never completed.

    Known problems: A label of then may be half of the truth of now, and it is taught again and
    again.

    Parameters
    ----------
    capacity
        How many samples all classes seen so far share evenly, rounded up; by default all are kept.

    References
    ----------
    Abdelsalam et al., IIRC, CVPR 2021, section 4.
    """

    needs: ClassVar[Mapping[str, str]] = {FULL_MEMORY: "to replay all of them"}

    keeps_best = True

    def __init__(self, *, capacity: int | None = None) -> None:
        super().__init__(Kept(Everything if whole(capacity) is None else Quota, capacity))
