"""Votes are read from wherever they are, and each annotator counts once."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curated import CONCEPTS, said
from small_campaign import campaign_folder, import_votes

from onward.curate.records import VOTES
from onward.curate.review.exchange import export_votes
from onward.curate.votes import ballots, read_votes
from onward.errors import OnwardError

CSV = "id,annotator,labels,sensitive\none,ann,bus|camera,no\none,bob,,YES\ntwo,ann,bus,\n"


def test_csv_parquet_and_a_campaign_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(CSV)
    found = read_votes(tmp_path / "votes.csv")
    expected = said(
        ("one", "ann", ["bus", "camera"], False),
        ("one", "bob", [], True),
        ("two", "ann", ["bus"], False),
    )
    assert found.equals(expected)
    pq.write_table(expected, tmp_path / "votes.parquet")
    assert read_votes(tmp_path / "votes.parquet").equals(expected)
    assert read_votes(tmp_path).equals(expected)
    pq.write_table(expected.drop_columns(["at", "seconds"]), tmp_path / "few.parquet")
    assert read_votes(tmp_path / "few.parquet").equals(expected)


def test_ballots_by_candidate() -> None:
    votes = said(
        ("two", "ann", ["bus"], False),
        ("one", "bob", ["BACKGROUND"], True),
        ("one", "ann", ["camera", "bus"], False),
        ("two", "ann", ["camera"], False),
        ("gold", "ann", ["camera"], False),
    )
    found = ballots(votes, ["one", "two", "three"], CONCEPTS)
    assert found.answers.tolist() == [[3, 0], [1, -1], [-1, -1]]
    assert found.people == ("ann", "bob")
    assert found.who[0].tolist() == [0, 1]
    assert found.sensitive[0].tolist() == [False, True]
    assert found.given.tolist() == [2, 1, 0]
    assert found.aside == {
        "second answers of one annotator about one image": 1,
        "on images that are no candidates": 1,
    }


def test_the_first_answer_counts_by_its_moment() -> None:
    late, early = (
        pa.scalar(2_000_000, pa.timestamp("us", "UTC")),
        pa.scalar(1_000_000, pa.timestamp("us", "UTC")),
    )
    votes = said(("one", "ann", ["bus"], False), ("one", "ann", ["camera"], False))
    votes = votes.set_column(5, "at", pa.array([late.as_py(), early.as_py()], late.type))
    assert ballots(votes, ["one"], CONCEPTS).answers.tolist() == [[2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,annotator,labels\n", "no sensitive"),
        ("id,annotator,labels,sensitive\none,,bus,no\n", "line 2"),
        ("id,annotator,labels,sensitive\none,ann,bus,perhaps\n", "'perhaps'"),
    ],
)
def test_a_csv_that_is_none(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "votes.csv").write_text(text)
    with pytest.raises(OnwardError, match=message):
        read_votes(tmp_path / "votes.csv")


def test_what_is_no_vote(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="no such file"):
        read_votes(tmp_path / "votes.csv")
    with pytest.raises(OnwardError, match=r"campaign\.sqlite"):
        read_votes(tmp_path)
    pq.write_table(pa.table({"id": [1]}), tmp_path / "votes.parquet")
    with pytest.raises(OnwardError, match="expected votes with the columns"):
        read_votes(tmp_path)
    with pytest.raises(OnwardError, match="Did you mean 'camera'"):
        ballots(said(("one", "ann", ["camara"], False)), ["one"], CONCEPTS)
    empty = said(("one", "ann", ["bus"], False)).set_column(
        2, "labels", pa.array([None], pa.list_(pa.string()))
    )
    with pytest.raises(OnwardError, match="list of labels"):
        ballots(empty, ["one"], CONCEPTS)
    with pytest.raises(OnwardError, match="list of labels"):
        ballots(empty.set_column(2, "labels", pa.array([[None]])).cast(VOTES), ["one"], CONCEPTS)


def test_times_and_names_of_any_kind_in_a_csv(tmp_path: Path) -> None:
    head = "id,annotator,labels,sensitive,seconds\n"
    name = "a\u2028b\x85c"
    (tmp_path / "votes.csv").write_text(f"{head}one,{name},bus,no,nan\none,ben,bus,no,2.5\n")
    found = ballots(read_votes(tmp_path / "votes.csv"), ["one"], CONCEPTS)
    assert found.people == (name, "ben")
    assert found.seconds == 2.5


def test_a_campaign_counts_and_not_an_older_export_beside_it(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path, items=4)
    first, second = (
        said(("photo-0", "ann", ["bus"], False)),
        said(("photo-1", "ann", ["bus"], False)),
    )
    import_votes(folder, first)
    export_votes(folder, folder / "votes.parquet")
    import_votes(folder, second)
    assert sorted(read_votes(folder).column("id").to_pylist()) == ["photo-0", "photo-1"]
