"""Metrics that are asked for beside the usual ones."""

from typing import Annotated

import typer

from onward.metrics import METRICS


def _known(names: list[str] | None) -> list[str] | None:
    for name in names or ():
        METRICS.find(name)
    return names


MoreMetrics = Annotated[
    list[str] | None,
    typer.Option(
        help="A metric of onward list metrics beside the usual ones. May be repeated.",
        callback=_known,
    ),
]
