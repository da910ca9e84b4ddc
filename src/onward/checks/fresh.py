"""Calling a function in a fresh process, where nothing has been imported, seen or cached yet.

What a module keeps from an earlier call, such as an average over all data, looks the same in
every later call of one process. A process that never saw the real future has no such thing.
"""

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from onward.errors import OnwardError

Result = TypeVar("Result")
_NOT_IMPORTABLE = 3


def call_fresh(function: Callable[..., Result], *arguments: Any) -> tuple[Result, str]:
    """Call a function of a module in a fresh process, or in this one if it cannot be sent there.

    What is defined in a notebook or inside a function cannot be. The result comes with where it was
    computed, for people.
    """
    try:
        message = pickle.dumps((function, arguments))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        return function(*arguments), f"in this process, for lack of a way into a fresh one: {error}"
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        done = subprocess.run(
            [sys.executable, "-c", "from onward.checks.fresh import serve; serve()", str(answer)],
            input=message,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            check=False,
        )
        if done.returncode == _NOT_IMPORTABLE:
            reason = done.stderr.decode().strip().splitlines()[-1]
            return function(*arguments), f"in this process, because a fresh one says: {reason}"
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
            raise OnwardError(
                f"expected the same call to work in a fresh process, found: {lines[-1]}. Look for "
                "what this process has that a fresh one has not, such as an open file or a global"
            )
        result: Result = pickle.loads(answer.read_bytes())
    return result, "in a fresh process"


def serve() -> None:
    """Answer one call; this is the other process."""
    message = sys.stdin.buffer.read()
    try:
        function, arguments = pickle.loads(message)
    except (ImportError, AttributeError) as error:
        sys.stderr.write(f"\n{type(error).__name__}: {error}\n")
        sys.exit(_NOT_IMPORTABLE)
    Path(sys.argv[1]).write_bytes(pickle.dumps(function(*arguments)))
