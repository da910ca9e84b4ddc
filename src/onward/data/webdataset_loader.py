"""Loading webdataset, which is an extra and takes a moment."""

import importlib
import importlib.util
from typing import Any

from onward.errors import OnwardError


def webdataset() -> Any:
    """Return the module webdataset."""
    if importlib.util.find_spec("webdataset") is None:
        raise OnwardError(
            "expected webdataset, which knows shards of samples, found none. Install it: "
            "pip install 'onward[clip]'"
        )
    return importlib.import_module("webdataset")
