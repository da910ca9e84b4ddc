"""What the short names mean, for people who have not read the papers."""

from onward.metrics.paired import Verdict

METRICS = {
    "next_domain": ("next-domain", "the period right after"),
    "forward_transfer": ("forward transfer", "all later periods"),
    "in_domain": ("in-domain", "the period just learned"),
    "accuracy": ("accuracy", "all periods so far"),
    "backward_transfer": ("backward transfer", "all earlier periods"),
    "final": ("final", "all periods, once all are learned"),
    "amca": ("AMCA", "each class of the test alike, at every change of day and night"),
    "area_below_curve": ("area below curve", "the same, all along the way"),
    "pooled": ("pooled", "all samples so far as one test, after the last period"),
    "pooled_mean": ("pooled mean", "the same after each period, on average"),
}
"""By name: how a metric is written, and which periods it averages."""

METHODS = {
    "agem": "goes on with the new samples, but takes no step against its memory",
    "bic": "as icarl_cnn, then corrects the new classes on a few samples that were held out",
    "biased_reservoir": "trains on a memory that prefers recent samples, from its last weights",
    "c1": "replays five old samples beside five new ones, and merges heads that are trained anew",
    "c2": "replays six old samples beside four new ones, by Adam, with softened labels",
    "c3": "learns features by contrast and a head by focal loss, and keeps doubtful samples",
    "cumulative": "keeps every sample and trains on all of them, from its last weights",
    "cumulative_equal": "trains on new samples and as many old ones, alike of every period",
    "cumulative_exp": "trains on new samples and as many old ones, fewer of older periods",
    "cwr": "trains a temporary head and merges it into a lasting one, class by class",
    "d1": "goes on with new images; maps and proposals of stored ones stay as they were",
    "d2": "replays images with many rare objects, and stays close to what it said of them",
    "d3": "goes on with two new images and two old ones at a time",
    "er": "replays a memory of old samples beside the new ones",
    "er_infinite": "keeps every sample and replays it with the labels that it came with",
    "ewc": "goes on with the new samples, held back where weights matter for old ones (Fisher)",
    "finetune": "goes on from its last weights with the new samples only",
    "gdumb": "starts anew with every period, from a class-balanced memory",
    "icarl_cnn": "replays a few samples of each class; of old ones it learns what it said before",
    "icarl_norm": "as icarl_cnn, with a last layer that compares directions only",
    "lucir": "replays a few samples of each class, with old weights frozen and features held fast",
    "lwf": "goes on with the new samples, but stays close to what the last model says of them",
    "nap": "learns the first period and nothing after it",
    "oversample": "fills every batch up with old samples of the classes that are rare in it",
    "reservoir": "trains on a uniform memory of everything seen, from its last weights",
    "scratch": "starts anew with every period, from that period alone",
    "si": "goes on with the new samples, held back where weights did the work before",
}
"""By label: what a method of the catalogue does when a period arrives."""


def decision(verdict: Verdict) -> str:
    """Say in a few words whether the seeds decide.

    Examples
    --------
    >>> from onward.metrics.paired import compare
    >>> decision(compare([3, 3, 3, 3, 3], [1, 1, 1, 1, 2]))
    'cannot tell: 6 seeds needed'
    >>> decision(compare([3, 3, 3, 3, 3, 3], [1, 1, 1, 1, 2, 1]))
    'p = 0.031'
    """
    if verdict.answer != "cannot tell":
        return f"p = {verdict.p:.2g}"
    if verdict.needed is not None:
        return f"cannot tell: {verdict.needed} seeds needed"
    return f"cannot tell, p = {verdict.p:.2g}"


def votes(verdict: Verdict) -> str:
    """Say in how many seeds the first one is ahead, or behind where that is the rule.

    Examples
    --------
    >>> from onward.metrics.paired import compare
    >>> votes(compare([1, 1, 3], [2, 2, 2]))
    'behind in 2 of 3 seeds'
    """
    side, count = ("ahead", verdict.wins)
    if verdict.losses > verdict.wins:
        side, count = ("behind", verdict.losses)
    return f"{side} in {count} of {seeds(verdict.n)}"


def seeds(number: int) -> str:
    """Count seeds."""
    return "1 seed" if number == 1 else f"{number} seeds"
