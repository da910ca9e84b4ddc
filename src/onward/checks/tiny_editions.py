"""A tiny stream for every benchmark: what the catalogue says of it, on a few samples."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from onward.benchmarks import load
from onward.benchmarks.listed import Listed
from onward.benchmarks.variants import Cut, as_asked
from onward.checks.tiny import tiny_benchmark, tiny_points
from onward.checks.tiny_boxes import ONLINE, tiny_boxes
from onward.checks.tiny_pairs import tiny_pairs
from onward.fit import IMAGES, NEW_CLASSES, PLACES
from onward.methods import METHODS, MethodCard
from onward.protocols import DOMAINS
from onward.train.method import Method
from onward.types import Benchmark, Protocol, Samples, Stream, Table

TEST = "test"


def tiny_like(listed: Listed, card: MethodCard | None = None) -> Benchmark:
    """Return the tiny stream that stands for a benchmark of the catalogue.

    It has the benchmark's task kind, its usual protocol with its limits, and lacks what it lacks.
    Of how many samples may be stored, only so many are allowed that it matters. A benchmark of a
    task kind that has no tiny stream stands for itself. The method that is to learn from it may
    need images.

    Examples
    --------
    >>> from onward.benchmarks import BENCHMARKS
    >>> tiny_like(BENCHMARKS["clad-c"]).protocol.limits["stored_samples"]
    20
    >>> [len(period.train) for period in tiny_like(BENCHMARKS["clad-d"]).stream()]
    [5, 5, 5]
    """
    make = _BY_TASK_KIND.get(listed.task.name)
    if make is None:
        return load(listed.name)
    usual = next(iter(listed.protocols.values()))
    made = make(listed, usual, card)
    if usual.tests == "static":
        made = replace(made, cut=partial(_tested_by_one, cut=made.cut))
    protocol = replace(made.protocol, limits=_felt(made))
    return as_asked(replace(made, task=listed.task, protocol=protocol, lacks=listed.lacks))


def tiny_for(method: Any, protocol: str | None = None) -> Benchmark:
    """Return the tiny stream that any method can learn from: by default points, of one label.

    A method of the catalogue may need images, or boxes. One that is no gradient method is also the
    one that uses samples without labels.
    """
    card = METHODS.get(method) if isinstance(method, str) else None
    if card is not None and PLACES in card.needs:
        return tiny_boxes(ONLINE if protocol == ONLINE.name else DOMAINS)
    gradient = card is None or issubclass(card.make, Method)
    usual = "iid" if gradient else "semi_supervised"
    return tiny_benchmark(protocol or usual, model=_model_of(card))


def _model_of(card: MethodCard | None) -> str:
    """Return what is trained: a network where images are needed, and so shown."""
    return "convnet" if card is not None and IMAGES in card.needs else "linear"


def _points(listed: Listed, protocol: Protocol, card: MethodCard | None) -> Benchmark:
    arrive = NEW_CLASSES not in listed.lacks
    return tiny_points(listed.task, protocol, model=_model_of(card), arrive=arrive)


_BY_TASK_KIND: Mapping[str, Callable[[Listed, Protocol, MethodCard | None], Benchmark]] = {
    "one_label": _points,
    "many_labels": _points,
    "boxes": lambda listed, protocol, card: tiny_boxes(protocol),
    "image_text": lambda listed, protocol, card: tiny_pairs(protocol),
}


def _felt(made: Benchmark) -> dict[str, float]:
    """Return the limits of a protocol as a tiny stream feels them."""
    limits, memory = dict(made.protocol.limits), made.recipes[made.recipe].memory_size
    if "stored_samples" in limits and memory is not None:
        limits["stored_samples"] = min(limits["stored_samples"], memory)
    return limits


def _tested_by_one(table: Table, protocol: Protocol, seed: int, *, cut: Cut) -> Stream:
    """Make one test of those of all periods, while the protocol asks for static tests."""
    stream = cut(table, protocol, seed)
    if protocol.tests != "static":
        return stream
    test = Samples.join([period.test for period in stream])
    periods = tuple(replace(period, test=period.test[:0]) for period in stream)
    return replace(stream, periods=periods, static={TEST: test})
