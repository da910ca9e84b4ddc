"""What a results folder says about data and machines; damage is said, absence is not an error."""

import io
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from onward.errors import DamagedFolderError
from onward.report.content_figures import Studio
from onward.report.content_stream import stream_view
from onward.report.page import write_page
from onward.report.provenance import (
    CardPeriod,
    StreamCard,
    environments,
    provenance,
    stream_card,
    years_by_distance,
)
from onward.results.collect import Collected
from onward.results.folder import open_folder
from onward.results.record import RunRecord, load_record
from onward.results.schema import Cost, Environment
from onward.results.stream_card import DOMAINS

CARD = """{"title": "T", "summary": "S", "licence": "L", "citation": "C", "data_digest": "%s",
"periods": [
 {"name": "a", "start": "2017-01-01", "end": "2018-01-01", "samples": 3, "classes": {"x": 3}},
 {"name": "b", "start": "2018-01-01", "end": "2022-01-01", "samples": 4, "classes": {"x": 4}},
 {"name": "c", "start": "2022-01-01", "end": "2022-01-01", "samples": 5, "classes": {"x": 5}}
]}""" % ("d" * 64)


def written(record: RunRecord, out: Path, onward: str = "0.1.0") -> RunRecord:
    machine = Environment(onward=onward, python="3.11", platform="p", cpus=2, packages={})
    with open_folder(out, record.spec, machine, lambda: None) as folder:
        folder.add(0, list(record.scores), None)
        folder.finish(Cost(cpu_seconds=1))
        return load_record(folder.path)


def test_card_and_machines_come_from_the_results_folder(make: Callable, tmp_path: Path) -> None:
    records = [
        written(make([[0.5]]), tmp_path),
        written(make([[0.5]], seed=1), tmp_path),
        written(make([[0.5]], seed=2), tmp_path, onward="0.2.0"),
    ]
    assert stream_card(records) is None
    assert [machine.onward for machine in environments(records)] == ["0.1.0", "0.2.0"]
    card = tmp_path / "clear" / "stream" / records[0].spec.stream_name / "card.json"
    card.parent.mkdir(parents=True)
    card.write_text(CARD)
    found = stream_card(records)
    assert found is not None
    assert (found.licence, found.periods[2].samples) == ("L", 5)
    card.write_text("{}")
    with pytest.raises(DamagedFolderError, match=r"card\.json that cannot be read; move"):
        stream_card(records)


def test_runs_without_a_folder_have_neither(make: Callable) -> None:
    assert stream_card([make([[0.5]])]) is None
    assert environments([make([[0.5]])]) == []


def test_years_are_those_between_the_dates_not_a_count_of_periods(
    make: Callable, tmp_path: Path
) -> None:
    record = written(make([[0.5]]), tmp_path)
    card = tmp_path / "clear" / "stream" / record.spec.stream_name / "card.json"
    card.parent.mkdir(parents=True)
    card.write_text(CARD)
    found = stream_card([record])
    assert found is not None
    years = years_by_distance(found.periods)
    assert years[0] == 0
    assert years[1] == pytest.approx((1 + 4) / 2, abs=0.01)
    assert years[2] == pytest.approx(5, abs=0.01)
    assert years[-2] == -years[2]


def drawn() -> bytes:
    sink = io.BytesIO()
    Image.effect_noise((128, 64), 60).save(sink, "PNG")
    return sink.getvalue()


def test_what_is_damaged_beside_the_runs_is_left_out_and_named(
    make: Callable, tmp_path: Path
) -> None:
    records = [written(make([[0.5]], seed=seed), tmp_path) for seed in range(4)]
    stream = tmp_path / "clear" / "stream" / records[0].spec.stream_name
    stream.mkdir(parents=True)
    (stream / "card.json").write_text(CARD)
    (stream / "000.png").write_bytes(drawn())
    pq.write_table(pa.table({"id": ["a"]}), stream / DOMAINS)
    assert provenance(records).damage == []
    for number, content in enumerate((b"{", b"{}", None)):
        path = records[number].path / "env.json"
        path.unlink() if content is None else path.write_bytes(content)
    (stream / "001.png").write_bytes(drawn()[:999])
    (stream / "002.png").write_bytes(b"no picture")
    (stream / DOMAINS).write_bytes(b"PAR1")
    told = [
        "what 3 runs ran on: env.json cannot be read",
        "parts of the stream's card: 001.png, 002.png and domains.parquet cannot be read",
    ]
    assert provenance(records).damage == told
    assert len(environments(records)) == 1
    page = write_page(Collected(tuple(records)), tmp_path / "page.html")
    assert page.left_out == [f"T: {line}" for line in told]
    text = page.path.read_text()
    assert "Not all of it is there" in text
    assert text.count('alt="Samples of') == 1
    (stream / "card.json").write_text("{")
    page = write_page(Collected(tuple(records)), tmp_path / "page.html")
    assert page.left_out[1] == (
        "clear / made-up: what the stream looks like: its card.json cannot be read"
    )


def test_classes_that_are_as_frequent_stand_as_they_came() -> None:
    names = [f"class {letter}" for letter in "zyxwvutsrq"]
    period = CardPeriod(
        name="first", start=None, end=None, samples=20, classes=dict.fromkeys(names, 2)
    )
    card = StreamCard(
        title="T", summary="", licence="", citation="", data_digest="", periods=[period]
    )
    (mix,) = stream_view(card, 1, Studio()).mix
    assert mix.numbers is not None
    assert [row[0] for row in mix.numbers.rows] == names
