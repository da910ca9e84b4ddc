"""TiC-CLIP's layouts: written, read back, and every period and test as it should be."""

import hashlib
import shutil
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from tic_miniature import SAMPLES, emoji, made

from onward.data.pair_column import PairColumn
from onward.data.tic_counts import DATACOMP_YEARS, published_counts
from onward.data.tic_folder import ZERO_SHOT, TicData, read_tic
from onward.data.tic_make import LAYOUTS
from onward.errors import OnwardError
from onward.tasks.image_text import ImageText
from onward.types import Array, Samples


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("tic")
    return {layout: made(root / layout, layout) for layout in LAYOUTS}


@pytest.fixture(autouse=True)
def _own_cache(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(folders["ids"].parent / "cache"))


def read(folders: dict[str, Path], name: str, **options: object) -> TicData:
    """Read a layout; ``tables`` are those of the layout yfcc."""
    folder = folders["yfcc" if name == "tables" else name]
    if name == "tables":
        options["images"] = folder / "images"
    if name == "ids":
        options.setdefault("shards", str(folder / "commonpool"))
    return read_tic(folder, **{"side": 32, **options})  # type: ignore[arg-type]


EVERY = (*LAYOUTS, "tables")


def inputs(data: TicData, rows: Array) -> Array:
    return data.table.wide["pair"][rows]


def perfect(data: TicData, test: Samples) -> Array:
    """Return outputs of a model that knows each image and caption by heart."""
    pairs = inputs(data, test.rows)
    known = {caption: number for number, caption in enumerate(sorted(set(emoji().captions)))}
    by_image = {
        image.tobytes(): known[emoji().captions[row]]
        for row, image in enumerate(np.asarray(emoji().images))
    }
    outputs = np.zeros((len(pairs), 2, len(known)), np.float32)
    for place, pair in enumerate(pairs):
        if pair["has_image"]:
            outputs[place, 0, by_image[pair["image"].tobytes()]] = 1
        else:
            outputs[place, 1, known[pair["text"].decode()]] = 1
    return outputs


@pytest.mark.parametrize("name", EVERY)
def test_every_pair_is_read_as_it_was_written(folders: dict[str, Path], name: str) -> None:
    data = read(folders, name)
    said = {caption: [] for caption in emoji().captions}
    for row, caption in enumerate(emoji().captions):
        said[caption].append(np.asarray(emoji().images)[row].astype(int))
    for period in data.periods:
        for pair in inputs(data, period.train.rows)[:20]:
            near = [np.abs(pair["image"] - image).mean() for image in said[pair["text"].decode()]]
            # What is written as JPEG comes back nearly so.
            assert min(near) <= (8 if name in ("yfcc", "redcaps", "tables") else 0)
    assert data.gaps == data.notes == ()
    assert all(count.right for count in data.counts)
    assert len(set(data.table.values("id"))) == len(data.table)


@pytest.mark.parametrize("name", EVERY)
def test_periods_are_disjoint_and_each_row_has_one_place(
    folders: dict[str, Path], name: str
) -> None:
    data = read(folders, name, validation=0.1)
    parts = [np.arange(len(data.classes))]
    for period in data.periods:
        parts += [period.train.rows, period.validation.rows, period.test.rows]
        parts += [test.rows[test.labels[:, 0] >= 0] for test in period.more.values()]
    rows = np.concatenate(parts)
    assert sorted(rows.tolist()) == list(range(len(data.table)))
    kinds = data.table.values("kind")
    assert all((kinds[period.train.rows] == "pair").all() for period in data.periods)
    column = data.table.wide["pair"]
    assert isinstance(column, PairColumn)
    trained = np.concatenate([column.sample[period.train.rows] for period in data.periods])
    tested = [column.sample[period.test.rows] for period in data.periods]
    tested += [column.sample[period.validation.rows] for period in data.periods]
    if name != "datacomp":  # where tests are files of their own
        assert not set(trained.tolist()) & set(np.concatenate(tested).tolist())
    captions = {
        inputs(data, np.array([row]))["text"][0] for p in data.periods for row in p.train.rows
    }
    asked = {text for p in data.periods for text in inputs(data, p.test.rows)["text"].tolist()}
    assert not captions & (asked - {b""})


@pytest.mark.parametrize("name", ["datacomp", "ids"])
def test_who_knows_all_captions_finds_all(folders: dict[str, Path], name: str) -> None:
    task = ImageText()
    data = read(folders, name, validation=0.2)
    for period in data.periods:
        for test in (period.test, period.validation):
            texts = inputs(data, test.rows)["text"][len(test) // 2 :]
            if len(set(texts.tolist())) < len(texts):
                # An emoji of two months, in one year: its captions cannot be told apart.
                assert (period.name, test) == ("2017", period.validation)
                continue
            decisions = task.decode(perfect(data, test), (), len(test))
            assert task.score(decisions, test.labels)["recall1"] == 1
            half = len(test) // 2
            assert test.labels[:half, 0].tolist() != list(range(half))


def test_zero_shot_asks_for_the_class_among_prompts(folders: dict[str, Path]) -> None:
    for name in ("datacomp", "ids"):
        data = read(folders, name)
        classes = dict(zip(emoji().captions, emoji().labels.tolist(), strict=True))
        images = {
            image.tobytes(): classes[emoji().captions[row]]
            for row, image in enumerate(np.asarray(emoji().images))
        }
        for period in data.periods:
            test = period.more[ZERO_SHOT]
            pairs = inputs(data, test.rows)
            prompts = pairs[pairs["has_text"] == 1]
            assert [text.decode() for text in prompts["text"]] == [
                f"{label}.\na drawing of {label}." for label in data.classes
            ]
            asked = test.labels[:, 0] >= 0
            assert asked.tolist() == (pairs["has_image"] == 1).tolist()
            found = [images[pair["image"].tobytes()] for pair in pairs[asked]]
            assert found == [data.classes[label] for label in test.labels[asked, 0]]


def test_names_and_dates(folders: dict[str, Path]) -> None:
    yearly = read(folders, "datacomp")
    assert yearly.layout == "TiC-DataComp, yearly"
    years = ["2016", "2017", "2020"]
    assert [period.name for period in yearly.periods] == years
    first = yearly.periods[0]
    assert (first.start, first.end) == (date(2014, 1, 1), date(2016, 12, 31))
    assert [len(period.train) for period in yearly.periods] == [16, 32, 16]
    monthly = read(folders, "datacomp", calendar="monthly")
    months = ["201606", "201705", "201712", "202001"]
    assert [period.name for period in monthly.periods] == months
    assert (monthly.periods[2].start, monthly.periods[2].end) == (
        date(2017, 12, 1),
        date(2017, 12, 31),
    )
    yfcc = read(folders, "yfcc")
    assert yfcc.layout == "TiC-YFCC"
    assert [p.name for p in yfcc.periods] == ["2004-2008", "2009-2010", "2011-2012", "2013-2014"]
    assert yfcc.periods[1].start == date(2009, 1, 1)
    redcaps = read(folders, "redcaps")
    assert (redcaps.layout, [p.name for p in redcaps.periods]) == ("TiC-RedCaps", years)


def test_tables_and_tars_hold_the_same_samples(folders: dict[str, Path]) -> None:
    tars, tables = read(folders, "yfcc"), read(folders, "tables")
    for ours, theirs in zip(tars.periods, tables.periods, strict=True):
        assert np.array_equal(inputs(tars, ours.train.rows), inputs(tables, theirs.train.rows))


def test_ids_joined_give_the_periods_of_the_shards(folders: dict[str, Path]) -> None:
    for calendar in ("yearly", "monthly"):
        shards = read(folders, "datacomp", calendar=calendar)
        joined = read(folders, "ids", calendar=calendar)
        assert joined.layout == f"TiC-DataComp, {calendar}, ids joined to shards"
        for ours, theirs in zip(shards.periods, joined.periods, strict=True):
            assert ours.name == theirs.name
            sides = [
                {pair.tobytes() for pair in inputs(data, period.train.rows)}
                for data, period in ((shards, ours), (joined, theirs))
            ]
            assert sides[0] == sides[1]
            if calendar == "yearly":
                assert len(ours.test) == len(theirs.test)


def test_part_of_a_pool_gives_part_of_the_periods(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onward.data.tic_make_datacomp._SHARD", 20)
    folder = made(tmp_path / "ids", "ids")
    pool = folder / "commonpool"
    parts = (f"{pool}/00000000.tar::{pool}/00000001.tar", f"{pool}/{{00000002..00000003}}.tar")
    found = []
    for shards in (*parts, str(pool)):
        data = read({"ids": folder}, "ids", shards=shards)
        found.append({pair.tobytes() for p in data.periods for pair in inputs(data, p.train.rows)})
    assert len(found[0]) > 10
    assert not found[0] & found[1]
    assert found[0] | found[1] == found[2]


def test_the_first_years_are_one_period_and_pooled_on_demand(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    root = tmp_path / "years"
    shutil.copytree(folders["datacomp"], root)
    for part in ("train", "eval/retrieval", "eval/datacompnet"):
        (root / "yearly" / part / "2017").rename(root / "yearly" / part / "2014")
    alone, pooled = (read({"datacomp": root}, "datacomp", pool=pool) for pool in (False, True))
    assert [period.name for period in alone.periods] == ["2016", "2020"]
    assert len(alone.periods[0].train) == 16 + 32
    sizes = [len(data.periods[0].test) for data in (alone, pooled)]
    assert sizes[0] == 8
    assert sizes[1] > sizes[0]
    assert len(pooled.periods[0].more[ZERO_SHOT]) > len(alone.periods[0].more[ZERO_SHOT])


def test_a_year_without_a_test_is_left_out_and_told(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    root = tmp_path / "untested"
    shutil.copytree(folders["datacomp"], root)
    shutil.rmtree(root / "yearly/eval/retrieval/2020")
    data = read({"datacomp": root}, "datacomp")
    assert "2020" not in [period.name for period in data.periods]
    assert data.notes[0].startswith("2020 is left out: it has no test in")


def test_several_captions_of_an_image(folders: dict[str, Path], tmp_path: Path) -> None:
    from tic_miniature import encoded, tar

    root = tmp_path / "several"
    shutil.copytree(folders["datacomp"], root)
    for year in (root / "yearly/eval/retrieval").iterdir():
        shutil.rmtree(year)
    captions = {"a": b"one\ntwo\n", "b": b"three"}
    samples = {key: {"png": encoded("PNG"), "txt": text} for key, text in captions.items()}
    tar(root / "yearly/eval/retrieval/2016/test/0.tar", samples)
    (period,) = read({"datacomp": root}, "datacomp").periods
    data = read({"datacomp": root}, "datacomp")
    test = data.periods[0].test
    texts = inputs(data, test.rows)["text"][2:].tolist()
    assert sorted(texts) == [b"one", b"three", b"two"]
    many = [sorted(texts[answer] for answer in row if answer >= 0) for row in test.labels[:2]]
    assert sorted(many) == [[b"one", b"two"], [b"three"]]
    assert period.name == "2016"


def test_validation_is_held_back_and_capped(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    none, some = (read(folders, "datacomp", validation=share) for share in (0.0, 0.25))
    assert [len(period.validation) for period in none.periods] == [0] * 3
    assert [len(period.train) for period in some.periods] == [12, 24, 12]
    assert [len(period.validation) for period in some.periods] == [8, 16, 8]
    monkeypatch.setattr("onward.data.tic_folder.MOST_VALIDATION", 2)
    capped = read(folders, "datacomp", validation=0.25)
    assert [len(period.validation) for period in capped.periods] == [4] * 3
    assert len(capped.periods[0].train) == 14


def test_reading_twice_is_the_same_and_names_the_content(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    one, again = read(folders, "datacomp"), read(folders, "datacomp")
    moved = tmp_path / "moved"
    shutil.copytree(folders["datacomp"], moved)
    elsewhere = read({"datacomp": moved}, "datacomp")
    assert one.table.digest == again.table.digest == elsewhere.table.digest
    assert one.table.digest != read(folders, "datacomp", calendar="monthly").table.digest
    assert one.table.columns.equals(elsewhere.table.columns)
    for ours, theirs in zip(one.periods, again.periods, strict=True):
        assert np.array_equal(ours.test.rows, theirs.test.rows)
        assert np.array_equal(ours.test.labels, theirs.test.labels)


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_seed_is_the_same_bytes_and_another_is_not(
    folders: dict[str, Path], tmp_path: Path, layout: str
) -> None:
    again, other = (made(tmp_path / str(seed), layout, seed) for seed in (0, 1))
    assert digests(folders[layout]) == digests(again)
    mine, others = digests(again), digests(other)
    same = {name for name in mine.keys() & others.keys() if mine[name] == others[name]}
    assert not [name for name in same if name.endswith((".tar", ".npy", ".csv"))]
    assert (again / "NOTICE.txt").is_file()


def test_a_folder_in_use_is_left_alone(folders: dict[str, Path]) -> None:
    before = digests(folders["ids"])
    with pytest.raises(OnwardError, match="a new or an empty folder"):
        made(folders["ids"], "ids")
    assert digests(folders["ids"]) == before


def test_an_unknown_folder_is_told_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(OnwardError) as caught:
        read_tic(tmp_path)
    for sought in ("yearly/train/<YEAR>", "<YEAR>.npy", "splits/{train,test}_batch", "tic-shards"):
        assert sought in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"calendar": "weekly"}, "unknown calendar 'weekly'"),
        ({"calendar": "monthly"}, "monthly/train"),
        ({"missing": "ignore"}, "unknown choice for missing 'ignore'"),
        ({"validation": 1.5}, "found 1.5"),
    ],
)
def test_wrong_options(
    folders: dict[str, Path], tmp_path: Path, options: dict[str, object], message: str
) -> None:
    root = tmp_path / "yearly-only"
    (root / "yearly").parent.mkdir()
    shutil.copytree(folders["datacomp"] / "yearly", root / "yearly")
    with pytest.raises(OnwardError, match=message):
        read({"datacomp": root}, "datacomp", **options)


def test_published_numbers_stand_beside(folders: dict[str, Path]) -> None:
    assert sum(DATACOMP_YEARS.values()) == 12_151_849_260
    counts = published_counts(read(folders, "datacomp"))
    assert [count.what for count in counts] == [f"samples of {y}" for y in (2016, 2017, 2020)]
    assert (counts[0].expected, counts[0].found) == (1_086_470_154, SAMPLES)
