"""Options that make no sense are refused when a method is made."""

from typing import Any

import pytest

from onward.errors import OnwardError
from onward.methods.agem import AGEM
from onward.methods.icarl_norm import ICaRLNorm
from onward.methods.lucir import LUCIR


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (LUCIR, {"margin": "x"}, "margin as a number"),
        (LUCIR, {"distance": float("nan")}, "distance as a number"),
        (LUCIR, {"hardest": 1.5}, "1 or more new classes"),
        (ICaRLNorm, {"restarts_eta": "maybe"}, "true or false, found 'maybe'"),
        (AGEM, {"own_classes": 1}, "true or false, found 1"),
    ],
)
def test_options(make: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        make(**options)
