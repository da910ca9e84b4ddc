"""Options that make no sense are refused when a method is made; those not given are published."""

import inspect
from typing import Any

import pytest

from onward.errors import OnwardError
from onward.methods.agem import AGEM
from onward.methods.c1 import C1
from onward.methods.clad_d import D1, D2
from onward.methods.ewc import EWC
from onward.methods.icarl import ICaRLNorm
from onward.methods.lucir import LUCIR
from onward.methods.pretrain_probe import PretrainProbe
from onward.methods.reservoir import BiasedReservoirFinetune


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (LUCIR, {"margin": "x"}, "margin as a number"),
        (LUCIR, {"distance": float("nan")}, "distance as a number"),
        (LUCIR, {"hardest": 1.5}, "1 or more new classes"),
        (ICaRLNorm, {"restarts_eta": "maybe"}, "true or false, found 'maybe'"),
        (AGEM, {"own_classes": 1}, "true or false, found 1"),
        (C1, {"newest": "x"}, "newest as a number above 0 and up to 1, found 'x'"),
        (C1, {"every": "x"}, "every 1 or more samples, found 'x'"),
        (D1, {"maps": "x"}, "maps as a number from 0 on, found 'x'"),
        (BiasedReservoirFinetune, {"replacement": "tale"}, "'random' or 'tail', found 'tale'"),
        (D2, {"temperature": "x"}, "temperature as a number above 0, found 'x'"),
        (D2, {"alpha": True}, "alpha as a number from 0 on, found True"),
    ],
)
def test_options(make: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        make(**options)


@pytest.mark.parametrize(
    ("method", "published"),
    [
        # LUCIR's released code; CLEAR's supplement, section 6.
        (LUCIR, {"distance": 5.0, "margin": 0.5, "hardest": 2}),
        (EWC, {"strength": 0.4, "decay": 0.1}),
        # CLEAR pre-trains on all images of bucket 0, of which few have a label.
        (PretrainProbe, {"unlabelled": True}),
    ],
)
def test_what_is_not_given_is_as_published(method: Any, published: dict[str, float]) -> None:
    given = inspect.signature(method).parameters
    assert {name: given[name].default for name in published} == published
