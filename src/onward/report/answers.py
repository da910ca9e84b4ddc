"""What a run answered where samples have many labels, as sets, with the hierarchy behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError
from onward.metrics import iirc_levels as levels
from onward.metrics.iirc import jaccard, pw_jaccard
from onward.report.provenance import readable_card
from onward.results.predictions import judged, pooled
from onward.results.record import RunRecord
from onward.tasks.many_labels import label_sets


@dataclass(frozen=True, eq=False)
class Answers:
    """Predicted and true labels after one period, every sample of the past once.

    Parameters
    ----------
    said, true
        Boolean arrays (samples, classes) over the classes known then.
    names
        The classes, in the order in which they came.
    under
        The superclass of each class, -1 where it has none.
    superclass
        Of each class, whether it is a superclass.
    """

    said: NDArray[np.bool_]
    true: NDArray[np.bool_]
    names: tuple[str, ...]
    under: NDArray[np.int64]
    superclass: NDArray[np.bool_]

    def measures(self) -> dict[str, float]:
        """Return what IIRC's section 6 and appendix D ask of the answers."""
        finer = self.under >= 0
        return {
            "over_labelled": float(jaccard(self.said, self.true).mean())
            - float(pw_jaccard(self.said, self.true).mean()),
            "labels_said": float(self.said.sum(1).mean()),
            "superclasses": levels.over_superclasses(self.said, self.true, self.superclass),
            "superclass_alone": levels.superclass_alone(self.said, self.true, self.under),
            "precision_under": levels.precision_among(self.said, self.true, finer),
            "precision_others": levels.precision_among(
                self.said, self.true, ~finer & ~self.superclass
            ),
        }


def answers(record: RunRecord, after: int) -> Answers:
    """Return what was answered after a period."""
    if after not in record.decisions:
        raise OnwardError(
            f"expected predictions of {record.spec.method} after period {after}, found none; run "
            "it without --no-predictions"
        )
    table, classes = record.decisions[after]
    targets, said = judged(table)
    once = pooled(table)
    names = classes[: said.shape[1]]
    card = readable_card([record])
    hierarchy = {} if card is None else card.hierarchy
    return Answers(
        said[once],
        label_sets(targets[once], len(names)),
        names,
        superclass_of(names, hierarchy),
        np.isin(names, list(hierarchy)),
    )


def superclass_of(
    names: Sequence[str], hierarchy: Mapping[str, Sequence[str]]
) -> NDArray[np.int64]:
    """Return the place of each class's superclass among the classes, -1 where it has none.

    Examples
    --------
    >>> superclass_of(["bear", "lamp", "polar bear"], {"bear": ["polar bear", "panda"]})
    array([-1, -1,  0])
    """
    place = {name: number for number, name in enumerate(names)}
    above = {sub: place.get(name, -1) for name, subs in hierarchy.items() for sub in subs}
    return np.array([above.get(name, -1) for name in names], np.int64)
