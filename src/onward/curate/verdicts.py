"""What becomes of a candidate, by the votes on it."""

import importlib.util
import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from onward.curate.votes import Ballots, Ints
from onward.errors import OnwardError

Rule = Literal["majority", "dawid-skene"]
Sensitive = Literal["strict", "published"]

ACCEPTED = ""
NO_VOTES, FEW_VOTES, SENSITIVE = "no votes", "too few votes", "sensitive"
OTHER, NONE, SEVERAL = "another concept", "none of the concepts", "several concepts"
DISPUTED, UNCERTAIN = "no agreement", "uncertain"
# Of the published dataset: "more than 2 workers".
_PUBLISHED_WARNINGS = 3


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What votes say of each candidate.

    Parameters
    ----------
    label
        The number of the concept that it shows, 0 for none of them, -1 if it is not accepted.
    certainty
        The share of votes for that, or what a model says of them.
    reason
        Why it is not accepted; `ACCEPTED` if it is.
    """

    label: Ints
    certainty: NDArray[np.float64]
    reason: NDArray[np.str_]


@dataclass(frozen=True)
class Judging:
    """How votes are judged.

    Parameters
    ----------
    rule
        ``majority``: more than half of the votes are for one concept alone, or for none, as in
        CLEAR, where it was two of three. ``dawid-skene``: the same of a model that weighs
        annotators, which crowd-kit fits.
    sensitive
        Whether one vote is enough to leave an image out, ``strict``; or it takes more than two,
        ``published``, as in CLEAR.
    votes_per_image
        How many an image must have.
    certainty
        What ``dawid-skene`` must reach.
    relabel
        Whether an image that shows another concept than it was retrieved for is accepted as that.
    """

    rule: Rule = "majority"
    sensitive: Sensitive = "strict"
    votes_per_image: int = 3
    certainty: float = 0.9
    relabel: bool = False


def decide(found: Ballots, own: Ints, concepts: int, by: Judging) -> Verdicts:
    """Decide about all candidates.

    Parameters
    ----------
    found
        The votes.
    own
        The concept that each candidate was retrieved for, 0 for the background.
    concepts
        How many concepts there are, without the background.
    by
        How.
    """
    if by.rule == "dawid-skene":
        winner, sure = _dawid_skene(found, concepts)
    else:
        winner, sure = _majority(found)
    label = np.where(winner > concepts, -1, winner)
    reason = np.full(len(own), ACCEPTED, dtype="<U32")
    reason[label != own] = OTHER
    reason[(winner == 0) & (own != 0)] = NONE
    if by.relabel:
        reason[(label > 0) & (label != own)] = ACCEPTED
    reason[winner > concepts] = SEVERAL
    reason[winner < 0] = DISPUTED
    if by.rule == "dawid-skene":
        reason[(reason == ACCEPTED) & (sure < by.certainty)] = UNCERTAIN
    warned = (found.sensitive & (found.answers >= 0)).sum(1)
    reason[found.given < by.votes_per_image] = FEW_VOTES
    reason[warned >= (1 if by.sensitive == "strict" else _PUBLISHED_WARNINGS)] = SENSITIVE
    reason[found.given == 0] = NO_VOTES
    return Verdicts(np.where(reason == ACCEPTED, label, -1), sure, reason)


def _majority(found: Ballots) -> tuple[Ints, NDArray[np.float64]]:
    """Return the answer of more than half, -1 where there is none, and its share."""
    answers, given = found.answers, found.given
    if not answers.shape[1]:
        return np.full(len(answers), -1), np.zeros(len(answers))
    alike = (answers[:, :, None] == answers[:, None, :]) & (answers >= 0)[:, :, None]
    times = alike.sum(2)
    most = times.argmax(1)[:, None]
    often = np.take_along_axis(times, most, 1)[:, 0]
    winner = np.take_along_axis(answers, most, 1)[:, 0]
    return np.where(often * 2 > given, winner, -1), often / np.maximum(given, 1)


def _dawid_skene(found: Ballots, concepts: int) -> tuple[Ints, NDArray[np.float64]]:
    if importlib.util.find_spec("crowdkit") is None:
        raise OnwardError(
            "expected crowd-kit, which fits the model of Dawid and Skene, found none. Install it: "
            "pip install 'onward[crowd]', or take --rule majority"
        )
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    place, slot = np.nonzero(found.answers >= 0)
    # All sets of several concepts are one answer: each alone is too rare to be a class.
    said = np.minimum(found.answers[place, slot], concepts + 1)
    votes = pd.DataFrame({"task": place, "worker": found.who[place, slot], "label": said})
    winner, sure = np.full(len(found.answers), -1), np.zeros(len(found.answers))
    if len(votes):
        with warnings.catch_warnings():
            # About what crowd-kit calls in pandas.
            warnings.simplefilter("ignore")
            chances = DawidSkene(n_iter=100).fit_predict_proba(votes)
        rows = chances.index.to_numpy()
        values = chances.to_numpy()
        winner[rows] = chances.columns.to_numpy()[values.argmax(1)]
        sure[rows] = values.max(1)
    return winner.astype(np.int64), sure
