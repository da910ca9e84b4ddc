from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onward
from onward.benchmarks import retrained
from onward.checks.tiny import tiny_benchmark
from onward.failures import FailedRun, RunsFailedError
from onward.methods import METHODS
from onward.methods.finetune import Finetune
from onward.methods.lwf import LwF
from onward.models.classifier import Classifier
from onward.results.check import check_folder
from onward.results.record import RunRecord
from onward.sweep import Job, Source, bundled
from onward.together import Variant, run_together
from onward.turns import Event
from onward.types import Benchmark

RATES = [Variant("finetune", training={"lr": rate}) for rate in (0.1, 0.3, 0.5)]


class Outputs:
    """Notes what each run predicts after each period."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int | None], Any] = {}

    def __call__(self, event: Event) -> None:
        if event.kind == "tested":
            self.found[event.spec.hash, event.period] = np.array(event.outputs)


class Stop(BaseException):
    """All runs are interrupted, as by Ctrl-C."""


def _alone(benchmark: Benchmark, variant: Variant, out: Path | None, watch: Any) -> Any:
    return onward.run(
        retrained(benchmark, variant.training),
        variant.method,
        out=out,
        options=variant.options,
        limits=variant.limits,
        watch=watch,
    )


def _assert_as_alone(benchmark: Benchmark, variants: list[Variant]) -> None:
    together, alone = Outputs(), Outputs()
    records = run_together(benchmark, variants, watch=together)
    singles = [_alone(benchmark, variant, None, alone) for variant in variants]
    assert [record.spec for record in records] == [record.spec for record in singles]
    assert together.found.keys() == alone.found.keys()
    for key, outputs in alone.found.items():
        np.testing.assert_allclose(together.found[key], outputs, rtol=1e-4, atol=1e-5)
    for record, single in zip(records, singles, strict=True):
        assert record.cost is not None
        assert single.cost is not None
        for counted in ("samples", "iterations", "macs", "parameters", "stored_samples"):
            assert getattr(record.cost, counted) == getattr(single.cost, counted), counted


@pytest.mark.parametrize("protocol", ["iid", "online"])
def test_all_methods_learn_together_what_they_learn_alone(protocol: str) -> None:
    benchmark = tiny_benchmark(protocol)
    fitting = [n for n, card in METHODS.items() if card.misfit(*benchmark.lacking) is None]
    _assert_as_alone(benchmark, [Variant(name) for name in fitting])


def test_hyperparameters_batches_and_budgets_may_differ() -> None:
    variants = [
        *RATES,
        Variant("finetune", training={"epochs": 5, "momentum": 0.0}),
        Variant("finetune", training={"batch_size": 16, "weight_decay": 0.01}),
        Variant("er", {"memory": 10}, limits={"iterations": 3}),
        Variant("er", {"memory": 10}),
        Variant("agem", {"sample": 5}),
    ]
    _assert_as_alone(tiny_benchmark(), variants)


class Majority:
    """Not a gradient learner: always the label that it saw most."""

    def learn(self, view: Any, budget: Any) -> None:
        self.label = int(np.bincount(view.labels).argmax())

    def predict(self, view: Any) -> Any:
        return np.full(len(view), self.label)


def test_any_other_learner_takes_its_turn_alone() -> None:
    benchmark = tiny_benchmark()
    records = run_together(benchmark, [RATES[0], Variant(Majority), RATES[1]])
    assert records[1].scores == onward.run(benchmark, Majority).scores


def test_the_same_run_twice_is_one_run(tmp_path: Path) -> None:
    events: list[str] = []
    records = run_together(
        tiny_benchmark(),
        [RATES[0], RATES[0]],
        out=tmp_path,
        watch=lambda event: events.append(event.kind),
    )
    assert events.count("done") == 1
    assert records[0].path == records[1].path


def test_shared_time_is_charged_once() -> None:
    import time

    begun = time.process_time()
    records = run_together(tiny_benchmark(), RATES)
    whole = time.process_time() - begun
    spent = [record.cost.cpu_seconds for record in records if record.cost]
    assert min(spent) > 0
    assert sum(spent) <= whole


def _weights(record: RunRecord) -> bytes:
    """Return the learner's arrays in the last checkpoint of a run."""
    assert record.path is not None
    (last,) = (record.path / "checkpoint").iterdir()
    return (last / "learner" / "arrays.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("where", "seconds"),
    [
        (("learned", 1, 1), 0.0),
        (("tested", 2, 0), 0.0),
        (("saved", 150, 2), 0.0),
        (("tested", 2, 0), 1e9),
        (("saved", 13, 2), 1e9),
        (("saved", 14, 2), 1e9),
    ],
)
def test_interrupted_runs_end_as_if_nothing_had_happened(
    tmp_path: Path,
    where: tuple[str, int, int],
    seconds: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One is interrupted, the others stand elsewhere."""
    kind, number, run = where
    benchmark, methods = tiny_benchmark(), ["si", "lwf", "agem"]
    variants = [Variant("si"), Variant("lwf"), Variant("agem", training={"epochs": 20})]
    whole = run_together(benchmark, variants, out=tmp_path / "whole")
    out = tmp_path / "cut"
    saves = 0

    def watch(event: Event) -> None:
        if (event.kind, event.period) == (kind, number) and event.spec.method == methods[run]:
            raise Stop

    from onward.train.learner import GradientLearner

    save = GradientLearner.save

    def counted(self: GradientLearner, folder: Path) -> None:
        nonlocal saves
        saves += 1
        if kind == "saved" and saves > number:
            raise Stop
        save(self, folder)

    monkeypatch.setattr(GradientLearner, "save", counted)
    with pytest.raises(Stop):
        run_together(benchmark, variants, out=out, watch=watch, checkpoint_seconds=seconds)
    monkeypatch.undo()
    records = run_together(benchmark, variants, out=out)
    for before, after in zip(whole, records, strict=True):
        assert before.path is not None
        assert after.path is not None
        assert check_folder(after.path) == []
        stored = [(record.path / "scores.jsonl").read_bytes() for record in (before, after)]
        assert stored[0] == stored[1]
        assert _weights(before) == _weights(after)


def test_a_run_that_is_resumed_beside_others_keeps_its_slot(tmp_path: Path) -> None:
    benchmark, last = tiny_benchmark(), len(tiny_benchmark().stream(0)) - 1
    variants = [Variant("ewc"), Variant("si"), *RATES]
    whole = run_together(benchmark, variants, out=tmp_path / "whole")

    def watch(event: Event) -> None:
        if (event.kind, event.period, event.spec.method) == ("learned", last, "si"):
            raise Stop

    with pytest.raises(Stop):
        run_together(benchmark, variants, out=tmp_path / "cut", watch=watch)
    # Only one of those that are behind, beside a run that begins now.
    records = run_together(benchmark, [Variant("lwf"), variants[1]], out=tmp_path / "cut")
    assert _weights(records[1]) == _weights(whole[1])


def _job(method: str = "finetune", seed: int = 0, protocol: str = "iid", **training: Any) -> Job:
    return Job(Source("clear", "emoji", protocol, training=training), method, seed)


def test_a_small_sweep_keeps_both_workers_busy() -> None:
    rates = [_job(lr=0.1 * number) for number in range(1, 9)]
    assert [len(bundle) for bundle in bundled(rates, workers=2)] == [4, 4]
    assert [len(bundle) for bundle in bundled(rates, workers=1)] == [8]
    seeds = [_job(method, seed) for seed in range(3) for method in ("ewc", "si")]
    assert sorted(len(bundle) for bundle in bundled(seeds, workers=2)) == [1, 1, 2, 2]
    everything = [job for bundle in bundled(seeds, workers=2) for job in bundle]
    assert sorted(map(id, everything)) == sorted(map(id, seeds))


def test_only_runs_of_one_stream_are_bundled_and_online_ones_never() -> None:
    mixed = [_job(seed=0), _job(seed=1), _job(protocol="streaming"), _job("si")]
    assert sorted(map(len, bundled(mixed, workers=1))) == [1, 1, 2]
    online = [_job(method, protocol="online") for method in ("ewc", "si")]
    assert [len(bundle) for bundle in bundled(online, workers=1)] == [1, 1]


def test_methods_that_begin_alike_do_the_work_once(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    forward = Classifier.forward

    def counted(self: Classifier, inputs: Any) -> Any:
        steps.append(len(inputs))
        return forward(self, inputs)

    monkeypatch.setattr(Classifier, "forward", counted)
    benchmark = tiny_benchmark("iid", model="mlp")
    variants = [Variant(name) for name in ("finetune", "er", "cumulative", "si")]
    learned: list[int] = []

    def watch(event: Event) -> None:
        if event.kind == "learned" and event.period == 0:
            learned.append(len(steps))

    onward.run(benchmark, "finetune", watch=watch)
    steps.clear()
    records = run_together(benchmark, variants, watch=watch)
    alone, *all_four = learned
    # SI accounts for every step itself; of the others, one learns the first period for all.
    assert all_four == [2 * alone] * 4
    singles = [onward.run(benchmark, variant.method) for variant in variants]
    for record, single in zip(records, singles, strict=True):
        assert record.scores == single.scores


class Tenth(LwF):
    """Begins like LwF, but with a tenth of its loss."""

    def compute_loss(self, step: Any) -> Any:
        loss = super().compute_loss(step)
        return loss / 10


class OnTheInstance(Finetune):
    """Hangs another answer on itself."""

    def begin(self, setting: Any) -> None:
        super().begin(setting)
        usual = self.compute_loss
        self.compute_loss = lambda step: usual(step) / 10  # type: ignore[method-assign]


@pytest.mark.parametrize("other", [Tenth, OnTheInstance])
def test_methods_that_only_look_alike_learn_on_their_own(other: type) -> None:
    _assert_as_alone(tiny_benchmark("iid", model="mlp"), [Variant("finetune"), Variant(other)])


class RaisesIn(Finetune):
    """Raises an exception in the second period, or returns what cannot be used."""

    def __init__(self, *, stage: str) -> None:
        self._stage, self._calls, self._saved = stage, 0, 0

    def training_data(self, new: Any, budget: Any) -> Any:
        self._calls += 1
        self._raise("training_data")
        return super().training_data(new, budget)

    def on_after_backward(self, step: Any) -> None:
        self._raise("on_after_backward")

    def compute_loss(self, step: Any) -> Any:
        self._raise("compute_loss")
        loss = super().compute_loss(step)
        wrong = self._stage == "shape" and self._calls == 2
        return loss[None] if wrong else loss

    def on_learn_end(self, model: Any, new: Any, budget: Any) -> None:
        self._raise("on_learn_end")

    def _raise(self, stage: str) -> None:
        if (stage, self._calls) == (self._stage, 2):
            raise ValueError("boom")


class CannotBeSaved(Finetune):
    """Learns like finetuning, so that one of them does the work for all; saving it fails."""

    saves = 0

    def save_step_state(self) -> Any:
        self.saves += 1
        if self.saves == 3:
            raise ValueError("boom")
        return super().save_step_state()


class ReadsTwice(Finetune):
    """Leaves too few passes for the steps of training."""

    def training_data(self, new: Any, budget: Any) -> Any:
        new.inputs()
        return super().training_data(new, budget)


class CannotPredict(Majority):
    def predict(self, view: Any) -> Any:
        raise ValueError("boom")


@pytest.mark.parametrize(("model", "place"), [("linear", 1), ("mlp", 0)])
@pytest.mark.parametrize(
    "bad",
    [
        *(
            Variant(RaisesIn, {"stage": stage})
            for stage in (
                "training_data",
                "compute_loss",
                "shape",
                "on_after_backward",
                "on_learn_end",
            )
        ),
        Variant(CannotBeSaved),
        Variant(CannotPredict),
        Variant("finetune", limits={"batch_size": 3}),
        Variant(ReadsTwice, limits={"passes": 2}),
    ],
)
def test_a_run_that_raises_leaves_the_others_as_they_are_alone(
    tmp_path: Path, bad: Variant, place: int, model: str
) -> None:
    benchmark = tiny_benchmark("iid", model=model)
    good = [Variant("finetune"), Variant("er", {"memory": 10}), Variant("si")]
    variants = [*good[:place], bad, *good[place:]]
    with pytest.raises(RunsFailedError) as found:
        run_together(benchmark, variants, out=tmp_path, checkpoint_seconds=0)
    assert isinstance(found.value.results[place], FailedRun)
    for record, variant in zip(found.value.records, good, strict=True):
        alone = onward.run(benchmark, variant.method, options=variant.options)
        assert record.scores == alone.scores
        assert record.cost is not None
        assert alone.cost is not None
        for counted in ("samples", "iterations", "macs"):
            assert getattr(record.cost, counted) == getattr(alone.cost, counted), counted
