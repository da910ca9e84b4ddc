"""Votes in and out, there and back."""

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_campaign import campaign_folder, import_votes, invited, read, retrieved

from onward.curate.concepts import Concept
from onward.curate.records import VOTES
from onward.curate.review.campaign import open_campaign
from onward.curate.review.exchange import export_votes, import_file, read_votes
from onward.curate.review.formats import Format
from onward.curate.review.making import Rules, make_campaign
from onward.curate.review.people import revoke
from onward.errors import OnwardError

HOSTILE = '=cmd|"x", <b>Ann</b>\u202e;/'


def rows() -> list[dict[str, Any]]:
    labels = [["computer"], [], ["computer", "bus"], ["camera"]]
    return [
        {
            "id": f"photo-{at}",
            "annotator": name,
            "labels": labels[(at + who) % 4],
            "sensitive": (at + who) % 5 == 0,
            "seconds": 0.5 + at,
            "at": 1_700_000_000_123_456 + 1_000_003 * at + who,
        }
        for at in range(6)
        for who, name in enumerate((HOSTILE, "Ben", "Çem 東京"))
    ]


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    folder = campaign_folder(tmp_path / "a")
    found = import_votes(folder, pa.Table.from_pylist(rows(), schema=VOTES))
    assert found == {"read": 18, "new": 18, "known": 0, "counted": 18, "not_in_campaign": 0}
    return folder


def test_what_is_imported_counts(filled: Path) -> None:
    expected = pa.Table.from_pylist(rows(), schema=VOTES).sort_by(
        [("id", "ascending"), ("annotator", "ascending")]
    )
    assert read_votes(filled).equals(expected)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("votes.parquet", None),
        ("votes.csv", None),
        ("votes.json", None),
        ("votes.txt", Format.LABEL_STUDIO),
    ],
)
def test_there_and_back(filled: Path, tmp_path: Path, name: str, form: Format | None) -> None:
    path = tmp_path / name
    assert export_votes(filled, path, form) == 18
    other = campaign_folder(tmp_path / "b")
    assert import_file(other, path, form)["counted"] == 18
    assert read_votes(other).equals(read_votes(filled))
    again = tmp_path / f"again-{name}"
    export_votes(other, again, form)
    assert again.read_bytes() == path.read_bytes()


def test_crowd_kit_there_and_back(filled: Path, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    export_votes(filled, path, Format.CROWD_KIT)
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert table[0] == {"task": "photo-0", "worker": HOSTILE, "label": "computer"}
    assert {row["label"] for row in table} == {
        "computer",
        "BACKGROUND",
        "computer|bus",
        "camera",
    }
    other = campaign_folder(tmp_path / "b")
    assert import_file(other, path, Format.CROWD_KIT)["counted"] == 18
    kept = ["id", "annotator", "labels"]
    assert read_votes(other).select(kept).equals(read_votes(filled).select(kept))


def test_names_that_a_table_cannot_hold(tmp_path: Path) -> None:
    found, images = retrieved(tmp_path, 1, [Concept("a|b", ("x",))])
    folder = make_campaign(found, images, tmp_path / "c", Rules()).folder
    votes = [{**rows()[0], "labels": ["a|b"]}]
    import_votes(folder, pa.Table.from_pylist(votes, schema=VOTES))
    for form in (Format.CSV, Format.CROWD_KIT):
        with pytest.raises(OnwardError, match=r"'a\|b'. Choose --format parquet"):
            export_votes(folder, tmp_path / "votes", form)
    assert export_votes(folder, tmp_path / "votes.parquet") == 1


def test_crowd_kit_itself_understands(filled: Path, tmp_path: Path) -> None:
    aggregation = pytest.importorskip("crowdkit.aggregation")
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "votes.csv"
    export_votes(filled, path, Format.CROWD_KIT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        found = aggregation.MajorityVote().fit_predict(pandas.read_csv(path))
    assert set(found.index) == {f"photo-{at}" for at in range(6)}


def test_the_same_file_twice_is_one_import(filled: Path, tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    export_votes(filled, path)
    other = campaign_folder(tmp_path / "b")
    import_file(other, path)
    assert import_file(other, path) == {
        "read": 18,
        "new": 0,
        "known": 18,
        "counted": 0,
        "not_in_campaign": 0,
    }
    assert read(other, "select count(*) from votes") == [(18,)]


def test_too_many_votes_are_kept_and_do_not_count(filled: Path) -> None:
    more = [{**row, "annotator": "Dee"} for row in rows()[::3]]
    found = import_votes(filled, pa.Table.from_pylist(more, schema=VOTES))
    assert (found["new"], found["counted"]) == (6, 0)
    with open_campaign(filled) as campaign, campaign.writing():
        revoke(campaign, "Ben")
    # What had been kept takes the places that were given back.
    assert set(read_votes(filled).column("annotator").to_pylist()) == {HOSTILE, "Çem 東京", "Dee"}
    assert read_votes(filled).num_rows == 18


def test_images_of_other_campaigns_are_counted(filled: Path) -> None:
    strange = [{**rows()[0], "id": "elsewhere"}]
    found = import_votes(filled, pa.Table.from_pylist(strange, schema=VOTES))
    assert found["not_in_campaign"] == 1
    assert found["new"] == 0


def test_who_was_imported_can_be_invited(filled: Path) -> None:
    invited(filled, "Ben")
    assert read(filled, "select count(*) from annotators") == [(3,)]


def test_revoked_votes_are_not_exported(filled: Path, tmp_path: Path) -> None:
    with open_campaign(filled) as campaign, campaign.writing():
        revoke(campaign, HOSTILE)
    export_votes(filled, tmp_path / "votes.parquet")
    found = pq.read_table(tmp_path / "votes.parquet")
    assert found.schema.equals(VOTES)
    assert set(found.column("annotator").to_pylist()) == {"Ben", "Çem 東京"}


def test_label_studios_own_export(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path / "a")
    chosen = {"from_name": "what", "type": "choices", "value": {"choices": ["bus", "camera"]}}
    none = {"from_name": "what", "type": "choices", "value": {"choices": ["None of the above"]}}
    held = [
        {
            "id": 17,
            "data": {"image": "/data/upload/3/photo-1.png"},
            "annotations": [
                {"completed_by": 4, "result": [chosen], "lead_time": 3.2,
                 "created_at": "2026-03-04T05:06:07.000008Z", "was_cancelled": False},
                {"completed_by": {"id": 5, "email": "ben@example.org"}, "result": [none],
                 "lead_time": None, "created_at": "2026-03-04T05:06:08Z"},
                {"completed_by": 6, "result": [], "was_cancelled": True},
            ],
            "predictions": [],
        }
    ]  # fmt: skip
    (tmp_path / "export.json").write_text(json.dumps(held))
    assert import_file(folder, tmp_path / "export.json")["counted"] == 2
    found = read_votes(folder).to_pylist()
    assert [(row["annotator"], row["labels"]) for row in found] == [
        ("4", ["camera", "bus"]),
        ("ben@example.org", []),
    ]
    assert found[0]["at"].isoformat() == "2026-03-04T05:06:07.000008+00:00"
    assert found[1]["seconds"] is None


@pytest.mark.parametrize("wrong", [{"labels": None}, {"labels": [None]}, {"annotator": None}])
def test_rows_that_are_no_votes(tmp_path: Path, wrong: dict[str, Any]) -> None:
    folder = campaign_folder(tmp_path / "a")
    table = pa.Table.from_pylist([rows()[0], {**rows()[1], **wrong}], schema=VOTES)
    with pytest.raises(OnwardError, match="an annotator and a list of labels in every vote"):
        import_votes(folder, table)
    assert read(folder, "select count(*) from votes") == [(0,)]


def _studio(chosen: list[Any]) -> str:
    result = [{"type": "choices", "from_name": "labels", "value": {"choices": chosen}}]
    annotation = {"completed_by": 1, "result": result}
    return json.dumps([{"data": {"id": "photo-0"}, "annotations": [annotation]}])


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("v.csv", "id,annotator\nphoto-0,Ann\n", "the columns id, annotator, labels"),
        ("v.csv", "id,annotator,labels\nphoto-0,Ann,zebra\n", "'zebra'"),
        ("v.csv", "id,annotator,labels\nphoto-0,Ann\n", "line 2"),
        ("v.csv", "id,annotator,labels,at\nphoto-0,Ann,bus,yesterday\n", "line 2"),
        ("v.csv", "id,annotator,labels,sensitive\nphoto-0,Ann,bus,perhaps\n", "line 2"),
        ("v.json", "{}", "a list"),
        ("v.json", '[{"data": {"id": "photo-0"}}]', "entry 1"),
        ("v.json", "[1", "an export of Label Studio"),
        ("v.json", "[" * 100_000, "an export of Label Studio"),
        ("v.json", _studio([{"x": 1}]), "list of labels"),
        ("v.json", _studio([1, "bus"]), "list of labels"),
        ("v.parquet", "no parquet", "a parquet file"),
        ("v.xlsx", "", "ends with"),
    ],
)
def test_files_that_are_none(tmp_path: Path, name: str, text: str, found: str) -> None:
    folder = campaign_folder(tmp_path / "a")
    (tmp_path / name).write_text(text)
    with pytest.raises(OnwardError, match=found):
        import_file(folder, tmp_path / name)
    assert read(folder, "select count(*) from votes") == [(0,)]
    assert read(folder, "select count(*) from annotators") == [(0,)]
