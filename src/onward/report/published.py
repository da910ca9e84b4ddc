"""Rows of papers beside our own: marked as such, and never ranked among them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PublishedValue:
    """A published number in the unit of the scores; ``certain`` where it is read without doubt."""

    mean: float
    deviation: float | None = None
    certain: bool = True


@dataclass(frozen=True)
class PublishedRow:
    """What a paper says of one method under one protocol.

    Parameters
    ----------
    benchmark, protocol
        What it was measured on, by our names.
    data
        Which edition of the data, in words.
    label
        What the paper calls the method.
    method
        What our catalogue calls it.
    values
        By name of `onward.report.summary.Summary.metrics`.
    paper
        Who said so, short.
    table
        Our name of the table, as ``onward reproduce`` takes it.
    """

    benchmark: str
    protocol: str
    data: str
    label: str
    method: str
    values: Mapping[str, PublishedValue]
    paper: str
    table: str
