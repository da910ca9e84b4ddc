"""Ways of executing many jobs: worker processes of this machine, a Ray cluster, Slurm.

All of them do the same with the same words: `Executor.run_all` gives each item to a function in
another process, passes its events on, and returns what it found, in the order of the items.
"""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from onward.errors import OnwardError
from onward.executors.executor import Executor, Request
from onward.executors.local import LocalExecutor


@contextlib.contextmanager
def opened(request: Request, options: Mapping[str, Any], out: Path) -> Iterator[Executor]:
    """Return the executor that is asked for; refuse what it cannot do, before anything is run.

    Parameters
    ----------
    request
        What is to be executed where.
    options
        Options of Slurm by name.
    out
        The results folder.
    """
    if options and request.on != "slurm":
        raise OnwardError(
            f"expected --on slurm with --slurm {next(iter(options))}=..., found --on {request.on}. "
            "Choose one"
        )
    if request.on == "ray":
        from onward.executors.ray import cluster

        with cluster(request) as executor:
            yield executor
    elif request.on == "slurm":
        from onward.executors.slurm import SlurmExecutor

        yield SlurmExecutor(request, options, out)
    else:
        yield LocalExecutor(request)
