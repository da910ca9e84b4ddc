import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from your_tables import COLUMNS, ROWS, drawings, points, write_csv, write_hugging_face, write_photos

import onward
from onward.checks import check_data, check_stream
from onward.errors import OnwardError
from onward.protocols import PROTOCOLS
from onward.types import Benchmark, Folds, Undivided


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))


def load(path: Path, columns: dict[str, Any] | None = None, **options: Any) -> Benchmark:
    if columns is not None:
        write_csv(path, columns)
    return onward.load("yours", data=str(path), **{**COLUMNS, **options})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "table.csv")


@pytest.mark.parametrize(
    ("protocol", "group"),
    [*itertools.product(PROTOCOLS, ["who"]), ("streaming", None), ("iid", None)],
)
def test_tables_pass_the_checks(table: Path, protocol: str, group: str | None) -> None:
    benchmark = load(table, protocol=protocol, group_column=group)
    assert check_stream(benchmark).ok


def test_awkward_features_pass_the_checks(tmp_path: Path) -> None:
    columns = points()
    rng = np.random.default_rng(1)
    columns["x"] = [None if rng.random() < 0.1 else x for x in columns["x"]]
    # Missing in the last year only.
    columns["late"] = [None if row > ROWS - 20 else row % 7 for row in range(ROWS)]
    columns["flag"] = [bool(row % 3) for row in range(ROWS)]
    columns["note"] = [f"a {kind} thing {row % 5}" for row, kind in enumerate(columns["kind"])]
    columns["made"] = ["2017-01-01"] * ROWS
    columns["kind"] = [None if row % 17 == 3 else kind for row, kind in enumerate(columns["kind"])]
    features = ["x", "late", "flag", "note", "made"]
    benchmark = load(
        tmp_path / "table.csv", columns, feature_columns=features, protocol="iid", text_width=64
    )
    assert check_stream(benchmark).ok
    # Four numbers, one indicator of gaps in the first period, and words.
    assert benchmark.table.wide["input"].shape == (ROWS, 4 + 1 + 64)


@pytest.mark.parametrize("protocol", ["iid", "streaming"])
def test_images_pass_the_checks(tmp_path: Path, protocol: str) -> None:
    benchmark = load(write_photos(tmp_path), image_column="path", protocol=protocol)
    assert check_stream(benchmark).ok
    assert benchmark.table.wide["input"].shape == (96, 497)


def test_raw_images_and_images_inside_a_dataset(tmp_path: Path) -> None:
    pictures = drawings()
    encoded = []
    for picture, _, _ in pictures:
        sink = io.BytesIO()
        picture.save(sink, "PNG")
        encoded.append({"bytes": sink.getvalue(), "path": None})
    kinds = ["animals", "flags", "food"]
    rows = pa.table(
        {
            "image": pa.array(encoded, pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
            "kind": [kinds.index(kind) for _, kind, _ in pictures],
            "taken": [day for _, _, day in pictures],
        }
    )
    features = {"kind": {"names": kinds, "_type": "ClassLabel"}}
    folder = write_hugging_face(tmp_path / "data", rows, features)
    benchmark = load(folder, image_column="image", features="image", size=16)
    assert check_stream(benchmark).ok
    assert benchmark.table.wide["input"].shape == (96, 16, 16, 3)
    assert benchmark.stream()[0].classes == tuple(kinds)
    (tmp_path / "as files").mkdir()
    files = load(write_photos(tmp_path / "as files" / "x"), image_column="path")
    same = load(folder, image_column="image")
    np.testing.assert_array_equal(files.table.wide["input"], same.table.wide["input"])


def test_photos_need_no_columns(tmp_path: Path) -> None:
    for number, (picture, kind, day) in enumerate(drawings()):
        path = tmp_path / kind / f"IMG_{day:%Y%m%d}_{number:06d}.png"
        path.parent.mkdir(exist_ok=True)
        picture.save(path)
    benchmark = onward.load("yours", data=str(tmp_path))
    assert [period.name for period in benchmark.stream()] == ["2018", "2019", "2020", "2021"]
    assert onward.run(benchmark, "finetune").matrix()[0, 1] > 0.8


def test_embeddings_and_numbers_go_together(tmp_path: Path) -> None:
    columns = points()
    rng = np.random.default_rng(0)
    embedding = rng.normal(size=(ROWS, 5)).astype(np.float32)
    rows = pa.table({**columns, "vector": list(embedding)})
    pq.write_table(rows, tmp_path / "table.parquet")
    benchmark = load(tmp_path / "table.parquet", protocol="iid")
    np.testing.assert_array_equal(benchmark.raw.wide["embedding"], embedding)
    assert benchmark.table.wide["input"].shape == (ROWS, 7)
    assert check_stream(benchmark).ok


def test_without_groups_streaming_learns_all_of_a_period(table: Path) -> None:
    stream = load(table).stream()
    assert load(table).protocol.split == Undivided()
    for period in stream:
        assert sorted(period.train.rows.tolist()) == period.test.rows.tolist()
    assert sum(len(period.train) for period in stream) == ROWS


def test_with_groups_streaming_keeps_them_apart(table: Path) -> None:
    benchmark = load(table, group_column="who")
    assert benchmark.protocol.split == Folds(5)
    groups = benchmark.raw.values("group")
    for seed in range(5):
        sides = [
            {groups[row] for period in benchmark.stream(seed) for row in getattr(period, side).rows}
            for side in ("train", "test")
        ]
        assert not sides[0] & sides[1]


def test_identical_rows_share_a_side(tmp_path: Path) -> None:
    columns = {name: [v for v in values for _ in range(2)] for name, values in points().items()}
    benchmark = load(tmp_path / "table.csv", columns, protocol="iid")
    for seed in range(3):
        for period in benchmark.stream(seed):
            for side in (period.train, period.test):
                pairs = np.unique(side.rows // 2, return_counts=True)[1]
                assert (pairs == 2).all()


def test_samples_come_in_order_of_time(table: Path) -> None:
    benchmark = load(table, protocol="online")
    time = benchmark.raw.values("time")
    for period in benchmark.stream(3):
        assert (np.diff(time[period.train.rows]) >= np.timedelta64(0)).all()


def test_a_class_is_known_from_its_first_period(table: Path) -> None:
    stream = load(table, periods="yearly").stream()
    assert [period.classes for period in stream] == [
        ("high", "low"),
        *[("high", "low", "odd")] * 3,
    ]


def test_samples_without_a_label_are_counted_and_serve_unlabelled(tmp_path: Path) -> None:
    columns = points()
    columns["kind"][::8] = [None] * len(columns["kind"][::8])
    benchmark = load(tmp_path / "table.csv", columns)
    assert benchmark.card.numbers["left_out"] == {"without a label (kept, unlabelled)": 30}
    assert sum(len(period.train) for period in benchmark.stream()) == ROWS - 30
    stream = load(tmp_path / "table.csv", protocol="semi_supervised").stream()
    hidden = np.concatenate([period.unlabelled for period in stream])
    assert set(range(0, ROWS, 8)) <= set(hidden.tolist())


def test_periods_without_labels_are_dropped_and_said(tmp_path: Path) -> None:
    columns = points()
    columns["kind"] = [
        None if day.startswith("2019") else kind
        for day, kind in zip(columns["taken"], columns["kind"], strict=True)
    ]
    benchmark = load(tmp_path / "table.csv", columns, periods="yearly", protocol="iid")
    assert [period.name for period in benchmark.stream()] == ["2018", "2020", "2021"]
    assert benchmark.card.numbers["periods_without_labels"] == 1
    assert check_stream(benchmark).ok


def test_scaling_and_gaps_are_set_by_the_first_period_alone(tmp_path: Path) -> None:
    columns = points()
    columns["x"][0] = None
    columns["x"][-1] = None
    benchmark = load(tmp_path / "table.csv", columns, periods="yearly", feature_columns=["x"])
    input_ = np.asarray(benchmark.table.wide["input"])
    first = benchmark.stream()[0].train.rows
    assert input_[first, 0].mean() == pytest.approx(0, abs=1e-6)
    # A gap is at the first period's mean, which is zero here; the second column says so.
    assert input_[[0, -1], 0] == pytest.approx([0, 0], abs=1e-6)
    assert input_[0, 1] == input_[-1, 1] > input_[1, 1]


def test_dates_as_features_are_days_before_the_sample(tmp_path: Path) -> None:
    columns = points()
    columns["born"] = [f"{int(day[:4]) - 1}{day[4:10]}" for day in columns["taken"]]
    columns["taken"] = [day[:10] for day in columns["taken"]]
    columns = {
        name: [v for v, day in zip(values, columns["born"], strict=True) if "02-29" not in day]
        for name, values in columns.items()
    }
    benchmark = load(tmp_path / "table.csv", columns, feature_columns=["born"])
    assert set(benchmark.raw.wide["numbers"][:, 0].tolist()) <= {365.0, 366.0}
    assert load(tmp_path / "table.csv").card.numbers["kinds"]["numbers"] == ("x", "y")


def test_duplicate_ids(tmp_path: Path) -> None:
    columns = points()
    columns["name"] = [f"n{row}" for row in range(ROWS)]
    twice = {name: values + values[:7] for name, values in columns.items()}
    benchmark = load(tmp_path / "table.csv", twice, id_column="name")
    assert len(benchmark.raw) == ROWS
    reason = "identical to an earlier row with the same id"
    assert benchmark.card.numbers["left_out"] == {reason: 7}
    assert benchmark.raw.digest == load(tmp_path / "t.csv", columns, id_column="name").raw.digest
    twice["x"][-1] += 1
    with pytest.raises(OnwardError, match=r"found 1 that contradict.*'n6' in rows 6 and 246"):
        load(tmp_path / "table.csv", twice, id_column="name")
    twice["name"][-1] = None
    with pytest.raises(OnwardError, match=r"found 1 without \(first: row 246\)"):
        load(tmp_path / "table.csv", twice, id_column="name")


def test_the_digest_names_content_and_choices(tmp_path: Path, table: Path) -> None:
    other = points()
    other["x"][5] += 0.01
    digests = [
        load(table).raw.digest,
        load(table, periods="monthly").raw.digest,
        load(table, feature_columns=["x"]).raw.digest,
        load(table, group_column="who").raw.digest,
        load(tmp_path / "other.csv", other).raw.digest,
    ]
    for one, another in itertools.combinations(digests, 2):
        assert one != another
    assert load(write_csv(tmp_path / "same.csv")).raw.digest == digests[0]


def test_a_run_on_a_table_beats_chance(table: Path) -> None:
    matrix = onward.run(load(table, protocol="iid", periods="yearly"), "finetune").matrix()
    assert np.diag(matrix).mean() > 0.6


def test_missing_times_and_images_stop_or_are_skipped(tmp_path: Path) -> None:
    columns = points()
    columns["taken"][3] = None
    with pytest.raises(OnwardError, match=r"found 1 of 240 rows \(3, …\) without"):
        load(tmp_path / "table.csv", columns)
    benchmark = load(tmp_path / "table.csv", missing="skip")
    assert benchmark.card.numbers["left_out"] == {"without a time": 1}
    assert "without 1 rows without a time" in benchmark.data
    photos = write_photos(tmp_path)
    (tmp_path / "photos" / "4.png").unlink()
    with pytest.raises(OnwardError, match=r"found 1 of 96 rows \(4, …\) without \(photos/4.png\)"):
        load(photos, image_column="path")
    assert len(load(photos, image_column="path", missing="skip").raw) == 95


def test_broken_images_are_named_with_their_row(tmp_path: Path) -> None:
    photos = write_photos(tmp_path)
    (tmp_path / "photos" / "4.png").unlink()
    whole = (tmp_path / "photos" / "40.png").read_bytes()
    (tmp_path / "photos" / "40.png").write_bytes(whole[: len(whole) // 2])
    benchmark = load(photos, image_column="path", missing="skip")
    with pytest.raises(OnwardError, match=r"image in row 40 \(.*40.png\)"):
        benchmark.stream()
    (broken,) = check_data(benchmark)
    assert (broken.row, broken.column) == (40, "image")


def test_changed_pictures_are_not_taken_from_the_cache(tmp_path: Path) -> None:
    photos = write_photos(tmp_path)
    before = np.array(load(photos, image_column="path").table.wide["input"])
    path = tmp_path / "photos" / "40.png"
    size = path.stat().st_size
    Image.new("RGB", (32, 32), "red").save(path)
    content = path.read_bytes()
    path.write_bytes(content + b"\0" * (size - len(content)))
    assert path.stat().st_size == size
    after = np.asarray(load(photos, image_column="path").table.wide["input"])
    assert not np.array_equal(before[40], after[40])
    np.testing.assert_array_equal(before[41], after[41])


def refused(path: Path, message: str, **changed: Any) -> None:
    columns = {**points(), **{n: v for n, v in changed.items() if isinstance(v, list)}}
    options = {name: value for name, value in changed.items() if not isinstance(value, list)}
    with pytest.raises(OnwardError, match=message):
        load(path, columns, **options).stream()


def test_bad_tables_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    numbers = np.random.default_rng(0).normal(size=ROWS).round(3).tolist()
    refused(path, "a measurement", kind=numbers)
    refused(path, r"found 240 different ones in 240 rows", kind=[f"k{n}" for n in range(ROWS)])
    refused(path, "'only' only", kind=["only"] * ROWS)
    refused(path, "found none in any row", kind=[None] * ROWS)
    refused(path, r"found 80 that are not \(row 2: nan", x=[1.0, 2.0, float("nan")] * 80)
    refused(path, r"found 80 that are not \(row 2: inf", x=[1.0, 2.0, float("inf")] * 80)
    refused(path, "expected two periods or more", taken=["2020-01-01"] * ROWS)
    refused(path, "expected two periods or more", periods="2030-01-01")
    refused(path, "which has another part", feature_columns=("x", "kind"))
    refused(path, "expected an image_column", features="image")
    refused(path, "unknown features", features="hogg")
    refused(path, "unknown choice for missing", missing="skipp")
    refused(path, "a power of two", feature_columns=("who",), text_width=100)


def test_unequal_widths_are_refused(tmp_path: Path) -> None:
    vectors = [[1.0, 2.0, 3.0]] * ROWS
    vectors[7], vectors[9] = [1.0], None  # type: ignore[call-overload]
    pq.write_table(pa.table({**points(), "vector": vectors}), tmp_path / "table.parquet")
    with pytest.raises(OnwardError, match=r"expected 3 numbers.*row 7 has 1, row 9 has 0"):
        load(tmp_path / "table.parquet")
    vectors[7] = vectors[9] = [1.0, float("inf"), 2.0]
    pq.write_table(pa.table({**points(), "vector": vectors}), tmp_path / "table.parquet")
    with pytest.raises(OnwardError, match=r"found 2 that are not \(row 7: inf"):
        load(tmp_path / "table.parquet")


def test_a_class_that_is_only_tested_is_named(tmp_path: Path) -> None:
    columns = points()
    for row in (100, 101, 230):
        columns["kind"][row], columns["who"][row] = "rare", "one person"
    found = []
    for seed in range(5):
        benchmark = load(tmp_path / "table.csv", columns, group_column="who")
        try:
            benchmark.stream(seed)
        except OnwardError as error:
            found.append(str(error))
    (message,) = found
    assert "found 'rare' (3 samples) in the test part only" in message
