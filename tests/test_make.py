"""What ``make test-slow`` installs of the system."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _make_test_packages(folder: Path, *, user: int, apt_get: str) -> tuple[int, list[str]]:
    """Make the target where two packages are missing; return the exit code and apt-get's calls."""
    log = folder / "log"
    scripts = {
        "id": f"echo {user}",
        "apt-get": f'echo "$@" >> {log}\n{apt_get}',
        "python": "echo chromium wordnet-base",
    }
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    done = subprocess.run(
        ["make", "-o", ".venv/.ready", "test-packages", f"BIN={folder}"],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, log.read_text().splitlines() if log.exists() else []


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("apt_get", ["exit 0", "exit 100"])
def test_root_installs_each_missing_package_and_a_failure_does_not_end_make(
    tmp_path: Path, apt_get: str
) -> None:
    code, calls = _make_test_packages(tmp_path, user=0, apt_get=apt_get)
    install = "install -qq -y --no-install-recommends"
    assert calls == ["update -qq", f"{install} chromium", f"{install} wordnet-base"]
    assert code == 0


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_nothing_is_installed_for_another_user(tmp_path: Path) -> None:
    assert _make_test_packages(tmp_path, user=1000, apt_get="exit 0") == (0, [])


def test_the_packages_are_printed_for_what_is_missing(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(tmp_path)}
    script = ROOT / "tests" / "support" / "system.py"
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=True
    )
    assert {"chromium", "default-jre-headless"} <= set(done.stdout.split())
