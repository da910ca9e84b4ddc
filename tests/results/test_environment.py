"""What a run computed on is recorded, also where it was resumed on something else."""

import json
from pathlib import Path
from typing import Any

import pytest
from stopped_runs import Interrupt, Plain, run_tiny, stop_at

import onward
from onward.checks.tiny import tiny_benchmark
from onward.report.provenance import environments
from onward.results.check_many import check_results
from onward.results.cost import environment
from onward.results.record import load_record
from onward.results.schema import Environment


def stopped_then_resumed(out: Path, **hardware: Any) -> Path:
    with pytest.raises(Interrupt):
        run_tiny(out, watch=stop_at("tested", 1))
    record = onward.run(tiny_benchmark(), "er", out=out, **hardware)
    assert record.path is not None
    return record.path


def test_device_workers_threads_and_versions_are_recorded(tmp_path: Path) -> None:
    path = onward.run(tiny_benchmark(), "er", out=tmp_path, device="cpu", workers=1, threads=2).path
    assert path is not None
    found = json.loads((path / "env.json").read_text())
    assert (found["device"], found["device_name"]) == ("cpu", None)
    assert (found["workers"], found["threads"]) == (1, 2)
    assert {"torch", "torchvision", "timm", "numpy"} <= found["packages"].keys()


def test_a_learner_that_does_not_say_what_it_computes_on_has_no_device(tmp_path: Path) -> None:
    found = load_record(run_tiny(tmp_path, Plain)).environment
    assert found is not None
    assert (found.device, found.workers, found.threads) == (None, None, None)


def test_files_of_before_are_read() -> None:
    old = {"onward": "0.1.0", "python": "3.11", "platform": "p", "cpus": 2, "packages": {}}
    found = Environment.model_validate_json(json.dumps(old))
    assert (found.device, found.threads) == (None, None)
    # What it does not say is not compared.
    assert found.changed(found.model_copy(update={"device": "cuda:0", "threads": 4})) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"workers": 8, "cpus": 64}, []),
        ({"device": "cuda:0", "device_name": "A"}, ["device"]),
        ({"threads": 4, "processes": 2}, ["number of threads", "number of processes"]),
        ({"packages": {"torch": "1"}, "python": "3.99"}, ["version of Python", "version of a pac"]),
    ],
)
def test_only_what_may_change_results_counts_as_a_change(
    changes: dict[str, Any], words: list[str]
) -> None:
    begun = environment(device="cpu", workers=0, threads=1)
    found = begun.changed(begun.model_copy(update=changes))
    assert len(found) == len(words)
    assert all(one.startswith(word) for one, word in zip(found, words, strict=True))


def test_a_run_that_is_resumed_as_it_began_says_nothing(tmp_path: Path) -> None:
    path = stopped_then_resumed(tmp_path, workers=2)
    assert not (path / "resumed.jsonl").exists()
    assert load_record(path).changed_on_resume == []


def test_a_run_that_is_resumed_on_other_threads_says_so(tmp_path: Path) -> None:
    path = stopped_then_resumed(tmp_path, threads=2)
    record = load_record(path)
    assert [found.threads for found in record.resumed] == [2]
    assert record.environment is not None
    assert record.environment.threads == 1
    assert record.changed_on_resume == ["number of threads"]
    assert [found.threads for found in environments([record])] == [1, 2]
    checked = check_results([path])
    assert checked.problems == ()
    assert (
        f"{path} was resumed with another number of threads: repeats are not bit-identical"
        in checked.notes
    )


def test_each_change_is_recorded_once(tmp_path: Path) -> None:
    for period, threads in ((0, 1), (1, 2), (2, 2)):
        with pytest.raises(Interrupt):
            onward.run(
                tiny_benchmark(),
                "er",
                out=tmp_path,
                threads=threads,
                watch=stop_at("tested", period),
            )
    record = onward.run(tiny_benchmark(), "er", out=tmp_path, threads=1)
    assert [found.threads for found in record.resumed] == [2, 1]


def test_a_record_that_was_changed_is_damage(tmp_path: Path) -> None:
    path = stopped_then_resumed(tmp_path, threads=2)
    text = (path / "resumed.jsonl").read_text()
    (path / "resumed.jsonl").write_text(text.replace('"threads":2', '"threads":3'))
    (finding,) = check_results([path]).problems
    assert "resumed.jsonl" in finding.problem
    assert "is damaged" in finding.problem


def test_a_complete_run_is_not_resumed(tmp_path: Path) -> None:
    path = run_tiny(tmp_path)
    onward.run(tiny_benchmark(), "er", out=tmp_path, threads=2)
    assert not (path / "resumed.jsonl").exists()


def test_the_log_says_how_fast_each_period_was_learned(tmp_path: Path) -> None:
    text = (run_tiny(tmp_path) / "log.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    learned = [line for line in lines if line["event"] == "learned"]
    assert [line["period"] for line in learned] == [0, 1, 2, 3]
    record = load_record(run_tiny(tmp_path))
    assert record.cost is not None
    assert sum(line["samples"] for line in learned) == record.cost.samples
    for line in learned:
        assert line["samples_per_second"] > 0
        assert 0 <= line["waiting_share"] <= 1
