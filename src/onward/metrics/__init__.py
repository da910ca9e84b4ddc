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
- `onward.metrics.agreement`: how far people agree who were asked the same.
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
    bounds
        The smallest and the largest value it can take if all scores lie between 0 and 1.
    """

    name: str
    function: Callable[..., float]
    source: str
    higher_is_better: bool
    summary: str
    needs_baseline: bool = False
    bounds: tuple[float, float] = (0, 1)


_CLEAR, _GEM = "CLEAR (Lin et al. 2021), supplement Eq.", "GEM (Lopez-Paz and Ranzato 2017)"
_DIAZ = "Diaz-Rodriguez et al. 2018"
_CHANGE = (-1, 1)


def _own(
    function: Callable[..., float],
    source: str,
    summary: str,
    *,
    higher_is_better: bool = True,
    needs_baseline: bool = False,
    bounds: tuple[float, float] = (0, 1),
) -> Metric:
    """Return a metric of the modules here, which is called as its function is."""
    module = function.__module__.removeprefix(f"{__name__}.")
    name = f"{module}.{function.__name__}"
    return Metric(name, function, source, higher_is_better, summary, needs_baseline, bounds)


_OWN = (
    _own(clear.in_domain, f"{_CLEAR} 4", "mean score on the period just learned"),
    _own(clear.next_domain, f"{_CLEAR} 5", "mean score on the period right after"),
    _own(clear.accuracy, f"{_CLEAR} 1", "mean score on all periods learned so far"),
    _own(
        clear.backward_transfer,
        f"{_CLEAR} 2",
        "mean score on earlier periods (a score, not a change)",
    ),
    _own(
        clear.forward_transfer, f"{_CLEAR} 3", "mean score on later periods (a score, not a change)"
    ),
    _own(
        clear.challenge_score,
        "CLEAR challenge, CVPR 2022",
        "mean of in-domain, next-domain, backward and forward transfer",
    ),
    _own(literature.gem_average_accuracy, _GEM, "mean score of the final model over all periods"),
    _own(
        literature.gem_backward_transfer,
        _GEM,
        "mean change from just learned to final model",
        bounds=_CHANGE,
    ),
    _own(
        literature.gem_forward_transfer,
        _GEM,
        "mean gain over an untrained model on the period about to be learned",
        needs_baseline=True,
        bounds=_CHANGE,
    ),
    _own(
        literature.chaudhry_forgetting,
        "RWalk (Chaudhry et al. 2018)",
        "mean drop from the best earlier model to the final model",
        higher_is_better=False,
        bounds=_CHANGE,
    ),
    _own(literature.diaz_rodriguez_accuracy, _DIAZ, "mean score on all periods learned so far"),
    _own(
        literature.diaz_rodriguez_backward_transfer,
        _DIAZ,
        "mean change since just learned, over all later models",
        bounds=_CHANGE,
    ),
    _own(
        literature.diaz_rodriguez_remembering,
        _DIAZ,
        "one minus the loss part of backward transfer; scores from 0 to 1",
    ),
    _own(
        literature.diaz_rodriguez_positive_backward_transfer,
        _DIAZ,
        "the gain part of backward transfer",
    ),
    _own(
        literature.diaz_rodriguez_forward_transfer,
        _DIAZ,
        "mean score on later periods (a score, not a change)",
    ),
    _own(
        distance.decay_rate,
        "Onward",
        "score lost per period of distance into the future",
        higher_is_better=False,
        bounds=_CHANGE,
    ),
)
METRICS = Catalogue("metric", {metric.name: metric for metric in _OWN}, "onward.metrics", Metric)
"""By name; a package adds one as a `Metric` by an entry point."""
