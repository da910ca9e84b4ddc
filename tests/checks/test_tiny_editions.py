"""Every benchmark of the catalogue has a tiny stream that is like it."""

from dataclasses import replace

import pytest

import onward
from onward.benchmarks import BENCHMARKS
from onward.checks import check_stream
from onward.checks.tiny_editions import tiny_like
from onward.fit import IMAGES, NEW_CLASSES, SECOND_LOOK
from onward.methods import METHODS
from onward.protocols import INCOMPLETE
from onward.tasks.one_label import OneLabel

EDITIONS = pytest.mark.parametrize("name", BENCHMARKS)


@EDITIONS
def test_it_is_like_its_benchmark(name: str) -> None:
    listed, made = BENCHMARKS[name], tiny_like(BENCHMARKS[name])
    usual = next(iter(listed.protocols.values()))
    assert made.task == listed.task
    assert replace(made.protocol, limits=usual.limits) == usual
    # Where the recipe says how much compute there is, the protocol does not.
    there = {"macs"} if SECOND_LOOK in listed.lacks else set()
    assert made.protocol.limits.keys() == usual.limits.keys() | there
    assert made.lacks == listed.lacks
    # What a method cannot have there it cannot have here; that inputs are numbers can be mended.
    lacked = {need for lacks in made.lacking for need in lacks} - {IMAGES}
    assert lacked == {need for lacks in listed.lacking for need in lacks}
    stream = made.stream(0)
    known = {period.classes for period in stream}
    assert (len(known) == 1) == (NEW_CLASSES in {*listed.lacks, *listed.task.lacks})


@EDITIONS
def test_its_stream_is_sound(name: str) -> None:
    assert check_stream(tiny_like(BENCHMARKS[name])).ok


@pytest.mark.parametrize("name", ["clear", "iirc", "clad-c", "yours"])
def test_who_needs_images_is_shown_images(name: str) -> None:
    made = tiny_like(BENCHMARKS[name], METHODS["c1"])
    assert made.table.wide["input"].shape[1:] == (8, 8, 3)
    assert len(tiny_like(BENCHMARKS[name], METHODS["er"]).table.wide["input"].shape) == 2


def test_limits_are_felt() -> None:
    drive = tiny_like(BENCHMARKS["clad-c"])
    samples = sum(len(period.train) for period in drive.stream(0))
    assert drive.protocol.limits["stored_samples"] < samples / 5
    record = onward.run(drive, "er")
    assert record.cost is not None
    assert record.cost.stored_samples == drive.protocol.limits["stored_samples"]
    pairs = tiny_like(BENCHMARKS["tic"])
    spent = onward.run(pairs, "finetune").cost
    assert spent is not None
    assert spent.macs == pairs.protocol.limits["macs"] * len(pairs.stream(0))


def test_a_drive_has_one_test_for_all_of_it() -> None:
    stream = tiny_like(BENCHMARKS["clad-c"]).stream(0)
    assert [*stream.static] == ["test"]
    assert not any(len(period.test) for period in stream)
    assert len(stream.static["test"]) > 50


def test_a_benchmark_from_elsewhere_is_known_by_its_task_kind() -> None:
    listed = replace(
        BENCHMARKS["iirc"],
        name="elsewhere",
        protocols={"mine": replace(INCOMPLETE, name="mine", limits={"stored_samples": 9})},
    )
    made = tiny_like(listed)
    assert made.protocol.name == "mine"
    record = onward.run(made, "icarl_cnn")
    assert record.cost is not None
    assert record.cost.stored_samples == 9


def test_a_task_kind_from_elsewhere_stands_for_itself() -> None:
    class Other(OneLabel):
        pass

    listed = replace(BENCHMARKS["clear"], task=Other(name="other"))
    assert tiny_like(listed).name == "clear"
