"""A run that is asked to end, as schedulers do it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

RUN = ("-m", "onward", "run", "clear", "--data", "emoji", "--method", "er", "--out")


def test_sigterm_ends_a_run_at_once_and_the_same_command_finishes_it(tmp_path: Path) -> None:
    long = [sys.executable, *RUN, str(tmp_path), "--training", "epochs=400"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(long, env=environment, stdout=subprocess.DEVNULL)
    while not [*tmp_path.glob("*/*/*/checkpoint*")] and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    # Not 0: a sweep would count the end as one run that failed, and try it again.
    assert process.wait(timeout=60) == 143
    done = subprocess.run(long, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
