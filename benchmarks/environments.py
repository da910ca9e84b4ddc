"""Environments for what Onward is measured against: installed on first use, then kept."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from onward.data.cache import cache_folder

HERE = Path(__file__).resolve().parent


def environment(*pins: str) -> Path:
    """Return an environment with these packages, in the user's cache folder.

    Parameters
    ----------
    pins
        Packages with their versions, such as ``iirc==1.0.1``; what they bring along has the
        versions of ``constraints.txt``.
    """
    home = cache_folder() / "-".join(["benchmark", *pins]).replace("==", "-")
    ready = home / "ready"
    if not ready.exists():
        print(f"installing {' '.join(pins)} into {home}, once", file=sys.stderr)
        venv.create(home, with_pip=True, clear=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        wanted = ["-c", str(HERE.parent / "constraints.txt"), *pins]
        subprocess.run(
            [str(home / "bin" / "python"), *install, *wanted], check=True, stderr=subprocess.DEVNULL
        )
        ready.touch()
    return home


class Other:
    """A script in an environment of its own, which answers every line with a line.

    Parameters
    ----------
    name
        What it measures, for messages.
    home
        Its environment.
    script
        Its file, beside this one.
    arguments
        What it is started with.
    """

    def __init__(self, name: str, home: Path, script: str, *arguments: str) -> None:
        self._name = name
        self._process = subprocess.Popen(
            [str(home / "bin" / "python"), str(HERE / script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self._answer()

    def ask(self, *question: Any) -> Any:
        """Have something done and measured."""
        if self._process.stdin is None:
            raise RuntimeError("the child process has no input")
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError(f"{self._name}'s side ended with status {self._process.wait()}")
        return json.loads(line)

    def close(self) -> None:
        """End the child process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
