"""Reports: from run folders to numbers, tables, figures and one self-contained page."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onward.report.summary import Summary

__all__ = ["read"]


def read(*folders: str | Path, more: Sequence[str] = ()) -> "list[Summary]":
    """Read finished runs and average those that differ in nothing but their seed.

    What cannot be read is left out with a warning; so are runs that are not finished.

    Parameters
    ----------
    folders
        Results folders, or single runs' folders.
    more
        Metrics of ``onward list metrics`` beside the usual ones.

    Returns
    -------
        Setting by setting, the best first. `onward.report.summary.by_setting` parts them.
    """
    from onward.report.summary import summarise, unfinished
    from onward.results.collect import collect

    found = collect([Path(folder) for folder in folders])
    for one in found.left_out:
        warnings.warn(f"left out: {one.reason}", stacklevel=2)
    not_done = len(unfinished(found.records))
    if not_done:
        of = f"{not_done} of {len(found.records)} runs"
        warnings.warn(f"left out: {of}, not finished", stacklevel=2)
    return summarise(found.records, more)
