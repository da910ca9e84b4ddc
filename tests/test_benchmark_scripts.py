"""The scripts in benchmarks/ fit the package; what they need beside it is another environment's."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
# They run in environments of their own, or beside a library that is installed for them.
ELSEWHERE = {"clear_linear_avalanche", "iirc_released", "curate_top_k"}


def _python(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=FOLDER, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout


def test_scripts_import_what_the_package_has() -> None:
    names = sorted({path.stem for path in FOLDER.glob("*.py")} - ELSEWHERE)
    assert "engine" in names
    _python("-c", f"import sys; sys.path[:0] = ['../tests/support']; import {', '.join(names)}")


@pytest.mark.slow
def test_the_engine_benchmark_reports_a_ratio_for_each_case() -> None:
    cases: list[dict[str, Any]] = json.loads(_python("engine.py", "--quick", "--json"))
    assert len(cases) >= 10
    assert all(case["ratio"] > 0 for case in cases)
