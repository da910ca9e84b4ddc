"""Runs on a Ray of this machine, one of whose workers is killed.

Ray talks over sockets, which tests may not: the command is started on its own.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onward.benchmarks import Source
from onward.errors import OnwardError
from onward.results.check import check_folder
from onward.results.read import find_folders
from onward.sweep import Job, sweep

HAS_RAY = importlib.util.find_spec("ray") is not None
DIES_ONCE = """
import os, signal
from pathlib import Path
import numpy as np
from onward.methods.finetune import Finetune

class DiesOnce(Finetune):
    def trains_on(self, new, budget):
        mark = Path(__file__).with_name(f"died-{self.setting.seed}")
        if self.setting.seed == 1 and not mark.exists() and getattr(self, "again", False):
            mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        self.again = True
        return super().trains_on(new, budget)
"""


@pytest.mark.skipif(HAS_RAY, reason="Ray is installed")
def test_without_ray_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="pip install 'onward\\[ray\\]'"):
        sweep([Job(Source("clear"), "nap", 0)], tmp_path, on="ray")


@pytest.mark.slow
@pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed")
def test_what_a_killed_worker_had_is_finished_by_another(tmp_path: Path) -> None:
    method = tmp_path / "mine.py"
    method.write_text(DIES_ONCE)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "onward", "run", "clear", "--data", "emoji"]
    command += ["--protocol", "streaming", "--seeds", "0-2", "--method", "mine.py:DiesOnce"]
    command += ["--on", "ray", "--jobs", "2", "--json", "--out", "out"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "RAY_ADDRESS": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert (tmp_path / "died-1").exists()
    folders = list(find_folders(out))
    assert len(folders) == 3
    assert all(check_folder(folder) == [] for folder in folders)
    logs = [(folder / "log.jsonl").read_text() for folder in folders]
    assert sum('"resumed"' in log for log in logs) == 1
