"""Acceptance: what is kept, what is not and why, and how wrong it may be."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from curated import pictures, read, retrieved, said, votes

from onward.curate.accept import Terms, accept
from onward.curate.records import LABELLED, REJECTED
from onward.errors import OnwardError


@pytest.fixture
def campaign(tmp_path: Path) -> tuple[Path, Path]:
    shown = pictures()
    pq.write_table(votes(shown), tmp_path / "votes.parquet")
    return retrieved(tmp_path / "retrieved", shown), tmp_path / "votes.parquet"


def test_every_candidate_is_accepted_or_rejected_with_a_reason(
    campaign: tuple[Path, Path], tmp_path: Path
) -> None:
    counts = accept(*campaign, tmp_path / "out", Terms(per_class=5))
    kept = pq.read_table(tmp_path / "out" / "labelled.parquet")
    gone = pq.read_table(tmp_path / "out" / "rejected.parquet")
    assert kept.schema.equals(LABELLED)
    assert gone.schema.equals(REJECTED)
    every = kept.column("id").to_pylist() + gone.column("id").to_pylist()
    assert sorted(every) == sorted(picture.id for _, picture in pictures())
    assert counts["accepted"] == len(kept)
    assert sum(counts["rejected"].values()) == len(gone)
    assert sum(cell["candidates"] for cell in counts["classes"]) == counts["candidates"] == 72
    shows = {picture.id: picture for _, picture in pictures()}
    for row in kept.to_pylist():
        own = set() if row["concept"] == "BACKGROUND" else {row["concept"]}
        assert shows[row["id"]].shows == own
        assert row["certainty"] > 0.5
    assert max(cell["accepted"] for cell in counts["classes"]) == 5
    assert counts["rejected"]["not drawn"] > 0
    assert counts["krippendorff_alpha"] > 0.8
    assert counts["votes"] == 216
    assert counts["hours"] > 0.1
    error = counts["label_error"]
    assert 0 <= error["low"] <= error["estimate"] <= error["high"] <= 1
    # No error was seen, and few images: that is no proof of perfection.
    assert error["high"] > 0.01


def test_the_same_again_is_there_and_other_votes_are_refused(
    campaign: tuple[Path, Path], tmp_path: Path
) -> None:
    first = accept(*campaign, tmp_path / "out")
    before = (tmp_path / "out" / "labelled.parquet").stat().st_mtime_ns
    assert dict(accept(*campaign, tmp_path / "out")) == dict(first)
    assert (tmp_path / "out" / "labelled.parquet").stat().st_mtime_ns == before
    pq.write_table(votes(pictures(), seed=1), campaign[1])
    with pytest.raises(OnwardError, match="found votes"):
        accept(*campaign, tmp_path / "out")


def test_votes_elsewhere_do_not_change_the_draw(tmp_path: Path) -> None:
    shown = pictures(each=40)
    folder, given = retrieved(tmp_path / "retrieved", shown), votes(shown)
    drawn = []
    for name, table in (
        ("all", given),
        ("some", given.filter([not i.startswith("1") for i in given.column("id").to_pylist()])),
    ):
        pq.write_table(table, tmp_path / f"{name}.parquet")
        accept(folder, tmp_path / f"{name}.parquet", tmp_path / name, Terms(per_class=10))
        found = pq.read_table(tmp_path / name / "labelled.parquet").to_pylist()
        drawn.append({row["id"] for row in found if row["bucket"] > 1})
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 60
    accept(folder, tmp_path / "all.parquet", tmp_path / "other", Terms(per_class=10, seed=1))
    other = pq.read_table(tmp_path / "other" / "labelled.parquet").column("id").to_pylist()
    assert set(other) != drawn[0]


def test_too_few_of_a_class(tmp_path: Path) -> None:
    shown = pictures()
    shown = [
        one for one in shown if one[0] != 2 or one[1].found_for != "bus" or one[1].id < "20004"
    ]
    pq.write_table(votes(shown), tmp_path / "votes.parquet")
    given = retrieved(tmp_path / "retrieved", shown), tmp_path / "votes.parquet"
    counts = accept(*given, tmp_path / "keep", Terms(per_class=5))
    assert {"bucket": 2, "concept": "bus", "images": 3} in counts["short"]
    dropped = accept(*given, tmp_path / "drop", Terms(per_class=5, short="drop-bucket"))
    bad = {one["bucket"] for one in dropped["short"]}
    kept = pq.read_table(tmp_path / "drop" / "labelled.parquet").column("bucket").to_pylist()
    assert bad
    assert not bad & set(kept)
    assert dropped["rejected"]["its bucket was dropped"] > 0
    with pytest.raises(OnwardError, match="bus in bucket 2: 3"):
        accept(*given, tmp_path / "error", Terms(per_class=5, short="error"))


def test_gold_sharpens_the_estimate(campaign: tuple[Path, Path], tmp_path: Path) -> None:
    plain = accept(*campaign, tmp_path / "plain")["label_error"]
    lines = [f"{one.id},{'|'.join(sorted(one.shows)) or 'BACKGROUND'}" for _, one in pictures()]
    (tmp_path / "gold.csv").write_text("\n".join(["id,label", *lines]))
    known = accept(*campaign, tmp_path / "known", gold=tmp_path / "gold.csv")["label_error"]
    assert known["low"] == known["high"] == 0  # all is known, and nothing was wrong
    assert plain["high"] > 0
    (tmp_path / "gold.csv").write_text("id,label\n10000,bsu\n")
    with pytest.raises(OnwardError, match="Did you mean 'bus'"):
        accept(*campaign, tmp_path / "wrong", gold=tmp_path / "gold.csv")
    (tmp_path / "gold.csv").write_text("id,truth\n10000,bus\n")
    with pytest.raises(OnwardError, match="no label"):
        accept(*campaign, tmp_path / "wrong", gold=tmp_path / "gold.csv")


def test_relabelled_images_are_counted_as_what_they_are(
    campaign: tuple[Path, Path], tmp_path: Path
) -> None:
    plain = accept(*campaign, tmp_path / "plain")
    counts = accept(*campaign, tmp_path / "out", Terms(relabel=True))
    more = counts["accepted"] - plain["accepted"]
    assert more == plain["rejected"]["another concept"] > 0
    kept = {r["id"]: r["concept"] for r in _rows(tmp_path / "out" / "labelled.parquet")}
    found = {picture.id: picture for _, picture in pictures()}
    moved = [name for name, concept in kept.items() if found[name].found_for != concept]
    assert len(moved) == more
    assert all(found[name].shows == {kept[name]} for name in moved)
    # The estimate is about images that are what they were retrieved for.
    assert counts["label_error"]["images"] == plain["accepted"]


def _rows(path: Path) -> list[dict[str, Any]]:
    return pq.read_table(path).to_pylist()


def test_no_votes_at_all(campaign: tuple[Path, Path], tmp_path: Path) -> None:
    pq.write_table(said(), tmp_path / "none.parquet")
    counts = accept(campaign[0], tmp_path / "none.parquet", tmp_path / "out")
    assert counts["accepted"] == 0
    assert counts["rejected"] == {"no votes": 72}
    assert counts["label_error"] is counts["krippendorff_alpha"] is None


def test_a_candidate_twice_is_refused(campaign: tuple[Path, Path], tmp_path: Path) -> None:
    path = campaign[0] / "candidates.parquet"
    table = pq.read_table(path)
    pq.write_table(table.take([0, *range(len(table))]), path)
    with pytest.raises(OnwardError, match="each image once"):
        accept(*campaign, tmp_path / "out")


def test_where_it_came_from_goes_with_it(campaign: tuple[Path, Path], tmp_path: Path) -> None:
    accept(*campaign, tmp_path / "out")
    lineage = read(tmp_path / "out" / "lineage.json")
    assert [one["kind"] for one in lineage] == ["retrieve"]
    assert lineage[0]["counts"] == {"candidates": 72}
