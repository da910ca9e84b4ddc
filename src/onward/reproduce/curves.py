"""Rows along a parameter, as a picture shows them: pure data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Panel:
    """Rows that differ in one number.

    Parameters
    ----------
    axis
        What the number is.
    rows
        Names of rows, by that number.
    logarithmic
        Whether the axis is.
    """

    axis: str
    rows: dict[float, str]
    logarithmic: bool = False


@dataclass(frozen=True)
class Curves:
    """A row of panels for each parameter, in it a panel for each of some columns.

    ``reference`` is the row that the others are measured against: levels differ from data to
    data, gains can be compared.
    """

    title: str
    reference: str
    parameters: tuple[Panel, ...]
    columns: tuple[str, ...]
