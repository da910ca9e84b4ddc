"""Metrics: pure functions of scores, named after their source, one worked matrix each.

A **score matrix** R holds in ``R[i, j]`` the score on period j of the model that has learned up to
period i; NaN marks a cell that the protocol leaves empty. Metrics take lists or arrays, leave them
alone and return plain floats.

- `onward.metrics.clear`: CLEAR's means over parts of R, the headline numbers.
- `onward.metrics.iirc`: overlaps of predicted and true sets of labels, sample by sample.
- `onward.metrics.clad`: mean class accuracy over test times, the area below an accuracy curve.
- `onward.metrics.detection`: mean average precision of boxes, in COCO's and in VOC's form.
- `onward.metrics.retrieval`: recall of images by texts and of texts by images.
- `onward.metrics.literature`: the differences of the older literature, whose words ("forgetting",
  "backward transfer") mean different things in different papers.
- `onward.metrics.distance`: score by distance in time, and its rate of decay.
- `onward.metrics.paired`: whether the difference between two methods is more than seed noise.

`METRICS` lists every metric that turns one score matrix into one number. A new one is a function
in a module here and one entry below.

>>> METRICS["clear.next_domain"].function([[.9, .8], [.9, .9]])
0.8
"""

from collections.abc import Callable
from dataclasses import dataclass

from onward.catalogue import Catalogue
from onward.metrics import clear, distance, literature

__all__ = ["METRICS", "Metric"]


@dataclass(frozen=True)
class Metric:
    """A catalogued metric of a score matrix.

    Attributes
    ----------
    name
        ``module.function`` below `onward.metrics`.
    function
        Takes the score matrix, and the untrained baseline too if ``needs_baseline``.
    source
        Where the definition comes from.
    higher_is_better
        Direction of improvement.
    summary
        What it measures, in one line.
    needs_baseline
        Whether a second argument, the scores of an untrained model, is required.
    """

    name: str
    function: Callable[..., float]
    source: str
    higher_is_better: bool
    summary: str
    needs_baseline: bool = False


METRICS = Catalogue(
    "metric",
    {
        metric.name: metric
        for metric in (
            Metric(
                name="clear.in_domain",
                function=clear.in_domain,
                source="CLEAR (Lin et al. 2021), supplement Eq. 4",
                higher_is_better=True,
                summary="mean score on the period just learned",
            ),
            Metric(
                name="clear.next_domain",
                function=clear.next_domain,
                source="CLEAR (Lin et al. 2021), supplement Eq. 5",
                higher_is_better=True,
                summary="mean score on the period right after",
            ),
            Metric(
                name="clear.accuracy",
                function=clear.accuracy,
                source="CLEAR (Lin et al. 2021), supplement Eq. 1",
                higher_is_better=True,
                summary="mean score on all periods learned so far",
            ),
            Metric(
                name="clear.backward_transfer",
                function=clear.backward_transfer,
                source="CLEAR (Lin et al. 2021), supplement Eq. 2",
                higher_is_better=True,
                summary="mean score on earlier periods (a score, not a change)",
            ),
            Metric(
                name="clear.forward_transfer",
                function=clear.forward_transfer,
                source="CLEAR (Lin et al. 2021), supplement Eq. 3",
                higher_is_better=True,
                summary="mean score on later periods (a score, not a change)",
            ),
            Metric(
                name="clear.challenge_score",
                function=clear.challenge_score,
                source="CLEAR challenge, CVPR 2022",
                higher_is_better=True,
                summary="mean of in-domain, next-domain, backward and forward transfer",
            ),
            Metric(
                name="literature.gem_average_accuracy",
                function=literature.gem_average_accuracy,
                source="GEM (Lopez-Paz and Ranzato 2017)",
                higher_is_better=True,
                summary="mean score of the final model over all periods",
            ),
            Metric(
                name="literature.gem_backward_transfer",
                function=literature.gem_backward_transfer,
                source="GEM (Lopez-Paz and Ranzato 2017)",
                higher_is_better=True,
                summary="mean change from just learned to final model",
            ),
            Metric(
                name="literature.gem_forward_transfer",
                function=literature.gem_forward_transfer,
                source="GEM (Lopez-Paz and Ranzato 2017)",
                higher_is_better=True,
                summary="mean gain over an untrained model on the period about to be learned",
                needs_baseline=True,
            ),
            Metric(
                name="literature.chaudhry_forgetting",
                function=literature.chaudhry_forgetting,
                source="RWalk (Chaudhry et al. 2018)",
                higher_is_better=False,
                summary="mean drop from the best earlier model to the final model",
            ),
            Metric(
                name="literature.diaz_rodriguez_accuracy",
                function=literature.diaz_rodriguez_accuracy,
                source="Diaz-Rodriguez et al. 2018",
                higher_is_better=True,
                summary="mean score on all periods learned so far",
            ),
            Metric(
                name="literature.diaz_rodriguez_backward_transfer",
                function=literature.diaz_rodriguez_backward_transfer,
                source="Diaz-Rodriguez et al. 2018",
                higher_is_better=True,
                summary="mean change since just learned, over all later models",
            ),
            Metric(
                name="literature.diaz_rodriguez_remembering",
                function=literature.diaz_rodriguez_remembering,
                source="Diaz-Rodriguez et al. 2018",
                higher_is_better=True,
                summary="one minus the loss part of backward transfer; scores from 0 to 1",
            ),
            Metric(
                name="literature.diaz_rodriguez_positive_backward_transfer",
                function=literature.diaz_rodriguez_positive_backward_transfer,
                source="Diaz-Rodriguez et al. 2018",
                higher_is_better=True,
                summary="the gain part of backward transfer",
            ),
            Metric(
                name="literature.diaz_rodriguez_forward_transfer",
                function=literature.diaz_rodriguez_forward_transfer,
                source="Diaz-Rodriguez et al. 2018",
                higher_is_better=True,
                summary="mean score on later periods (a score, not a change)",
            ),
            Metric(
                name="distance.decay_rate",
                function=distance.decay_rate,
                source="Onward",
                higher_is_better=False,
                summary="score lost per period of distance into the future",
            ),
        )
    },
    "onward.metrics",
)
"""By name; a package adds one as a `Metric` by an entry point."""
