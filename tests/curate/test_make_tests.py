"""Tests that are drawn from dated pairs, and what is too like them to be learned from."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dated_miniature import drawn, encoded, pair, pairs, stopping, uid, write_dated, write_images
from PIL import Image

from onward.curate.draw_tests import NEAR_IMAGE, SAME_IMAGE, SAME_WORDS
from onward.curate.looked_at import BROKEN
from onward.curate.make_tests import BLANK, GONE, AskedOptions, make_tests
from onward.errors import OnwardError


def made(
    folder: Path,
    rows: list[dict[str, Any]],
    other: dict[str, bytes] | None = None,
    **options: Any,
) -> tuple[dict[str, Any], Path]:
    dated, images = (
        write_dated(folder / "dated", rows),
        write_images(folder / "images", rows, other),
    )
    out = folder / "tests"
    counts = make_tests(dated, images, out, AskedOptions(**{"retrieval": 4, **options}))
    return dict(counts), out


def asked(out: Path, name: str = "retrieval") -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for row in pq.read_table(out / f"{name}.parquet").to_pylist():
        found.setdefault(row["bucket"], []).append(row["id"])
    return found


def learned(out: Path) -> list[str]:
    return [
        name
        for path in sorted(out.glob("rows/*/*.parquet"))
        for name in pq.read_table(path).column("id").to_pylist()
    ]


def dropped(out: Path) -> dict[str, str]:
    return {
        row["id"]: row["reason"]
        for path in out.glob("dropped/*.parquet")
        for row in pq.read_table(path).to_pylist()
    }


def test_each_pair_is_tested_learned_or_dropped(tmp_path: Path) -> None:
    rows = pairs()
    counts, out = made(tmp_path, rows)
    tested = [one for some in asked(out).values() for one in some]
    assert sorted([*tested, *learned(out), *dropped(out)]) == sorted(row["id"] for row in rows)
    assert [one["retrieval"] for one in counts["buckets"]] == [4, 4, 4]
    assert counts["rows"] == len(learned(out)) == 48
    assert counts["pairs"] == 60


def test_other_buckets_do_not_move_a_sample(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "two").mkdir()
    every = asked(made(tmp_path / "all", pairs())[1])
    some = asked(made(tmp_path / "two", pairs((2015, 2016)))[1])
    assert (every[1], every[2]) == (some[0], some[1])
    (tmp_path / "seed").mkdir()
    assert asked(made(tmp_path / "seed", pairs(), seed=1)[1]) != every


def test_what_is_like_a_test_pair_is_not_learned(tmp_path: Path) -> None:
    rows = pairs()
    (tmp_path / "first").mkdir()
    chosen = asked(made(tmp_path / "first", rows)[1])[0]
    place = {row["id"]: number for number, row in enumerate(rows)}
    target = drawn(place[chosen[0]])
    resized = target.resize((96, 80)).convert("RGB")
    shouted = rows[place[chosen[1]]]["caption"].upper() + " !"
    # None of them is drawn itself.
    more = [
        pair("copy", 2016),
        pair("resized", 2015),
        pair("repeated", 2016, shouted),
        pair("other", 2016),
    ]
    other = {uid("copy"): encoded(target), uid("resized"): encoded(resized, "JPEG")}
    (tmp_path / "second").mkdir()
    counts, out = made(tmp_path / "second", [*rows, *more], other)
    assert asked(out)[0] == chosen
    left_out = dropped(out)
    assert left_out[uid("copy")] == SAME_IMAGE
    assert left_out[uid("resized")] == NEAR_IMAGE
    assert left_out[uid("repeated")] == SAME_WORDS
    assert uid("other") not in left_out
    assert counts["dropped"] == {SAME_IMAGE: 1, NEAR_IMAGE: 1, SAME_WORDS: 1}
    assert counts["buckets"][2]["dropped"] == {SAME_IMAGE: 1, SAME_WORDS: 1}


def test_test_pairs_are_not_like_each_other(tmp_path: Path) -> None:
    rows = pairs((2015,), 30)
    # Twenty of them are one picture.
    other = {row["id"]: encoded(drawn(0)) for row in rows[:20]}
    counts, out = made(tmp_path, rows, other, retrieval=8)
    same = {row["id"] for row in rows[:20]}
    assert len(asked(out)[0]) == 8
    assert len(same & set(asked(out)[0])) <= 1
    assert not same & set(learned(out)) or not same & set(asked(out)[0])
    assert counts["short"] == []


def test_blank_pictures_are_not_taken_for_each_other(tmp_path: Path) -> None:
    rows = pairs((2015,), 12)
    other = {
        row["id"]: encoded(Image.new("RGB", (40, 40), (number, 200, 200)))
        for number, row in enumerate(rows)
    }
    counts, _ = made(tmp_path, rows, other)
    assert counts["dropped"] == {}


def test_missing_and_broken_images_are_listed(tmp_path: Path) -> None:
    rows = [*pairs(), pair("html", 2015, "<br/>&nbsp;")]
    gone, broken = rows[0]["id"], rows[1]["id"]
    counts, out = made(tmp_path, rows, {gone: b"", broken: b"no image"})
    assert dropped(out) == {gone: GONE, broken: BROKEN, uid("html"): BLANK}
    assert counts["dropped"] == {GONE: 1, BLANK: 1, BROKEN: 1}


def test_a_command_that_was_stopped_goes_on(tmp_path: Path) -> None:
    rows = pairs()
    dated, images = write_dated(tmp_path / "dated", rows), write_images(tmp_path / "images", rows)
    options = AskedOptions(retrieval=4)
    whole = tmp_path / "whole"
    make_tests(dated, images, whole, options)
    stopped = tmp_path / "stopped"

    with pytest.raises(KeyboardInterrupt):
        make_tests(dated, images, stopped, options, watch=stopping(50))
    assert not (stopped / "stage.json").exists()
    make_tests(dated, images, stopped, options)
    names = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
    assert names == sorted(p.relative_to(stopped) for p in stopped.rglob("*") if p.is_file())
    assert all((whole / name).read_bytes() == (stopped / name).read_bytes() for name in names)


def test_too_few_pairs_are_named(tmp_path: Path) -> None:
    rows = [*pairs((2014,)), *pairs((2015,), 4)]
    with pytest.raises(OnwardError, match=r"more than 4 pairs .* 2015 has 4.*--retrieval"):
        made(tmp_path, rows)


def test_nothing_left_to_learn_is_named_with_its_reason(tmp_path: Path) -> None:
    rows = [*pairs((2014,)), *(pair(f"x{n}", 2015, "one caption") for n in range(9))]
    with pytest.raises(OnwardError, match=r"none in 2015 .*same words as a test pair: 8"):
        made(tmp_path, rows)


def test_no_image_at_all(tmp_path: Path) -> None:
    rows = pairs()
    dated = write_dated(tmp_path / "dated", rows)
    images = write_images(tmp_path / "images", [pair("elsewhere", 2015)])
    with pytest.raises(OnwardError, match=r"images with the ids of pairs .* found none"):
        make_tests(dated, images, tmp_path / "tests", AskedOptions(retrieval=4))


def test_another_encoding_is_said(tmp_path: Path) -> None:
    rows = pairs()
    dated, images = write_dated(tmp_path / "dated", rows), write_images(tmp_path / "images", rows)
    path = dated / "rows" / "00" / "00000.parquet"
    table = pq.read_table(path)
    captions = [b"caf\xe9"] + [b"x"] * (len(table) - 1)
    wrong = pa.StringArray.from_buffers(
        len(captions), *pa.array(captions, pa.binary()).buffers()[1:]
    )
    place = table.schema.get_field_index("caption")
    pq.write_table(table.set_column(place, "caption", wrong), path)
    with pytest.raises(OnwardError, match=r"text in UTF-8 in .*00000\.parquet"):
        make_tests(dated, images, tmp_path / "tests", AskedOptions(retrieval=4))


def test_subtrees_without_classes(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="--classes"):
        made(tmp_path, pairs(), subtrees=("dog",))


def test_times_are_in_the_asked_rows(tmp_path: Path) -> None:
    _, out = made(tmp_path, pairs())
    table = pq.read_table(out / "retrieval.parquet")
    years = np.array([one.year for one in table.column("time").to_pylist()])
    assert (years == 2014 + table.column("bucket").to_numpy()).all()
