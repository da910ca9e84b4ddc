"""The pool of the demonstration: what is in it, and who looks at it."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onward.curate.demo import art
from onward.curate.demo.annotators import Annotator, Picture, crew
from onward.curate.images import image_shards
from onward.curate.records import VOTES
from simulated import simulated_votes


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    out = tmp_path_factory.mktemp("demo") / "art"
    return out, art.write_art(out, renderings=1)


@pytest.mark.slow
def test_every_image_has_a_row_a_time_and_a_truth(pool: tuple[Path, dict[str, int]]) -> None:
    out, counts = pool
    with (out / art.METADATA).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    places = [place for shard in image_shards(out / art.SHARDS) for place in shard.places()]
    truth = pq.read_table(out / art.TRUTH).to_pylist()
    assert len(rows) == counts["rows"] == counts["images"] + counts["wrong_rows"]
    assert {p.id for p in places} == {row["id"] for row in truth} <= {row["id"] for row in rows}
    assert len(places) == counts["images"]
    good = [row for row in rows if row["taken"] < row["uploaded"] and row["uploaded"] > "2016"]
    assert len({row["id"] for row in good}) == counts["images"]
    assert Counter(row["author"] for row in rows).keys() == {
        "Google, Noto Emoji",
        "Twemoji",
        "nobody",
    }
    # Art of every concept in every year but those without a release.
    names = {row["id"]: row["concept"] for row in truth}
    first = Counter(names[row["id"]] for row in good if row["uploaded"] < "2017-05-08")
    assert min(first[concept.name] for concept in art.CONCEPTS.found) >= 10
    assert (out / "LICENSE-APACHE-2.0.txt").is_file()


@pytest.mark.slow
def test_the_truth_is_known_of_candidates_and_labels(pool: tuple[Path, dict[str, int]]) -> None:
    out, _ = pool
    truth = pq.read_table(out / art.TRUTH).to_pylist()
    some = truth[:50]
    asked = pa.table({"id": [row["id"] for row in some], "concept": ["heart"] * 50})
    shown = art.true_pictures(out, asked)
    assert [p.shows for p in shown] == [
        frozenset({row["concept"]} if row["concept"] else ()) for row in some
    ]
    right = pa.table(
        {
            "id": [row["id"] for row in some],
            "concept": [row["concept"] or "BACKGROUND" for row in some],
        }
    )
    assert art.true_label_error(out, right) == 0
    assert art.true_label_error(out, asked) == np.mean([r["concept"] != "heart" for r in some])


def _answers(who: Annotator, picture: Picture, times: int = 2000) -> Counter[tuple[str, ...]]:
    pictures = [Picture(str(n), picture.found_for, picture.shows) for n in range(times)]
    votes = simulated_votes(pictures, [who], ("a", "b"), per_image=1, unevenness=0)
    return Counter(map(tuple, votes.column("labels").to_pylist()))


def test_annotators_err_at_their_rates() -> None:
    seen = _answers(Annotator("x", misses=0.2, adds=0), Picture("1", "a", frozenset({"a"})))
    assert seen[()] / 2000 == pytest.approx(0.2, abs=0.03)
    assert seen[()] + seen[("a",)] == 2000
    lured = _answers(Annotator("x", lured=0.3, adds=0), Picture("1", "a", frozenset()))
    assert lured[("a",)] / 2000 == pytest.approx(0.3, abs=0.03)
    careless = _answers(Annotator("x", careless=1), Picture("1", "a", frozenset({"a"})))
    assert min(careless[key] for key in ((), ("a",), ("b",))) > 550


def test_votes_are_as_many_as_asked_and_the_same_again() -> None:
    people = crew(7, 3)
    assert len({(one.misses, one.lured) for one in people}) == 7
    shown = [Picture(str(n), "a", frozenset({"a"}), sensitive=n < 20) for n in range(60)]
    votes = simulated_votes(shown, people, ("a", "b"), seed=3)
    assert votes.schema.equals(VOTES)
    pairs = list(zip(*(votes.column(n).to_pylist() for n in ("id", "annotator")), strict=True))
    assert len(set(pairs)) == len(pairs) == 180
    assert votes.equals(simulated_votes(shown, people, ("a", "b"), seed=3))
    assert not votes.equals(simulated_votes(shown, people, ("a", "b"), seed=4))
    warned = {row["id"] for row in votes.to_pylist() if row["sensitive"]}
    assert len(warned & {str(n) for n in range(20)}) >= 19
    assert len(warned) < 25
