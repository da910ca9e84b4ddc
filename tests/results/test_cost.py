"""What a meter counts, by clocks that are turned by hand, and what becomes of it."""

import hashlib
import importlib
import json
import multiprocessing
import resource
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import onward
from onward.budget import Budget
from onward.checks.tiny import tiny_benchmark
from onward.clocks import DEVICE, WAITING, Clock
from onward.hardware import Hardware
from onward.report.formats import as_csv, to_json
from onward.report.sheet import sheets
from onward.report.summary import summarise
from onward.results.cost import Meter
from onward.results.record import load_record
from onward.results.schema import Cost
from onward.train.loading import computing_on


def test_a_share_of_the_time_that_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = {"process_time": 100.0, "monotonic": 500.0}
    for name in clocks:
        monkeypatch.setattr(f"onward.results.cost.time.{name}", lambda name=name: clocks[name])

    def pass_by(cpu: float, wall: float) -> None:
        clocks["process_time"] += cpu
        clocks["monotonic"] += wall

    meter = Meter((), Cost(cpu_seconds=7.0, wall_seconds=9.0))
    pass_by(64, 64)  # before anything is charged
    meter.charge(1.0)
    pass_by(4, 8)
    meter.charge(0.0)
    pass_by(32, 32)
    meter.charge(0.25)
    pass_by(8, 16)
    cost = meter.cost(Budget({}))
    assert (cost.cpu_seconds, cost.wall_seconds) == (7 + 4 + 2, 9 + 8 + 4)


def busy(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_the_cpu_time_of_child_processes_is_counted_when_they_end() -> None:
    meter = Meter(())
    meter.charge(1.0)
    child = multiprocessing.get_context("fork").Process(target=busy, args=(0.3,))
    child.start()
    child.join()
    assert meter.cost(Budget({})).cpu_seconds >= 0.3


def test_data_loading_workers_are_counted(tmp_path: Path) -> None:
    benchmark = tiny_benchmark(model="convnet")
    recipe = replace(benchmark.recipes["cpu"], batch_size=4, epochs=1, augment="flip")
    benchmark = replace(benchmark, recipes={"cpu": recipe})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    record = onward.run(benchmark, "finetune", workers=2)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert record.cost is not None
    assert spent > 0
    assert record.cost.cpu_seconds > spent


def test_a_device_has_seconds_and_memory_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    at = [5.0]
    monkeypatch.setattr("onward.results.cost.DEVICE", Clock(lambda: at[0]))
    clock = importlib.import_module("onward.results.cost").DEVICE
    peaks = iter([300, 200])
    before = Cost(device_seconds=1.0, peak_device_memory_bytes=250)
    meter = Meter((), before, lambda: next(peaks))
    meter.charge(0.5)
    with clock:
        at[0] += 4
        cost = meter.cost(Budget({}))
        assert (cost.device_seconds, cost.peak_device_memory_bytes) == (3.0, 300)
    at[0] += 4
    cost = meter.cost(Budget({}))
    assert (cost.device_seconds, cost.peak_device_memory_bytes) == (3.0, 250)


def test_the_cpu_alone_has_no_device_costs_but_keeps_those_of_before() -> None:
    cost = Meter(()).cost(Budget({}))
    assert (cost.device_seconds, cost.peak_device_memory_bytes) == (None, None)
    before = Cost(device_seconds=1.0, peak_device_memory_bytes=250)
    cost = Meter((), before).cost(Budget({}))
    assert (cost.device_seconds, cost.peak_device_memory_bytes) == (1.0, 250)


def test_the_device_clock_stands_still_while_batches_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("onward.train.loading.resolve_device", lambda name: torch.device("meta"))
    device, waiting, began = DEVICE.seconds, WAITING.seconds, time.perf_counter()
    with computing_on(Hardware()):
        time.sleep(0.05)
        with WAITING:
            time.sleep(0.2)
    passed = time.perf_counter() - began
    waited, computed = WAITING.seconds - waiting, DEVICE.seconds - device
    assert waited >= 0.2
    assert 0.05 <= computed <= passed - waited


def test_costs_of_before_are_read(tmp_path: Path) -> None:
    path = onward.run(tiny_benchmark(), "finetune", out=tmp_path).path
    assert path is not None
    old = json.loads((path / "cost.json").read_text())
    for name in ("device_seconds", "peak_device_memory_bytes"):
        assert old.pop(name) is None
    content = json.dumps(old).encode()
    (path / "cost.json").write_bytes(content)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"]["cost.json"] = {
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    (path / "manifest.json").write_text(json.dumps(manifest))
    record = load_record(path)
    assert record.cost is not None
    assert record.cost.device_seconds is None


def test_reports_have_a_column_for_the_device_where_there_is_one() -> None:
    record = onward.run(tiny_benchmark(), "finetune")
    assert record.cost is not None
    (plain,) = sheets(summarise([record]))
    assert "device seconds" not in plain.headings
    assert "device_seconds" not in to_json(plain.summaries)[0]["cost"]
    assert "device_seconds" not in as_csv(plain.summaries)
    cost = record.cost.model_copy(update={"device_seconds": 2.5, "peak_device_memory_bytes": 10**9})
    (sheet,) = sheets(summarise([replace(record, cost=cost)]))
    assert sheet.cost_text(sheet.summaries[0], "device_seconds") == "2.50"
    assert "device seconds" in sheet.headings
    assert "device_seconds" in as_csv(sheet.summaries)
    assert to_json(sheet.summaries)[0]["cost"]["peak_device_memory_bytes"] == 10**9
