"""Importing submitit leaves the logging of a program alone."""

import subprocess
import sys

SCRIPT = """
import io, logging, sys
from pathlib import Path
from onward.executors import opened
from onward.executors.executor import Request

class Closing(logging.StreamHandler):
    def close(self):
        self.stream.close()
        super().close()

stream = io.StringIO()
logging.getLogger().addHandler(Closing(stream))
with opened(Request(runs=1, on="slurm", workers=1), {"cluster": "local"}, Path("out")):
    pass
assert "submitit" in sys.modules
assert not stream.closed
"""


def test_handlers_that_were_there_are_not_closed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
