"""Packages that not every installation of Onward has."""

import importlib.util
from pathlib import Path

from onward.errors import OnwardError


def need(package: str, what_for: str, extra: str) -> Path:
    """Return the folder of a package, or say what it is for and which extra brings it.

    Examples
    --------
    >>> need("no_such_package", "which does nothing", "all")
    Traceback (most recent call last):
    onward.errors.OnwardError: expected no_such_package, which does nothing, found none. Install \
it: pip install 'onward[all]'
    """
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise OnwardError(
            f"expected {package}, {what_for}, found none. Install it: pip install 'onward[{extra}]'"
        )
    return Path(found.origin).parent
