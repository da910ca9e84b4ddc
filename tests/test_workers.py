"""Worker processes of a sweep whose parent process was killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Spawned workers import this file as `__mp_main__`: each of them writes its pid, and waits there.
PARENT = """
import os, time
from pathlib import Path

here = Path(__file__).parent
if __name__ == "__mp_main__":
    (here / f"{os.getpid()}.started").touch()
    while not (here / "continue").exists():
        time.sleep(0.01)

if __name__ == "__main__":
    from onward.benchmarks import Source
    from onward.sweep import Job, sweep

    sweep([Job(Source("clear"), "nap", seed) for seed in range(2)], here / "out", workers=2)
"""


def _wait_for(condition: Callable[[], bool], seconds: float = 120) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _is_running(pid: int) -> bool:
    """Return whether a process exists that has not ended; an ended one may still have its pid."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_workers_end_if_their_parent_is_killed_while_they_start(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, script], stderr=subprocess.DEVNULL) as parent:
        assert _wait_for(lambda: len(list(tmp_path.glob("*.started"))) == 2)
        parent.kill()
    workers = [int(path.stem) for path in tmp_path.glob("*.started")]
    try:
        assert all(_is_running(worker) for worker in workers)
        (tmp_path / "continue").touch()
        assert _wait_for(lambda: not any(_is_running(worker) for worker in workers))
    finally:
        for worker in workers:
            if _is_running(worker):
                os.kill(worker, signal.SIGKILL)


# Waits inside `learn` until the parent is gone, then goes on.
WAITING = """
import os, time
from pathlib import Path

import numpy as np


class Waiting:
    def learn(self, view, budget):
        here = Path(__file__).parent
        (here / f"{os.getpid()}.learning").touch()
        while not (here / "continue").exists():
            time.sleep(0.01)

    def predict(self, view):
        return np.zeros(len(view), int)
"""


def test_killed_parent_is_no_failure_of_the_runs(tmp_path: Path) -> None:
    (tmp_path / "waiting.py").write_text(WAITING)
    command = (sys.executable, "-m", "onward", "run", "clear", "--method", "waiting.py:Waiting")
    options = ("--seeds", "0-1", "--jobs", "2", "--out", "out")
    errors = (tmp_path / "errors.txt").open("w")
    with errors, subprocess.Popen([*command, *options], cwd=tmp_path, stderr=errors) as parent:
        assert _wait_for(lambda: len(list(tmp_path.glob("*.learning"))) == 2)
        parent.kill()
    workers = [int(path.stem) for path in tmp_path.glob("*.learning")]
    (tmp_path / "continue").touch()
    assert _wait_for(lambda: not any(_is_running(worker) for worker in workers))
    assert not list(tmp_path.rglob("error.txt"))
    assert "Traceback" not in (tmp_path / "errors.txt").read_text()
