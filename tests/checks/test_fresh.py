import os
from typing import Any

import pytest

from onward.checks.fresh import call_fresh
from onward.errors import OnwardError


def test_a_call_is_made_in_another_process() -> None:
    process, where = call_fresh(os.getpid)
    assert process != os.getpid()
    assert where == "in a fresh process"


def test_what_cannot_be_sent_is_called_here() -> None:
    process, where = call_fresh(lambda: os.getpid())
    assert process == os.getpid()
    assert where.startswith("in this process")


def test_what_cannot_be_imported_there_is_called_here() -> None:
    import sys
    from types import ModuleType

    module: Any = ModuleType("only_here")
    exec("def value(): return 42", vars(module))
    sys.modules["only_here"] = module
    try:
        value, where = call_fresh(module.value)
    finally:
        del sys.modules["only_here"]
    assert value == 42
    assert "ModuleNotFoundError" in where


def test_an_error_there_is_told_here() -> None:
    with pytest.raises(OnwardError, match=r"found: ValueError: math domain error|ValueError"):
        call_fresh(_root, -1.0)


def _root(value: float) -> float:
    import math

    return math.sqrt(value)
