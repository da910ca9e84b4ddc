"""Many runs at once: methods, seeds and protocols, each run in its own folder.

Runs of one stream and seed go in lock step, so that those that see the same batches share them.
Where they are executed is a matter of `onward.executors`.
"""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from onward.benchmarks import Source, require_device, retrained
from onward.distributed import contained, world_size
from onward.errors import OnwardError
from onward.executors import opened
from onward.executors.executor import On, Request
from onward.failures import FailedRun, RunsFailedError, all_or_raise
from onward.hardware import ANY_HARDWARE
from onward.results.record import RunRecord, load_record
from onward.together import Variant, run_together
from onward.turns import Watch
from onward.types import Benchmark

# Of a bundle: for each run a record, its folder, or its failure; alone, the failure of all of it.
Answer = Sequence[Path | RunRecord | FailedRun] | FailedRun


@dataclass(frozen=True)
class Job:
    """One run, in words that can be sent to another process."""

    source: Source
    method: str
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    tuned: Mapping[str, Any] | None = None
    keep_predictions: bool = True
    allow_unmetered: bool = False
    checkpoint_seconds: float = 30.0
    log: tuple[str, ...] = ()
    log_every: int | None = None


def sweep(
    jobs: Sequence[Job],
    out: Path,
    *,
    workers: int | None = 1,
    watch: Watch = lambda event: None,
    on: On = "local",
    gpus_per_job: float | None = None,
    slurm: Mapping[str, Any] | None = None,
) -> list[RunRecord]:
    """Run all jobs and return their records in the same order.

    A run that fails does not end the others. Where a whole bundle fails, such as by the end of its
    worker process, each of its runs is tried once more on its own.

    Parameters
    ----------
    jobs
        What to run. Runs that are complete are not run again.
    out
        The results folder.
    workers
        How many jobs run at a time; with one on this machine, everything happens in this process.
        None is as many as the GPUs have room for, or else one per core.
    watch
        Called in this process with the events of all runs, without learners and outputs.
    on
        Where: ``local`` is worker processes of this machine, ``ray`` the tasks of a Ray cluster,
        ``slurm`` the elements of a Slurm job array.
    gpus_per_job
        GPUs of each job, such as 0.5 or 2; 0 computes on the CPU. None is one where there are GPUs.
    slurm
        Options of Slurm by name, such as ``{"partition": "gpu", "time": 120}``.

    Raises
    ------
    RunsFailedError
        If runs failed, once all others are finished; it has their records.
    """
    for job in jobs:
        benchmark_of(job.source, here=on == "local")
    if world_size() > 1:
        if on != "local":
            raise OnwardError(f"expected either torchrun or --on {on}, found both. Choose one")
        workers = 1  # they are at one run together
    request = requested(jobs, workers=workers, on=on, gpus_per_job=gpus_per_job)
    if gpus_per_job == 0:
        jobs = [_on_cpu(job) for job in jobs]
    with opened(request, slurm or {}, out) as executor:
        bundles = bundled(jobs, executor.workers)
        here = on == "local" and (executor.workers <= 1 or len(bundles) <= 1)

        def attempt(bundles: Sequence[Sequence[Job]], workers: int | None) -> list[Answer]:
            if here:
                return [_run_here(bundle, out, watch) for bundle in bundles]
            found = executor.run_all(_run_remotely, bundles, out, watch, workers=workers)
            return [
                _failed(bundle, answer, getattr(answer, "stage", None))
                if isinstance(answer, Exception)
                else answer
                for bundle, answer in zip(bundles, found, strict=True)
            ]

        return _all_runs(jobs, bundles, attempt)


def requested(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    on: On = "local",
    gpus_per_job: float | None = None,
) -> Request:
    """Return what jobs ask of whatever executes them."""
    hardware = {job.source.hardware for job in jobs}
    return Request(
        runs=len(jobs),
        devices=frozenset(each.device for each in hardware),
        cpus=max((each.threads + each.workers for each in hardware), default=1),
        workers=workers,
        on=on,
        gpus_per_job=gpus_per_job,
    )


def _on_cpu(job: Job) -> Job:
    """Return a job that computes on no GPU."""
    hardware = job.source.hardware
    if hardware.device.startswith("cuda"):
        raise OnwardError(
            f"expected --device auto or cpu with --gpus-per-job 0, found {hardware.device}. Leave "
            "one of them out"
        )
    device = "cpu" if hardware.device == "auto" else hardware.device
    return replace(job, source=replace(job.source, hardware=replace(hardware, device=device)))


def _all_runs(
    jobs: Sequence[Job],
    bundles: Sequence[Sequence[Job]],
    attempt: Callable[[Sequence[Sequence[Job]], int | None], list[Answer]],
) -> list[RunRecord]:
    """Run bundles, and again one by one what was in a bundle that failed as a whole."""
    answers: dict[int, Path | RunRecord | FailedRun] = {}
    again: list[Job] = []
    for bundle, answer in zip(bundles, attempt(bundles, None), strict=True):
        if isinstance(answer, FailedRun):
            again += bundle
        else:
            answers.update(zip(map(id, bundle), answer, strict=True))
    if again:
        # One after the other: two that ran at the same time may have run out of memory together.
        for job, answer in zip(again, attempt([[job] for job in again], 1), strict=True):
            answers[id(job)] = answer if isinstance(answer, FailedRun) else answer[0]
    found = [answers[id(job)] for job in jobs]
    return all_or_raise([load_record(one) if isinstance(one, Path) else one for one in found])


def bundled(jobs: Sequence[Job], workers: int) -> list[list[Job]]:
    """Put jobs together whose runs may share batches, without leaving a worker idle.

    That is where linear probes learn whole periods of one stream and seed, and where the first
    period, in which many methods learn the same, is the longest. As many bundles are cut in two as
    it takes to give every worker the same number of them.
    """
    together: dict[Any, list[Job]] = {}
    for number, job in enumerate(jobs):
        benchmark = benchmark_of(job.source, here=False)
        recipe = benchmark.recipes[benchmark.recipe]
        shares = recipe.model == "linear" or recipe.first_epochs is not None
        pays = shares and benchmark.protocol.batch is None
        shared = (job.keep_predictions, job.checkpoint_seconds, job.log, job.log_every)
        stream = (_name(job.source), job.source.hardware, job.seed, *shared)
        together.setdefault(stream if pays else number, []).append(job)
    bundles = sorted(together.values(), key=len, reverse=True)
    while len(bundles) % workers and len(bundles[0]) > 1:
        largest = bundles.pop(0)
        half = len(largest) // 2
        bundles = sorted([*bundles, largest[:half], largest[half:]], key=len, reverse=True)
    return bundles


def benchmark_of(source: Source, *, here: bool = True) -> Benchmark:
    """Load a benchmark once in this process, however many runs and recipes use it.

    Parameters
    ----------
    source
        The benchmark.
    here
        Whether runs compute on this machine, which then must have their device. Otherwise the
        benchmark is only looked at, on whatever this machine has.
    """
    found = _loaded(_name(source))
    if here:
        found = replace(found, hardware=source.hardware)
        require_device(found)
    return retrained(found, source.training)


def _name(source: Source) -> str:
    """Name a source up to the numbers of its recipe and the hardware."""
    return json.dumps(asdict(replace(source, training={}, hardware=ANY_HARDWARE)))


@functools.cache
def _loaded(source: str) -> Benchmark:
    return Source(**{**json.loads(source), "hardware": ANY_HARDWARE}).load()


def _run(bundle: Sequence[Job], out: Path, watch: Watch) -> Sequence[RunRecord | FailedRun]:
    first = bundle[0]
    try:
        return run_together(
            benchmark_of(replace(first.source, training={})),
            [
                Variant(
                    job.method,
                    job.options,
                    job.source.training,
                    job.limits,
                    job.tuned,
                    job.allow_unmetered,
                )
                for job in bundle
            ],
            first.seed,
            out,
            keep_predictions=first.keep_predictions,
            checkpoint_seconds=first.checkpoint_seconds,
            log=first.log,
            log_every=first.log_every,
            watch=watch,
        )
    except RunsFailedError as error:
        return error.results


def _failed(bundle: Sequence[Job], error: BaseException, stage: str | None = None) -> FailedRun:
    """Return the failure of a whole bundle, under the name of its first run."""
    return FailedRun.of(error, bundle[0].method, bundle[0].seed, stage)


def _run_here(bundle: Sequence[Job], out: Path, watch: Watch) -> Answer:
    """Run a bundle in this process."""
    try:
        return _run(bundle, out, watch)
    except SystemExit as error:  # of a learner, which is no reason to end the others
        return _failed(bundle, error)
    except Exception as error:  # noqa: BLE001 (it is returned)
        return _failed(bundle, contained(error))


def _run_remotely(bundle: Sequence[Job], out: Path, send: Watch) -> Answer:
    """Run a bundle for another process: events go there in words, records as their folders."""
    try:
        found = _run(bundle, out, lambda event: send(replace(event, learner=None, outputs=None)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 (it is returned)
        return _failed(bundle, error)
    return [(one.path or one) if isinstance(one, RunRecord) else one for one in found]
