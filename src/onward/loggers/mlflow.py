"""MLflow: a run for each run, at the usual tracking URI or in a folder beside the results."""

import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from onward.files import locked
from onward.loggers.background import BackgroundLogger
from onward.loggers.logger import LoggedRun, scalars
from onward.results.training import TrainingRecord

FOLDER = "mlruns"
_TAG = "onward.run"
_BATCH = 1000
# Instead of minutes, which is how long MLflow tries by default.
_TRIES = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "10"}


class MLflowLogger(BackgroundLogger):
    """Logs to MLflow, in a thread.

    The tracking server is ``MLFLOW_TRACKING_URI``; without it, metrics are files in the folder
    ``mlruns`` of the results. The experiment is named like the benchmark, and a run that
    is resumed goes on with its run there, which has the tag ``onward.run``.
    """

    def __init__(self, run: LoggedRun) -> None:
        super().__init__("mlflow", partial(_MLflowRun, run))


class _MLflowRun:
    def __init__(self, run: LoggedRun) -> None:
        for name, value in _TRIES.items():
            os.environ.setdefault(name, value)
        from mlflow import MlflowClient  # loaded when it is needed

        spec, uri = run.spec, os.environ.get("MLFLOW_TRACKING_URI")
        one_at_a_time: AbstractContextManager[None] = nullcontext()
        if uri is None and run.results is not None:
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
            uri = (run.results / FOLDER).absolute().as_uri()
            one_at_a_time = locked(run.results / FOLDER / ".lock", lambda: None)
        self._client: Any = MlflowClient(tracking_uri=uri)
        # Two runs that begin at the same time share one experiment.
        with one_at_a_time:
            experiment = self._client.get_experiment_by_name(spec.benchmark)
            if experiment is None:
                number = self._client.create_experiment(spec.benchmark)
            else:
                number = experiment.experiment_id
        found = self._client.search_runs([number], f"tags.`{_TAG}` = '{spec.hash}'", max_results=1)
        # By name, the last step of each metric that is there already.
        self._last: dict[str, int] = {}
        if found:
            self._run = found[0].info.run_id
            for name in found[0].data.metrics:
                steps = [m.step for m in self._client.get_metric_history(self._run, name)]
                self._last[name] = max(steps)
        else:
            tags = {_TAG: spec.hash, "mlflow.runName": run.name}
            self._run = self._client.create_run(number, tags=tags).info.run_id
            for name in ("benchmark", "data", "method", "seed", "recipe_name"):
                self._client.log_param(self._run, name, getattr(spec, name))
        self._client.update_run(self._run, status="RUNNING")
        self.log(run.history)

    def log(self, records: Sequence[TrainingRecord]) -> None:
        """Log the values of records at their steps."""
        from mlflow.entities import Metric

        metrics = [
            Metric(name, value, int(1000 * record.time), record.step)
            for record in records
            for name, value in ((_allowed(tag), value) for tag, value in scalars(record))
            if record.step > self._last.get(name, -1)
        ]
        for start in range(0, len(metrics), _BATCH):
            self._client.log_batch(self._run, metrics=metrics[start : start + _BATCH])

    def close(self) -> None:
        """Call the run finished."""
        self._client.update_run(self._run, status="FINISHED")


def _allowed(name: str) -> str:
    """Return the name of a metric with the characters that MLflow takes."""
    return re.sub(r"[^\w\-. :/]", "_", name)
