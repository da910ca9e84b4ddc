"""Keys: a run's own account of what it was tested on is what the stream alone gives."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from silent import Silent
from small_street import small_street

import onward
from build_keys import FILE, built, editions
from onward.benchmarks import BENCHMARKS
from onward.benchmarks.rules import rules
from onward.checks.tiny import tiny_benchmark
from onward.checks.tiny_editions import tiny_like
from onward.errors import OnwardError
from onward.exam import key_of_stream, keys_of
from onward.protocols import MANY_LABELS, PROTOCOLS
from onward.results.check_many import Checked, check_results
from onward.results.keys import (
    Keys,
    encoded,
    hash_of_test,
    key_of,
    known_keys,
    name_of_test,
    named_test,
    read_keys,
    write_keys,
)
from onward.types import Benchmark

EMBEDDED = [edition for edition in editions() if not edition[2]]


def _agree(made: Benchmark, out: Path, seed: int = 0) -> None:
    record = onward.run(made, Silent, seed=seed, out=out)
    key = key_of(record)
    assert key
    assert key == key_of_stream(made.stream(seed), made.protocol)
    keys = keys_of(made, [seed])
    assert keys.find(record.spec) == key
    assert record.path is not None
    assert check_results([record.path], keys, rules()) == Checked(1, (), ())


@pytest.mark.parametrize("name", BENCHMARKS)
def test_run_and_stream_agree_on_every_tiny_edition(name: str, tmp_path: Path) -> None:
    _agree(tiny_like(BENCHMARKS[name]), tmp_path, seed=1)


@pytest.mark.parametrize("protocol", [*PROTOCOLS, *MANY_LABELS])
def test_run_and_stream_agree_under_every_protocol(protocol: str, tmp_path: Path) -> None:
    _agree(tiny_benchmark(protocol), tmp_path)


@pytest.mark.parametrize(
    "options", [{"new_classes": True}, {"tuning_periods": 3}, {"label_delay": 2}]
)
def test_run_and_stream_agree_on_variants(options: dict[str, Any], tmp_path: Path) -> None:
    _agree(onward.load("clear", protocol="iid", **options), tmp_path)


@pytest.mark.parametrize("name", ["clad-c", "clad-d"])
def test_run_and_stream_agree_on_frames_in_a_folder(name: str, tmp_path: Path) -> None:
    _agree(onward.load(name, data=small_street()), tmp_path)


def _slow_street(name: str, *more: str) -> Any:
    """Emoji Street is drawn first, where it is not yet."""
    return pytest.param(name, *more, marks=[pytest.mark.slow] if "clad" in name else [])


@pytest.mark.parametrize(
    ("name", "protocol"), [_slow_street(name, protocol) for name, protocol, _ in EMBEDDED]
)
def test_a_run_on_embedded_data_has_the_key_of_the_package(
    name: str, protocol: str, tmp_path: Path
) -> None:
    record = onward.run(onward.load(name, protocol=protocol), Silent, seed=3, out=tmp_path)
    assert known_keys().find(record.spec) == key_of(record)
    assert record.path is not None
    assert check_results([record.path], rules=rules()) == Checked(1, (), ())


@pytest.mark.parametrize(
    "name", [_slow_street(name) for name in ("clear", "iirc", "clad-c", "clad-d", "tic")]
)
def test_the_package_has_the_keys_of_today(name: str) -> None:
    made = onward.load(name)
    for seed in (0, 9):
        for known, key in keys_of(made, [seed]).by_name.items():
            for_all = known.rpartition("/")[0] + "/any"
            there = known_keys().by_name
            assert there.get(known, there.get(for_all)) == key


@pytest.mark.slow
def test_the_file_is_what_its_tool_builds() -> None:
    keys = Keys()
    for edition in editions():
        # Which pairs are learned changes no test, and takes minutes to choose.
        if "filtered" not in edition[2]:
            keys |= built(*edition)
    there = known_keys().by_name
    assert {name: there.get(name) for name in keys.by_name} == keys.by_name
    assert encoded(known_keys()) == FILE.read_bytes()


def test_the_file_is_small() -> None:
    assert FILE.stat().st_size < 100_000


def test_the_driving_editions_have_one_key_for_all_seeds() -> None:
    names = keys_of(onward.load("clad-c", data=small_street()), range(3)).by_name
    assert [name.rpartition("/")[2] for name in names] == ["any"]
    # Seeds that are apart could share one of several splits by chance.
    names = keys_of(onward.load("clad-c", data=small_street()), (0, 5)).by_name
    assert [name.rpartition("/")[2] for name in names] == ["0", "5"]


def test_a_hash_tells_samples_order_targets_and_classes_apart_and_nothing_else() -> None:
    ids, targets, classes = np.array(["a", "b"]), np.array([0, 1]), ("cat", "dog")
    same = hash_of_test(ids, targets, classes)
    assert hash_of_test(ids.astype(object), targets.astype(np.int32), list(classes)) == same
    others = [
        hash_of_test(ids[::-1], targets, classes),
        hash_of_test(ids, targets[::-1], classes),
        hash_of_test(ids, targets, classes[::-1]),
        hash_of_test(ids, targets[:, None].repeat(2, axis=1), classes),
        hash_of_test(ids, targets.astype(float), classes),
    ]
    assert len({same, *others}) == 6


@pytest.mark.parametrize(("test", "period"), [("period", 3), ("twemoji", None), ("a@b", None)])
def test_a_name_leads_back_to_its_test(test: str, period: int | None) -> None:
    assert named_test(name_of_test(test, period)) == (test, period)


def test_keys_are_written_and_read_and_may_not_contradict(tmp_path: Path) -> None:
    keys = keys_of(tiny_benchmark("iid"), range(3))
    write_keys(tmp_path / "key.json", keys)
    again = read_keys(tmp_path / "key.json")
    assert again.by_name == keys.by_name
    assert len(keys) == 3
    name, key = next(iter(keys.by_name.items()))
    other = Keys({name: {**key, "period@0": "0" * 16}})
    with pytest.raises(OnwardError, match="found two that differ"):
        keys | other
    assert (keys | again).by_name == keys.by_name


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="expected a file of keys"):
        read_keys(tmp_path / "none.json")
    (tmp_path / "other.json").write_text(json.dumps({"keys": 3}))
    with pytest.raises(OnwardError, match="found another one"):
        read_keys(tmp_path / "other.json")


def test_a_way_to_ask_that_changes_no_test_is_vouched_for(tmp_path: Path) -> None:
    made = tiny_benchmark("iid")
    keys = keys_of(made, [0, 1])
    asked = replace(made, options={"weights": "mine"})
    record = onward.run(asked, Silent, seed=0, out=tmp_path)
    assert keys.find(record.spec) is None
    assert keys.vouches(record.spec, key_of(record))
    assert not keys.vouches(record.spec, {**key_of(record), "period@0": "0" * 16})
