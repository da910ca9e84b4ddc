"""Programs and files of the system that tests need beside Python packages.

A test calls `require`; a code block of a page says ``needs: name``. What is missing is installed by
``make test-slow`` where that is possible: as a script, this file prints the Debian packages.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from onward.data.wordnet import find_nouns
from onward.errors import OnwardError


def browser() -> str | None:
    """Return the path of a browser that Playwright can drive as Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


def _has_wordnet() -> bool:
    try:
        find_nouns()
    except OnwardError:
        return False
    return True


@dataclass(frozen=True)
class Need:
    """Something of the system: whether it is there, and the Debian packages that have it."""

    is_there: Callable[[], bool]
    package: str


NEEDS = {
    "chromium": Need(lambda: browser() is not None, "chromium"),
    "java": Need(lambda: shutil.which("java") is not None, "default-jre-headless"),
    "slurm": Need(
        lambda: all(map(shutil.which, ("slurmctld", "slurmd", "sbatch", "munged"))),
        "slurm-wlm munge",
    ),
    "wordnet": Need(_has_wordnet, "wordnet-base"),
}


def missing(name: str) -> str | None:
    """Return what is missing and what to install; None if it is there."""
    need = NEEDS[name]
    if need.is_there():
        return None
    return f"{name} is not installed. On Debian: apt-get install {need.package}"


def require(name: str) -> None:
    """Skip the test if something is missing."""
    if reason := missing(name):
        pytest.skip(reason)


if __name__ == "__main__":
    for need in NEEDS.values():
        if not need.is_there():
            print(need.package)
