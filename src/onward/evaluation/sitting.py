"""A model at a test: what it answers, and what that is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from onward.data.imagenet_subtrees import parts_of
from onward.errors import OnwardError
from onward.exam import Exam, Test
from onward.metrics.static_tasks import class_means
from onward.models.clip import Clip
from onward.tasks.image_text import ImageText
from onward.train.validation import predicted
from onward.types import Array, Samples, Stream, Table, View

Named = Mapping[str, Sequence[str]]
"""Classes by the name of a part that they belong to."""


class Examinee:
    """A CLIP as a learner that has learned already."""

    def __init__(self, clip: Clip) -> None:
        self._clip = clip

    def learn(self, *args: Any) -> NoReturn:
        """Raise: it is evaluated as it is."""
        raise OnwardError("expected a model that is evaluated as it is, found one asked to learn")

    def predict(self, view: View) -> Array:
        """Return the directions of all images and texts, a few at a time."""
        return predicted(self._clip.seeing(view.input_shape), view)


@dataclass(frozen=True)
class Outcome:
    """The scores of one test.

    ``by_class`` and ``by_part`` are there where the texts of the test are classes: the share of a
    class that is found, and the mean of that over the classes of a named part.
    """

    samples: int
    scores: Mapping[str, float]
    by_class: Mapping[str, float] = field(default_factory=dict)
    by_part: Mapping[str, float] = field(default_factory=dict)

    @property
    def classifies(self) -> bool:
        """Whether images look for their classes, and no text looks for anything."""
        asked = [self.scores.get(f"{way}1", np.nan) for way in ("image_to_text", "text_to_image")]
        return [bool(np.isnan(share)) for share in asked] == [False, True]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        parts = {"by_class": self.by_class, "by_part": self.by_part}
        return {
            "samples": self.samples,
            **plain(self.scores),
            **{name: plain(values) for name, values in parts.items() if values},
        }


def plain(values: Mapping[str, float]) -> dict[str, float | None]:
    """Return numbers as JSON has them, which knows no NaN."""
    return {name: None if np.isnan(value) else float(value) for name, value in values.items()}


def decisions(examinee: Examinee, table: Table, bags: Sequence[Samples]) -> Array:
    """Return what a model decides, each bag of images and texts by itself."""
    tests = [Test("", None, bag) for bag in bags]
    return Exam.sit(examinee, Stream(table, ()), tests, (), ImageText()).decisions


def outcome(
    decided: Array, samples: Samples, classes: Sequence[str], named: Named | None = None
) -> Outcome:
    """Score the decisions of one test, whose texts may be classes, in this order.

    `named` are parts of the classes; None stands for TiC-CLIP's, of ImageNet's classes.
    """
    task = ImageText()
    found = Outcome(len(samples), task.score(decided, samples.labels))
    shares = task.by_class(decided, samples.labels, len(classes))
    if np.isnan(shares).all():
        return found
    parts = parts_of(classes, named)
    return Outcome(
        found.samples,
        found.scores,
        dict(zip(classes, shares.tolist(), strict=True)),
        {name: class_means(shares, members) for name, members in parts.items()},
    )
