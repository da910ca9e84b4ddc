"""Rows along a parameter, as a picture shows them: pure data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Panel:
    """Rows that differ in one number.

    Parameters
    ----------
    heading
        What stands above the panel.
    axis
        What the number is.
    rows
        Names of rows, by that number.
    logarithmic
        Whether the axis is.
    """

    heading: str
    axis: str
    rows: dict[float, str]
    logarithmic: bool = False


@dataclass(frozen=True)
class Curves:
    """Panels side by side, with a line for each of some columns."""

    title: str
    panels: tuple[Panel, ...]
    columns: tuple[str, ...]
