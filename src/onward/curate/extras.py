"""What curation needs beyond what every installation of Onward has."""

import importlib.util

from onward.errors import OnwardError


def need(*packages: str) -> None:
    """Say which package is missing, before something imports it."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise OnwardError(
                f"expected {package}, which curation needs, found none. Install it: "
                "pip install 'onward[curate]'"
            )
