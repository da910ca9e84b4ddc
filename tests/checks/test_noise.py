from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import onward
from onward.checks import tiny_benchmark
from onward.checks.noise import rows_after, rows_of, with_noise
from onward.errors import OnwardError
from onward.types import Rows, Samples, Stream, Table


@pytest.mark.parametrize("upto", range(4))
def test_noise_leaves_the_past_and_changes_the_rest(upto: int) -> None:
    benchmark = tiny_benchmark()
    stream = benchmark.stream(0)
    noised = with_noise(benchmark, stream, upto).raw
    later = rows_after(stream, upto)
    earlier = np.setdiff1d(np.arange(len(noised)), later)
    before, after = benchmark.raw.wide["point"], noised.wide["point"]
    assert np.array_equal(before[earlier], after[earlier])
    assert (before[later] != after[later]).all()
    labels = [table.values("label") for table in (benchmark.raw, noised)]
    assert labels[0][earlier].tolist() == labels[1][earlier].tolist()
    assert len(set(labels[1][later].tolist())) <= 1
    assert noised.digest != benchmark.raw.digest


def test_the_unlabelled_past_is_no_future() -> None:
    stream = tiny_benchmark().stream(0)
    past = np.flatnonzero(stream.table.values("year") == 2000)
    assert not np.isin(past, rows_after(stream, 0)).any()


def test_classes_that_were_to_arrive_do_not() -> None:
    benchmark = tiny_benchmark()
    noised = with_noise(benchmark, benchmark.stream(0), 1).stream(0)
    assert [len(period.classes) for period in noised] == [3, 3, 3, 3]


def test_static_tests_and_stray_samples_of_later_dates_are_future() -> None:
    stream = tiny_benchmark().stream(0)
    moved = stream[3].test
    static = replace(stream, periods=stream.periods[:3], static={"far": moved})
    assert np.isin(moved.rows, rows_after(static, 2)).all()
    stray = replace(stream, periods=stream.periods[:3])
    assert np.isin(moved.rows, rows_after(stray, 2)).all()
    assert np.isin(moved.rows, rows_after(stray, 1)).all()


def test_every_period_has_its_rows() -> None:
    stream = tiny_benchmark().stream(0)
    assert len(rows_of(stream, 0)) == len(stream[0].train) + len(stream[0].test)
    assert len(rows_of(stream, 9)) == sum(len(p.train) + len(p.test) for p in stream)


def test_columns_of_every_kind_become_noise() -> None:
    benchmark = tiny_benchmark()
    size = len(benchmark.raw)
    rng = np.random.default_rng(0)
    texts = pa.array([f"text {row}" for row in range(size)])
    raw = replace(
        benchmark.raw,
        columns=benchmark.raw.columns.append_column("text", texts),
        wide={
            "bytes": rng.integers(0, 256, (size, 40), np.uint8),
            "flags": rng.random((size, 40)) < 0.5,
            "double": rng.normal(size=(size, 2)),
        },
    )
    stream = benchmark.stream(0)
    noised = with_noise(replace(benchmark, raw=raw), stream, 0).raw
    later = rows_after(stream, 0)
    for name, column in noised.wide.items():
        assert column[later].dtype == raw.wide[name][later].dtype
        assert (column[later] != raw.wide[name][later]).any(1).all()
    assert set(noised.values("text")[later]) < set(raw.values("text")[rows_of(stream, 0)])


def test_images_become_noise() -> None:
    benchmark = onward.load("clear")
    stream = benchmark.stream(0)
    noised = with_noise(benchmark, stream, 3).raw.wide["image"]
    row = stream[4].train.rows[:1]
    assert (noised[row] != benchmark.raw.wide["image"][row]).any()
    kept = stream[3].train.rows[:5]
    assert np.array_equal(noised[kept], benchmark.raw.wide["image"][kept])


def test_a_column_that_cannot_become_noise_says_what_it_needs() -> None:
    class Shards:
        shape = (270, 2)

        def __getitem__(self, rows: Rows) -> np.ndarray:
            return np.zeros((len(rows), 2))

    benchmark = tiny_benchmark()
    raw = Table(benchmark.raw.columns, {"shard": Shards()}, "x")
    with pytest.raises(OnwardError, match=r"with_noise\(rows, rng\).*found 'shard', a Shards"):
        with_noise(replace(benchmark, raw=raw), benchmark.stream(0), 0)


def test_a_stream_without_static_tests_has_none_to_hide() -> None:
    stream = tiny_benchmark().stream(0)
    assert len(rows_after(Stream(stream.table, stream.periods), 3)) == 0
    with_static = replace(stream, static={"old": Samples(stream[0].test.rows, np.zeros(0))})
    assert len(rows_after(with_static, 3)) == 0
