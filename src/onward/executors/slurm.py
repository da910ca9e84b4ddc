"""Jobs as elements of Slurm job arrays, submitted with submitit."""

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from onward.errors import OnwardError, unknown
from onward.executors.event_files import EventReader, EventWriter
from onward.executors.executor import (
    ONE_THREAD,
    R,
    Request,
    T,
    Work,
    WorkerLostError,
    cores,
    environment,
)
from onward.executors.slurm_queue import SlurmQueue, cancel
from onward.files import storage
from onward.turns import Watch

OPTIONS: dict[str, tuple[str, type]] = {
    "partition": ("slurm_partition", str),
    "time": ("timeout_min", int),
    "memory": ("mem_gb", float),
    "cpus": ("cpus_per_task", int),
    "account": ("slurm_account", str),
    "qos": ("slurm_qos", str),
    "constraint": ("slurm_constraint", str),
    "nodelist": ("slurm_nodelist", str),
    "exclude": ("slurm_exclude", str),
    "gres": ("slurm_gres", str),
    "requeues": ("max_num_timeout", int),
    "cluster": ("cluster", str),
}
"""Options of ``--slurm``: the name that submitit has for each, and its type."""
_USUAL = {"time": 60, "requeues": 100, "cluster": "slurm"}
_WORDS = {int: "a whole number of at least 1", float: "a number above 0", str: "a text"}


class SlurmExecutor:
    """Elements of a job array, by default as many at a time as there are runs.

    Each element asks for the cores and GPUs of one job. A job that is preempted, or whose time is
    over, is put into the queue again and continues from its last checkpoint. All machines see the
    results folder under the same name. With the option ``cluster=local``, submitit runs the jobs on
    this machine, without Slurm.
    """

    def __init__(self, request: Request, options: Mapping[str, Any], out: Path) -> None:
        self._options = {**_USUAL, "cpus": request.cpus, **_checked(options)}
        self._local = self._options["cluster"] == "local"
        self._out = out
        request.require_any_device()
        gpus = request.gpus_per_job
        if gpus is None:
            # Nobody knows here whether the nodes of a partition have any.
            gpus = float("cuda" in request.devices)
        if gpus != int(gpus):
            raise OnwardError(
                f"expected a whole number of --gpus-per-job with --on slurm, found {gpus:g}: Slurm "
                "gives a GPU to one job at a time. Leave it out, or choose 0 or 1"
            )
        self._gpus = int(gpus)
        try:
            # Otherwise it configures logging, which closes all handlers that there are, and some of
            # these (absl's) close their streams.
            with environment({"SUBMITIT_LOG_LEVEL": "NOCONFIG"}):
                import submitit  # noqa: F401
        except ImportError as error:
            raise OnwardError(
                "expected submitit to be installed for --on slurm, found none. Install it with "
                "pip install 'onward[slurm]'"
            ) from error
        if not self._local and not all(map(shutil.which, ("sbatch", "srun", "squeue"))):
            raise OnwardError(
                "expected Slurm's commands (sbatch, srun, squeue) for --on slurm, found none. Run "
                "the command on a machine that submits jobs, or try it with --slurm cluster=local"
            )
        self.workers = request.workers or (cores() if self._local else max(1, request.runs))

    def run_all(
        self,
        work: Work[T, R],
        items: Sequence[T],
        out: Path,
        watch: Watch,
        *,
        workers: int | None = None,
    ) -> list[R | Exception]:
        """Do something with each of several items; one element of a job array for each."""
        limit = workers or self.workers
        with storage(self._out):
            hidden = self._out.absolute() / ".slurm"
            hidden.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=hidden))
            (folder / "events").mkdir()
        elements = [
            _Element(work, item, out.absolute(), Path.cwd(), folder / "events") for item in items
        ]
        waiting = list(enumerate(elements))
        found: dict[int, R | Exception] = {}
        running: dict[int, Any] = {}
        queue, events = SlurmQueue(), EventReader(folder / "events")
        try:
            while waiting or running:
                # Slurm gets all of them at once and keeps the limit itself.
                now = waiting[: limit - len(running)] if self._local else waiting
                if now:
                    waiting = waiting[len(now) :]
                    jobs = self._submit([element for _, element in now], folder, limit)
                    running.update(zip([place for place, _ in now], jobs, strict=True))
                time.sleep(0.2 if self._local else 1.0)
                events.pass_on(watch)
                for place in self._ended(running, queue):
                    found[place] = _result(running.pop(place))
            events.pass_on(watch)
        finally:
            # Also after Ctrl-C: a run folder is whole at every moment, so a job may be stopped
            # wherever it is.
            self._cancel(running.values())
            events.close()
        return [found[place] for place in range(len(items))]

    def _submit(
        self, elements: Sequence["_Element[Any, Any]"], folder: Path, limit: int
    ) -> list[Any]:
        """Submit elements as one job array."""
        import submitit

        options = dict(self._options)
        cluster = options.pop("cluster")
        requeues = {f"{cluster}_max_num_timeout": options.pop("requeues")}
        executor = submitit.AutoExecutor(folder / "%j", cluster=cluster, **requeues)
        executor.update_parameters(
            name="onward",
            gpus_per_node=self._gpus or None,
            slurm_array_parallelism=limit,
            **{OPTIONS[name][0]: value for name, value in options.items()},
        )
        said = io.StringIO()
        try:
            # submitit prints what is part of our message.
            with environment(ONE_THREAD), contextlib.redirect_stderr(said), executor.batch():
                return [executor.submit(element) for element in elements]
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            lines = str(error).replace("sbatch: error: ", "").strip().splitlines()
            why = "; ".join(line for line in lines if line)
            raise OnwardError(
                f"expected Slurm to accept the jobs, found that it does not: {why}. Change the "
                "options of --slurm, or ask who runs the cluster"
            ) from error

    def _ended(self, running: Mapping[int, Any], queue: SlurmQueue) -> list[int]:
        """Return the places of the jobs that have ended."""
        if self._local:
            return [place for place, job in running.items() if job.done()]
        ended = [place for place, job in running.items() if job.paths.result_pickle.exists()]
        left = {job.job_id: place for place, job in running.items() if place not in ended}
        return ended + [left[name] for name in queue.lost(left)]

    def _cancel(self, jobs: Any) -> None:
        if not self._local:
            cancel([job.job_id for job in jobs])
            return
        for job in jobs:
            job.cancel(check=False)


@dataclass(frozen=True)
class _Element(Generic[T, R]):
    """What one element of an array does, as submitit calls it, also after a requeue."""

    work: Work[T, R]
    item: T
    out: Path
    here: Path
    events: Path

    def __call__(self) -> R:
        """Do it; what a name of a file means is decided where the command was given."""
        if self.here.is_dir():
            os.chdir(self.here)
        _end_at_once_when_requeued()
        return self.work(self.item, self.out, EventWriter(self.events))

    def checkpoint(self) -> Any:
        """Return what is done after a requeue: the same, which continues from the checkpoints."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


def _end_at_once_when_requeued() -> None:
    """End this process as soon as submitit has requeued its job.

    submitit calls `sys.exit` in the middle of whatever is being computed, which a learner, or who
    reports the failure of a run, would take for an exception of the run.
    """
    number = signal.Signals["SIG" + os.environ.get("SUBMITIT_PREEMPT_SIGNAL", "USR2")]
    requeue: Any = signal.getsignal(number)

    def handle(signum: int, frame: Any) -> None:
        code: Any = 1
        try:
            requeue(signum, frame)
        except SystemExit as end:
            code = end.code
        except Exception as error:  # noqa: BLE001 (nothing may come between)
            print(error, file=sys.stderr)  # noqa: T201 (into the log of the job)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code & 255 if isinstance(code, int) else 1)

    signal.signal(number, handle)


def _result(job: Any) -> Any:
    """Return what a job that has ended gave, or how it ended."""
    if not job.paths.result_pickle.exists():
        return WorkerLostError(
            f"its job {job.job_id} ended before the run was finished (out of memory, or of time?). "
            f"Its log: {job.paths.stderr}"
        )
    try:
        return job.result()
    except RuntimeError as error:  # of submitit: the function could not even be called
        last = str(error).strip().splitlines()[-1]
        return WorkerLostError(
            f"its job {job.job_id} could not begin: {last}. Its log: {job.paths.stderr}"
        )


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of Slurm with the types that they should have."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name == "gpus":
            raise OnwardError(
                f"expected GPUs to be asked for by --gpus-per-job {value}, found --slurm "
                f"gpus={value}. Use the first"
            )
        if name not in OPTIONS:
            raise unknown("option of --slurm", name, OPTIONS, "onward run --help")
        kind = OPTIONS[name][1]
        number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        fits = kind is str or (number and (kind is float or value == int(value)))
        if not fits or (name == "cluster" and value not in ("slurm", "local")):
            words = "slurm or local" if name == "cluster" else _WORDS[kind]
            raise OnwardError(f"expected {words} for --slurm {name}, found {value!r}")
        found[name] = kind(value)
    return found
