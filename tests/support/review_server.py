"""``onward curate review`` as a process that can be killed and started again."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path


class Served:
    """A campaign, served at one port for as long as it takes."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder, self._words = folder, words
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[str] | None = None
        self.owner = ""
        self.said: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def command(self) -> list[str]:
        words = ["--out", str(self.folder), "--port", str(self.port), *self._words]
        return [sys.executable, "-m", "onward", "curate", "review", *words]

    def start(self) -> None:
        """Start it, and read what it says until it serves."""
        environment = {**os.environ, "COLUMNS": "200"}
        self._process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self._process.stdout is not None
        self.said = []
        for line in self._process.stdout:
            self.said.append(line.rstrip("\n"))
            if line.startswith("the owner's page: "):
                self.owner = line.partition(": ")[2].strip()
            if line.startswith("serving at"):
                return
        raise AssertionError(f"the server has ended: {self.said}")

    def end(self, how: signal.Signals = signal.SIGKILL) -> int:
        """End it, if it runs; return its exit code."""
        if self._process is None:
            return 0
        self._process.send_signal(how)
        code = self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None
        return code
