"""A Slurm of this machine with two simulated GPUs, for as long as a test takes."""

import contextlib
import getpass
import os
import platform
import random
import secrets
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import system

_CONFIGURATION = """
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={next_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
KillWait=5
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 Gres=gpu:2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=ALL MaxTime=5 State=UP
"""
_SECONDS_TO_START = 30


@contextlib.contextmanager
def loopback_slurm() -> Iterator[dict[str, str]]:
    """Yield the environment of commands that use it; skip the test where it does not start."""
    system.require("slurm")
    # The name of a socket may not be as long as that of a test's folder.
    with tempfile.TemporaryDirectory(prefix="slurm-") as name:
        folder = Path(name)
        for part in ("state", "spool"):
            (folder / part).mkdir()
        (folder / "munge.key").write_bytes(secrets.token_bytes(1024))
        (folder / "munge.key").chmod(0o600)
        port = random.randrange(20_000, 50_000)
        host, user = platform.node().split(".")[0], getpass.getuser()
        values = {"host": host, "port": port, "next_port": port + 1, "user": user}
        (folder / "slurm.conf").write_text(_CONFIGURATION.format(folder=folder, **values))
        # Slurm wants devices; nothing is read from them.
        (folder / "gres.conf").write_text("Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n")
        environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        files = {"key-file": "key", "socket": "socket", "log-file": "log", "seed-file": "seed"}
        munged = [f"--{option}={folder}/munge.{name}" for option, name in files.items()]
        munged = ["munged", "--force", *munged, f"--pid-file={folder}/munged.pid"]
        try:
            for command in (munged, ["slurmctld", "-i"], ["slurmd", "-N", host]):
                _start(command, environment)
            _wait_until_idle(environment, folder)
            yield environment
        finally:
            for daemon in ("slurmd", "slurmctld", "munged"):
                _stop(folder / f"{daemon}.pid")


def _start(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{command[0]} does not start here: {done.stderr.strip()[-300:]}")


def _wait_until_idle(environment: dict[str, str], folder: Path) -> None:
    command = ["sinfo", "--noheader", "--partition=all", "--format=%t"]
    for _ in range(_SECONDS_TO_START):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.stdout.strip() == "idle":
            return
        time.sleep(1)
    log = (folder / "slurmctld.log").read_text()
    pytest.skip(f"Slurm does not start here: {log.strip()[-300:]}")


def _stop(pid_file: Path) -> None:
    """End a daemon, and wait for its end."""
    if not pid_file.exists():
        return
    pid = int(pid_file.read_text())
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
        for _ in range(100):
            time.sleep(0.1)
            os.kill(pid, 0)
        os.kill(pid, signal.SIGKILL)
