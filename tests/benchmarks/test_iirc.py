"""IIRC's streams: sizes, the labels that are shown, and the options."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cifar_miniature import write_cifar

import onward
from onward.benchmarks.iirc_stream import Plan, cut_iirc, divided
from onward.checks import check_stream
from onward.data.emoji_history import load_emoji
from onward.data.iirc_hierarchy import columns_by_class
from onward.data.iirc_official import official_hierarchy, official_orders
from onward.data.iirc_split import CIFAR
from onward.errors import OnwardError
from onward.protocols import COMPLETE, INCOMPLETE
from onward.types import Released, Samples, Stream, Table

SIZES = json.loads((Path(__file__).parents[1] / "golden" / "iirc_cifar_sizes.json").read_text())


@pytest.fixture(scope="module")
def full_size() -> Table:
    """CIFAR-100's labels in a random order: 500 of each class to learn from, 100 to test."""
    rng = np.random.default_rng(0)
    labels = [rng.permutation(np.repeat(np.arange(100), each)) for each in (500, 100)]
    names = sorted(official_hierarchy("cifar").parent)
    columns = columns_by_class(names, np.concatenate(labels), np.arange(60_000) >= 50_000)
    return Table(columns, {}, "labels", shown=())


@pytest.fixture(scope="module")
def miniature(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_cifar(tmp_path_factory.mktemp("cifar")))


def _plan(configuration: int, **changes: Any) -> Plan:
    orders = official_orders("cifar")
    return Plan(official_hierarchy("cifar"), CIFAR, orders, configuration, **changes)


def _together(parts: list[Samples]) -> int:
    return len(np.unique(np.concatenate([part.rows for part in parts])))


@pytest.mark.parametrize("configuration", range(10))
def test_every_period_has_the_size_that_was_counted_independently(
    full_size: Table, configuration: int
) -> None:
    stream = cut_iirc(full_size, INCOMPLETE, 0, plan=_plan(configuration))
    name = f"configuration_{configuration}"
    assert [len(period.train) for period in stream] == SIZES["task_sizes_train"][name]
    assert [len(period.validation) for period in stream] == SIZES["task_sizes_intask"][name]


def test_table_1(full_size: Table) -> None:
    published, plan = SIZES["table1_row"], _plan(0)
    stream = cut_iirc(full_size, INCOMPLETE, 0, plan=plan)
    train, validation, test = (
        [getattr(period, side) for period in stream] for side in ("train", "validation", "test")
    )
    assert sum(map(len, train)) == published["train_with_dup"] == 46_160
    assert sum(map(len, validation)) == published["intask_with_dup"] == 5_770
    assert _together(train) == published["train"] == 40_000
    assert _together(validation) == published["intask"] == 5_000
    assert len(divided(full_size, plan).after.rows) == published["posttask"] == 5_000
    assert _together(test) == published["test"] == 10_000


def test_every_class_has_the_size_that_was_counted_independently(full_size: Table) -> None:
    stream = cut_iirc(full_size, INCOMPLETE, 0, plan=_plan(3))
    for side, name in (("train", "class_sizes_train"), ("validation", "class_sizes_intask")):
        labels = np.concatenate([getattr(period, side).labels[:, 0] for period in stream])
        counts = np.bincount(labels, minlength=115)
        assert dict(zip(stream[-1].classes, counts.tolist(), strict=True)) == SIZES[name]


def test_classes_are_numbered_as_they_arrive(full_size: Table) -> None:
    stream = cut_iirc(full_size, INCOMPLETE, 0, plan=_plan(1))
    order = official_orders("cifar")[1]
    assert stream[-1].classes == tuple(name for names in order for name in names)
    for period, names in zip(stream, order, strict=True):
        assert period.classes[-len(names) :] == names
        assert period.start is None
        assert period.end is None


def test_no_label_of_another_period_is_shown(full_size: Table) -> None:
    plan = _plan(2)
    incomplete = cut_iirc(full_size, INCOMPLETE, 0, plan=plan)
    complete = cut_iirc(full_size, COMPLETE, 0, plan=plan)
    assert incomplete.complete is None
    assert complete.complete is not None
    assert complete.complete.shape == (60_000, 2)
    before = 0
    for less, more in zip(incomplete, complete, strict=True):
        known = len(less.classes)
        shown = less.train.labels
        assert (shown[:, 1] == -1).all()
        assert shown[:, 0].min() >= before
        assert shown[:, 0].max() < known
        assert np.array_equal(less.train.rows, more.train.rows)
        whole = complete.complete[more.train.rows]
        assert np.array_equal(more.train.labels, np.where(whole < known, whole, -1))
        before = known
    assert (complete[-1].train.labels[:, 1] >= 0).any()


def test_the_judge_knows_all_labels(full_size: Table) -> None:
    stream = cut_iirc(full_size, INCOMPLETE, 0, plan=_plan(0))
    hierarchy, classes = official_hierarchy("cifar"), stream[-1].classes
    names = full_size.columns.column("subclass").cast("string").to_numpy(zero_copy_only=False)
    for period in stream:
        for row, labels in list(zip(period.test.rows, period.test.labels, strict=True))[::50]:
            known = {classes[label] for label in labels if label >= 0}
            assert known == {names[row], hierarchy.parent[names[row]]} - {None}


def test_validation_may_be_the_judge(full_size: Table) -> None:
    plan = _plan(0, judge="validation")
    stream = cut_iirc(full_size, INCOMPLETE, 0, plan=plan)
    tested = np.unique(np.concatenate([period.test.rows for period in stream]))
    assert np.array_equal(tested, np.sort(divided(full_size, plan).after.rows))
    learned = np.concatenate([np.r_[p.train.rows, p.validation.rows] for p in stream])
    assert not np.intersect1d(tested, learned).size


def test_a_stream_of_subclasses_only(full_size: Table) -> None:
    plan = _plan(0, subclasses_only=True)
    stream = cut_iirc(full_size, INCOMPLETE, 0, plan=plan)
    whole = cut_iirc(full_size, INCOMPLETE, 0, plan=_plan(0))
    assert len(stream) == 21
    assert len(stream[-1].classes) == 100
    assert not set(stream[-1].classes) & set(official_hierarchy("cifar").superclasses)
    assert sum(len(period.train) for period in stream) == 77 * 320 + 23 * 400
    names, rows = stream[0].classes, stream[0].train.rows
    assert set(names) <= set(whole[1].classes)
    assert set(rows.tolist()) <= set(whole[1].train.rows.tolist())
    assert (stream[0].test.labels[:, 1] == -1).all()


def test_the_seed_chooses_the_configuration_unless_it_is_given(miniature: str) -> None:
    seeds = onward.load("iirc", data=miniature)
    assert seeds.protocol.split == Released(10)
    fixed = onward.load("iirc", data=miniature, configuration=3)
    assert fixed.protocol.split == Released(1)
    assert fixed.options == {"configuration": 3}
    classes = seeds.stream(3)[-1].classes
    assert fixed.stream(0)[-1].classes == classes == seeds.stream(13)[-1].classes
    assert seeds.stream(4)[-1].classes != classes


def test_cifar_from_a_folder(miniature: str) -> None:
    benchmark = onward.load("iirc", data=miniature, configuration=0)
    assert benchmark.protocol.name == "incomplete"
    assert benchmark.recipes[benchmark.recipe].model == "resnet32"
    stream = benchmark.stream(0)
    assert len(stream) == 22
    # 20 of each class: two and two are held back, a superclass gets six of 16, a subclass 12.
    assert len(stream[0].train) == sum(
        6 * len(official_hierarchy("cifar").superclasses[name]) for name in stream[0].classes
    )
    raw = pickle.loads((Path(miniature) / "cifar-100-python/train").read_bytes(), encoding="bytes")
    rows = stream[5].train.rows
    pixels = raw[b"data"][rows].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    assert np.array_equal(stream.table.wide["input"][rows], pixels)
    inner = onward.load("iirc", data=str(Path(miniature) / "cifar-100-python"), configuration=0)
    assert inner.raw.digest == benchmark.raw.digest


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["incomplete", "complete"])
def test_a_miniature_of_cifar_passes_all_checks(miniature: str, protocol: str) -> None:
    report = check_stream(onward.load("iirc", data=miniature, protocol=protocol, configuration=0))
    passed = {finding.check for finding in report if finding.status == "passed"}
    assert {"preparation_sees_only_the_past", "periods_share_no_sample"} <= passed


def test_plain_class_incremental_periods(miniature: str) -> None:
    stream = onward.load("iirc", data=miniature, incremental=True, configuration=0).stream(0)
    assert [len(period.classes) for period in stream] == [50, *range(55, 101, 5)]
    assert [len(period.train) for period in stream] == [50 * 16, *[5 * 16] * 10]
    assert all((period.test.labels[:, 1] == -1).all() for period in stream)


def test_joint_brings_every_sample_once_with_all_labels(miniature: str) -> None:
    stream = onward.load("iirc", data=miniature, protocol="joint", configuration=0).stream(0)
    assert [len(period.train) for period in stream[:-1]] == [0] * 21
    train = stream[-1].train
    assert len(np.unique(train.rows)) == len(train) == 1600
    assert ((train.labels >= 0).sum(1) == 2).sum() == 77 * 16
    # Of two that are held back, a superclass gets none and a subclass one.
    assert len(stream[-1].validation) == 77 * 1 + 23 * 2


def test_a_hierarchy_file_in_place_of_the_released_one(miniature: str, tmp_path: Path) -> None:
    names = list(official_hierarchy("cifar").parent)
    halves = {"first": names[:50], "second": names[50:]}
    path = tmp_path / "halves.json"
    path.write_text(json.dumps(halves))
    benchmark = onward.load("iirc", data=miniature, hierarchy=path, configuration=0)
    stream = benchmark.stream(0)
    assert stream[0].classes in (("first",), ("second",))
    assert len(stream[-1].classes) == 102
    # 50 subclasses, so that the superclass gets 8 / 50 of 40 % of 16 of each, rounded down.
    assert len(stream[0].train) == 50 * 1
    path.write_text(json.dumps({"first": names[:49], "second": names[49:]}))
    other = onward.load("iirc", data=miniature, hierarchy=path, configuration=0)
    assert other.options["hierarchy"] != benchmark.options["hierarchy"]
    order = [["first", "second"], names]
    path.write_text(json.dumps({"super_classes": halves, "periods": order}))
    given = onward.load("iirc", data=miniature, hierarchy=path).stream(7)
    assert given[-1].classes == ("first", "second", *names)
    path.write_text(json.dumps({"super_classes": halves, "periods": [names, *order[:1]]}))
    with pytest.raises(OnwardError, match="its superclass"):
        onward.load("iirc", data=miniature, hierarchy=path)
    path.write_text(json.dumps({"first": names[:50]}))
    with pytest.raises(OnwardError, match="expected labels out of the 50 subclasses"):
        onward.load("iirc", data=miniature, hierarchy=path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"configuration": 10}, "from 0 to 9, found 10"),
        ({"configuration": -1}, "from 0 to 9"),
        ({"judge": "jury"}, "unknown judge"),
        ({"edition": "lite"}, "no edition with cifar"),
        ({"subgroups": "all"}, "no subgroups with cifar"),
        ({"protocol": "streaming"}, "unknown protocol of iirc"),
        ({"recipe": "gpu"}, "unknown recipe"),
        ({"model": "mlp"}, "a model that reads images, found mlp"),
        ({"model": "resnet"}, "unknown model 'resnet'"),
        ({"validation": 0.7}, "share validation"),
        ({"new_classes": True}, "one label"),
    ],
)
def test_options_that_do_not_fit(miniature: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        onward.load("iirc", data=miniature, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "sorted"}, "no order with emoji"),
        ({"incremental": True}, "its own hierarchy"),
        ({"hierarchy": "some.json"}, "its own hierarchy"),
        ({"subgroups": "some"}, "unknown subgroups"),
        ({"features": "moco"}, "unknown features"),
        ({"features": "image", "model": "mlp"}, "a model that reads images, found mlp"),
        ({"model": "resnet32"}, "a model that reads features, found resnet32"),
    ],
)
def test_options_that_do_not_fit_emoji(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        onward.load("iirc", data="emoji", **options)


def test_folders_that_hold_nothing_of_it(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="found neither"):
        onward.load("iirc", data=str(tmp_path))
    with pytest.raises(OnwardError, match="found none at"):
        onward.load("iirc", data=str(tmp_path / "none"))
    with pytest.raises(OnwardError, match="unknown data of iirc 'emojis'"):
        onward.load("iirc", data="emojis")


def test_classes_that_are_too_small(tmp_path: Path) -> None:
    data = str(write_cifar(tmp_path, train=10, test=1))
    with pytest.raises(OnwardError, match=r"found 10 in all.*at least 20.*validation=0"):
        onward.load("iirc", data=data, configuration=0).stream(0)
    stream = onward.load("iirc", data=data, configuration=0, validation=0).stream(0)
    assert len(stream[0].validation) == 0


@pytest.fixture(scope="module")
def emoji() -> list[Stream]:
    return [onward.load("iirc", data="emoji").stream(seed) for seed in range(8)]


def test_the_emoji_edition_has_31_classes_in_ten_periods(emoji: list[Stream]) -> None:
    for stream in emoji:
        assert [len(period.classes) for period in stream] == list(range(4, 32, 3))
        assert set(stream[0].classes) <= {
            *("animals", "food", "objects", "people", "smileys", "symbols", "travel")
        }
    assert len({stream[-1].classes for stream in emoji}) == 8


def test_identities_and_drawings_of_emoji_are_kept_apart(emoji: list[Stream]) -> None:
    table = emoji[0].table
    identity = table.values("group")
    learned = np.unique(np.concatenate([np.r_[p.train.rows, p.validation.rows] for p in emoji[0]]))
    tested = np.unique(np.concatenate([period.test.rows for period in emoji[0]]))
    assert (len(learned), len(tested)) == (1675, 772)
    assert not set(identity[learned]) & set(identity[tested])
    images = table.wide["image"]
    rows = np.concatenate([learned, tested])
    assert len(np.unique(images.index[rows])) == len(rows)  # type: ignore[attr-defined]
    assert (table.values("snapshot")[rows] > 0).all()
    for other in emoji[1:]:
        assert np.array_equal(
            tested, np.unique(np.concatenate([period.test.rows for period in other]))
        )


def test_emoji_are_what_their_subgroup_says(emoji: list[Stream]) -> None:
    stream, history = emoji[0], load_emoji()
    ids = {name: row for row, name in enumerate(history.values("id"))}
    subgroup, group = history.values("subgroup"), history.values("label")
    classes = stream[-1].classes
    for period in stream:
        for row, labels in list(zip(period.test.rows, period.test.labels, strict=True))[::20]:
            place = ids[stream.table.values("id")[row]]
            known = {classes[label] for label in labels if label >= 0}
            assert subgroup[place] in known
            assert known <= {subgroup[place], group[place]}


def test_features_are_on_the_scale_of_2016(emoji: list[Stream]) -> None:
    table = emoji[0].table
    past = table.wide["input"][np.flatnonzero(table.values("snapshot") == 0)]
    assert past.shape == (1267, 497)
    assert np.abs(past).max() == pytest.approx(3)
    assert np.abs(past.mean(0)).max() < 0.3


def test_the_configuration_of_emoji_may_be_fixed(emoji: list[Stream]) -> None:
    fixed = onward.load("iirc", data="emoji", configuration=5).stream(0)
    assert fixed[-1].classes == emoji[5][-1].classes


def test_all_subgroups_and_images_of_emoji() -> None:
    every = onward.load("iirc", data="emoji", subgroups="all").stream(0)
    assert len(every[-1].classes) == 58
    pixels = onward.load("iirc", data="emoji", features="image").stream(0)
    assert pixels.table.wide["input"].shape[1:] == (32, 32, 3)


@pytest.mark.parametrize(
    "protocol", ["incomplete", pytest.param("complete", marks=pytest.mark.slow)]
)
def test_the_emoji_edition_passes_all_checks(protocol: str) -> None:
    report = check_stream(onward.load("iirc", data="emoji", protocol=protocol))
    passed = {finding.check for finding in report if finding.status == "passed"}
    assert {
        "periods_share_no_sample",
        "groups_stay_on_one_side",
        "preparation_sees_only_the_past",
        "inputs_come_from_the_table",
    } <= passed
