import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import onward
from onward import sweep as sweeping
from onward.benchmarks import Source
from onward.benchmarks.variants import as_asked, for_tuning
from onward.checks import check_stream, tiny_benchmark
from onward.checks.noise import with_noise
from onward.errors import OnwardError
from onward.failures import RunsFailedError
from onward.tuning import load_tuned, tune
from onward.types import Benchmark

GRID = {"lr": [0.001, 1], "strength": [0.4]}


def test_the_better_settings_are_chosen_and_the_spec_of_a_run_tells_the_whole_story(
    tmp_path: Path,
) -> None:
    source = Source("clear")
    tuned = tune(source, "ewc", GRID, tmp_path, seeds=(0, 1))
    assert tuned == load_tuned(tmp_path) == load_tuned(tmp_path / "tuned.json")
    assert (tuned.options, tuned.training) == ({"strength": 0.4}, {"lr": 1})
    low, high = (candidate.score for candidate in tuned.candidates)
    assert high > low + 0.05
    assert tuned.periods == ["2017-05", "2017-12", "2020-01"]
    records = [json.loads(p.read_text()) for p in (tmp_path / "results").rglob("cost.json")]
    assert tuned.spent["runs"] == len(records) == 4
    assert tuned.spent["macs"] == sum(record["macs"] for record in records)
    made = tuned.for_run(source, "ewc").load()
    assert made.recipes["cpu"].lr == 1.0
    record = onward.run(made, "ewc", options=tuned.options, tuned=tuned.summary())
    assert record.spec.tuned is not None
    assert record.spec.tuned["spent"] == tuned.spent
    assert record.spec.tuned["grid"] == GRID
    assert record.spec.tuned["periods"] == tuned.periods


def test_test_samples_and_later_periods_are_not_in_what_is_tuned_on() -> None:
    for protocol in ("iid", "streaming", "online", "semi_supervised"):
        whole = onward.load("clear", protocol=protocol).stream(0)
        part = onward.load("clear", protocol=protocol, tuning_periods=3).stream(0)
        assert len(part) == 3
        assert not part.static
        tested = np.concatenate([period.test.rows for period in whole])
        later = np.concatenate([period.shown for period in whole[3:]])
        for period, full in zip(part, whole, strict=False):
            used = np.concatenate([period.shown, period.test.rows])
            assert not np.intersect1d(used, np.concatenate([tested, later])).size
            assert len(period.test) > 0.15 * len(used) or protocol == "semi_supervised"
            assert np.isin(used, full.shown).all()
    groups = part.table.values("group")
    learned = {group for period in part for group in groups[period.shown]}
    assert not learned & {group for period in part for group in groups[period.test.rows]}


def test_noise_in_place_of_the_future_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole choice, with what it was made on: prepared inputs, scores and costs alike."""
    plain = tiny_benchmark("streaming")
    stream = plain.stream(0)
    noised = with_noise(plain, stream, 1)
    changed = noised.raw.wide["point"][stream[2].train.rows]
    assert not np.array_equal(changed, plain.raw.wide["point"][stream[2].train.rows])

    def choice(benchmark: Benchmark, out: Path) -> tuple[object, ...]:
        def found(source: Source, *, here: bool = True) -> Benchmark:
            inner = source.options.get("tuning_periods")
            made = as_asked(benchmark, tuning_periods=inner)
            recipe = replace(made.recipes["cpu"], **source.training)
            return replace(made, recipes={"cpu": recipe})

        monkeypatch.setattr(sweeping, "benchmark_of", found)
        monkeypatch.setattr("onward.tuning.benchmark_of", found)
        tuned = tune(Source("tiny"), "er", {"lr": [0.01, 0.1, 1.0]}, out, periods=2)
        spent = {name: tuned.spent[name] for name in ("runs", "macs", "samples")}
        return tuned.training, [candidate.score for candidate in tuned.candidates], spent

    assert choice(plain, tmp_path / "a") == choice(noised, tmp_path / "b")


def test_what_is_tuned_on_is_a_sound_stream() -> None:
    tuned_on = onward.load("clear", protocol="iid", tuning_periods=3)
    only = ("periods_share_no_sample", "groups_stay_on_one_side", "labels_are_classes")
    assert len(check_stream(tuned_on, only=only).passed) == 3


def test_a_budget_stops_before_it_is_exceeded_and_says_what_was_not_tried(tmp_path: Path) -> None:
    grid = {"lr": [0.1, 0.3, 1.0]}
    tuned = tune(Source("clear"), "finetune", grid, tmp_path, periods=2, limits={"runs": 2})
    assert (len(tuned.candidates), tuned.untried, tuned.spent["runs"]) == (2, 1, 2)
    macs = tuned.candidates[0].spent["macs"]
    less = tune(Source("clear"), "finetune", grid, tmp_path, periods=2, limits={"macs": 1.5 * macs})
    assert len(less.candidates) == 1


def test_what_cannot_be_tuned_is_refused(tmp_path: Path) -> None:
    source = Source("clear")
    with pytest.raises(OnwardError, match="which is called lr"):
        tune(source, "finetune", {"learning_rate": [1]}, tmp_path)
    with pytest.raises(OnwardError, match="at least one name and one value"):
        tune(source, "finetune", {}, tmp_path)
    with pytest.raises(OnwardError, match="unknown budget of a tuning"):
        tune(source, "finetune", {"epochs": [1]}, tmp_path, limits={"run": 3})
    stream = onward.load("clear").stream(0)
    for periods in (1, 7):
        with pytest.raises(OnwardError, match="2 to 6 of the 7 periods"):
            for_tuning(stream, periods, "future", 0)
    with pytest.raises(OnwardError, match="found nothing there"):
        load_tuned(tmp_path / "nowhere")
    (tmp_path / "tuned.json").write_text("{}")
    with pytest.raises(OnwardError, match="found something else"):
        load_tuned(tmp_path)


def test_settings_tuned_for_something_else_are_refused(tmp_path: Path) -> None:
    tuned = tune(Source("clear"), "nap", {"epochs": [1]}, tmp_path, periods=2)
    with pytest.raises(OnwardError, match="tuned for the method nap, found a run with er"):
        tuned.for_run(Source("clear"), "er")
    with pytest.raises(OnwardError, match="tuned for the protocol streaming, found a run with iid"):
        tuned.for_run(Source("clear", protocol="iid"), "nap")
    with pytest.raises(OnwardError, match="tuned for the model linear, found a run with mlp"):
        tuned.for_run(Source("clear", options={"model": "mlp"}), "nap")
    with pytest.raises(OnwardError, match="tuned for the options"):
        tuned.for_run(Source("clear", options={"new_classes": True}), "nap")
    with pytest.raises(OnwardError, match="tuned for the recipe"):
        tuned.for_run(Source("clear", training={"batch_size": 64}), "nap")
    longer = tuned.for_run(Source("clear", recipe="paper"), "nap")
    assert longer.load().recipes["paper"].epochs == 1


def test_a_budget_of_fewer_runs_than_seeds_pays_for_nothing(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="does not pay for one"):
        tune(Source("clear"), "nap", {"epochs": [1]}, tmp_path, seeds=(0, 1), limits={"runs": 1})
    assert not (tmp_path / "results").exists()


def test_a_candidate_that_diverges_is_told_and_the_others_are_judged(tmp_path: Path) -> None:
    grid = {"lr": [1.0, 3e38], "epochs": [2]}
    tuned = tune(Source("clear"), "finetune", grid, tmp_path, periods=2)
    good, bad = tuned.candidates
    assert good.score is not None
    assert bad.score is None
    assert tuned.training["lr"] == 1.0
    assert tuned.spent["runs"] == 2
    with pytest.raises(OnwardError, match="each one diverged"):
        tune(Source("clear"), "finetune", {"lr": [3e38]}, tmp_path, periods=2)


def test_a_candidate_that_raises_is_named_once_the_others_are_finished(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text(
        "import numpy as np\n"
        "class Picky:\n"
        "    def __init__(self, number=0): self.number = number\n"
        "    def learn(self, view, budget): 1 / self.number\n"
        "    def predict(self, view): return np.zeros(len(view), int)\n"
    )
    with pytest.raises(RunsFailedError, match=r"1 of 3 runs failed.*\n.*ZeroDivisionError"):
        tune(Source("clear"), f"{source}:Picky", {"number": [0, 1, 2]}, tmp_path, periods=2)
    assert len(list((tmp_path / "results").rglob("cost.json"))) == 2
    assert not (tmp_path / "tuned.json").exists()
