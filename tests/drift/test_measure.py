"""Drift of real streams: the redesigns of the emoji are found, an unchanged control is not."""

import dataclasses
import json
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from your_tables import COLUMNS, points, write_csv

import onward
from onward.drift import Drift, measure_drift, write_drift_page
from onward.drift.hurts import PARTS, with_runs
from onward.drift.measure import pairs_of
from onward.drift.tags import Tags
from onward.drift.texts import words_in
from onward.errors import OnwardError
from onward.types import Benchmark, Period, Protocol, Samples, Stream, Table


@pytest.fixture(scope="module")
def emoji() -> Drift:
    return measure_drift(onward.load("clear", data="emoji"), samples=400, width=32, draws=19)


def test_the_first_redesign_is_the_largest_step(emoji: Drift) -> None:
    steps = {emoji.parts[p.before].name: p for p in emoji.pairs if p.neighbours}
    assert steps["2017-05"].drift
    assert not steps["2023-05"].drift
    assert steps["2017-05"].frechet.above
    assert max(steps, key=lambda name: steps[name].frechet.distance) == "2017-05"


def test_json_has_what_programs_ask_for(emoji: Drift) -> None:
    plain = json.loads(json.dumps(emoji.to_json(), allow_nan=False))
    assert plain["data"] == "emoji"
    assert [period["name"] for period in plain["periods"]][::6] == ["2017-05", "2025-09"]
    assert len(plain["pairs"]) == 11
    pair = plain["pairs"][0]
    assert (pair["from"], pair["to"], pair["samples"]) == ("2017-05", "2017-12", [400, 400])
    assert pair["frechet"]["distance"] > pair["frechet"]["without_drift"]["q95"]
    assert 0 <= pair["labels"]["total_variation"] <= 1
    told = pair["classifier"]
    assert told["drift"] is True
    assert 0.5 < told["low"] < told["accuracy"] < told["high"]
    assert told["p"] <= told["p_holm"] <= 0.05
    assert plain["classes"] == {"new": {}, "vanished": {}}
    assert "transgender" not in plain["words"]["new"].get("2017-12", [])


def test_the_same_seed_gives_the_same(emoji: Drift) -> None:
    one, again = (
        measure_drift(emoji.benchmark, samples=60, width=8, draws=19).to_json() for _ in range(2)
    )
    assert one == again
    assert one["pairs"] != emoji.to_json()["pairs"]


def test_the_page_is_whole_and_asks_nobody(emoji: Drift, tmp_path: Path) -> None:
    write_drift_page(emoji, tmp_path / "drift.html")
    text = (tmp_path / "drift.html").read_text("utf-8")
    for part in ("The verdict", "Over time", "What change looks like", "Every period against"):
        assert part in text
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org", "")
    assert text.count("data:image/webp") >= 20
    assert len(text) < 1_500_000


def _same_again(benchmark: Benchmark) -> Benchmark:
    """Return a stream whose two periods are halves of one, dealt by group."""

    def cut(table: Table, protocol: Protocol, seed: int) -> Stream:
        whole = benchmark.cut(table, protocol, 0)[3]
        samples = Samples.join([whole.train, whole.test])
        groups = table.values("group").astype(str)[samples.rows]
        names = np.random.default_rng(seed).permutation(np.unique(groups))
        first = np.isin(groups, names[: len(names) // 2])
        nothing = samples[np.empty(0, np.int64)]
        halves = [samples[np.flatnonzero(first)], samples[np.flatnonzero(~first)]]
        return Stream(
            table,
            tuple(
                Period(at, f"half {at}", None, None, half, nothing, whole.classes)
                for at, half in enumerate(halves)
            ),
        )

    return dataclasses.replace(benchmark, cut=cut)


def test_an_unchanged_control_shows_no_drift() -> None:
    control = _same_again(onward.load("clear", data="emoji"))
    found = [
        measure_drift(control, seed=seed, samples=300, width=16, draws=19).pairs[0]
        for seed in range(10)
    ]
    assert sum(pair.drift for pair in found) <= 2
    assert sum(pair.frechet.above for pair in found) <= 3
    # Halves are apart for all that: the bias is shown, and goes when it is extrapolated.
    assert all(pair.frechet.distance > 0 for pair in found)
    endless = [pair.frechet.endless or 0 for pair in found]
    assert abs(np.mean(endless)) < np.mean([pair.frechet.distance for pair in found]) / 3


@pytest.fixture
def table(tmp_path: Path) -> Path:
    columns = points(600)
    columns["said"] = [
        "the usual words" if at < 400 else "a pandemic of masks" for at in range(600)
    ]
    return write_csv(tmp_path / "points.csv", columns)


def test_a_table_of_yours_and_its_words(table: Path, tmp_path: Path) -> None:
    made = onward.load(
        "yours", data=str(table), **COLUMNS, feature_columns=["x", "y"], periods="yearly"
    )
    found = measure_drift(made, text_column="said", draws=19)
    assert [pair.drift for pair in found.pairs if (pair.before, pair.after) == (0, 3)] == [True]
    plain = found.to_json()
    assert "odd" in chain(*plain["classes"]["new"].values())
    assert {"pandemic", "masks"} <= set(chain(*plain["words"]["new"].values()))
    assert "usual" in chain(*plain["words"]["vanished"].values())
    write_drift_page(found, tmp_path / "page.html")
    assert "a pandemic of masks" in (tmp_path / "page.html").read_text("utf-8")
    with pytest.raises(OnwardError, match="column of texts"):
        measure_drift(made, text_column="sad", draws=19)


def test_periods_that_say_nothing_are_refused(table: Path) -> None:
    made = onward.load("yours", data=str(table), **COLUMNS, feature_columns=["x"], periods="60")
    with pytest.raises(OnwardError, match=r"at least 20 samples in every period, found \d+ in "):
        measure_drift(made)
    one = dataclasses.replace(made, cut=lambda table, protocol, seed: made.stream(seed)[:1])
    with pytest.raises(OnwardError, match="two periods or more, found 1"):
        measure_drift(one)


def test_what_hurts_a_run(tmp_path: Path, emoji: Drift) -> None:
    benchmark = emoji.benchmark
    onward.run(benchmark, "finetune", 0, tmp_path)
    found, left_out = with_runs(emoji, [tmp_path])
    assert not left_out
    (hurt,) = found.to_json()["hurts"]
    assert hurt["method"] == "finetune"
    assert set(hurt["correlations"]) == set(PARTS)
    assert all(-1 <= one["spearman"] <= 1 for one in hurt["correlations"].values())
    assert {one["name"] for one in hurt["classes"]} <= set(benchmark.stream(0)[0].classes)
    write_drift_page(found, tmp_path / "page.html")
    assert "What hurts the model" in (tmp_path / "page.html").read_text("utf-8")
    other = dataclasses.replace(
        emoji,
        benchmark=dataclasses.replace(
            benchmark, raw=dataclasses.replace(benchmark.raw, digest="x")
        ),
    )
    with pytest.raises(OnwardError, match="expected complete runs on clear / emoji"):
        with_runs(other, [tmp_path])


def test_new_and_vanished() -> None:
    tags = Tags(
        "labels", ("a", "b", "c"), [np.array([[0, 1]]), np.array([[0, 2]]), np.array([[2, -1]])]
    )
    assert tags.new() == {1: ["c"]}
    assert tags.vanished() == {1: ["b"], 2: ["a"]}
    assert tags.counts.tolist() == [[1, 1, 0], [1, 0, 1], [0, 0, 1]]


def test_pairs_and_words() -> None:
    assert pairs_of(2) == [(0, 1)]
    assert words_in("Ünïted Kingdom's 2 kingdoms") == ["ünïted", "kingdom", "kingdoms"]
