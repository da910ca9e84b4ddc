"""Votes of annotators who are simulated, without a campaign: for tests and for what is shown."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from onward.curate.demo.annotators import UNEVENNESS, Annotator, Picture, answered, warned
from onward.curate.records import VOTES

_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)


def simulated_votes(
    pictures: Sequence[Picture],
    annotators: Sequence[Annotator],
    concepts: Sequence[str],
    *,
    per_image: int = 3,
    unevenness: float = UNEVENNESS,
    seed: int = 0,
) -> pa.Table:
    """Let annotators look at pictures, and return their votes.

    Parameters
    ----------
    pictures
        What there is to look at.
    annotators
        Who looks; each picture is shown to some of them, drawn at random.
    concepts
        What can be chosen, without the background.
    per_image
        How many look at each picture.
    unevenness
        How much harder some pictures are than others: the variance of what rates are multiplied
        with, whose mean is 1. What is hard is hard for everybody: with 0, errors are independent.
    seed
        Draws everything.
    """
    rng = np.random.default_rng([seed, 2])
    hardness = np.ones(len(pictures))
    if unevenness:
        hardness = rng.gamma(1 / unevenness, unevenness, len(pictures))
    rows, clocks = [], dict.fromkeys((one.name for one in annotators), _BEGIN)
    for picture, hard in zip(pictures, hardness.tolist(), strict=True):
        for number in rng.choice(len(annotators), per_image, replace=False).tolist():
            who = annotators[number]
            seconds = float(who.seconds * rng.gamma(4, 1 / 4))
            clocks[who.name] += timedelta(seconds=seconds)
            rows.append(
                {
                    "id": picture.id,
                    "annotator": who.name,
                    "labels": answered(picture, who, hard, concepts, rng),
                    "sensitive": warned(picture, who, rng),
                    "seconds": seconds,
                    "at": clocks[who.name],
                }
            )
    return pa.Table.from_pylist(rows, VOTES)
