"""``onward curate review`` as a person types it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_campaign import retrieved
from terminal import Terminal

from onward.curate.review.campaign import open_campaign
from onward.curate.review.people import annotator_of


@pytest.fixture
def made(tmp_path: Path, onward: Terminal) -> tuple[Path, Path, Path]:
    found, images = retrieved(tmp_path, 5)
    out = tmp_path / "campaign"
    code, said, _ = onward(
        *("curate", "review", found, "--images", images, "--out", out, "--votes", "2"),
        *("--no-serve", "--json"),
    )
    assert code == 0
    told = json.loads(said)
    assert (told["items"], told["wanted"], told["votes"]) == (5, 10, 0)
    return found, images, out


def test_the_same_command_again_changes_nothing(
    made: tuple[Path, Path, Path], onward: Terminal
) -> None:
    found, images, out = made
    before = (out / "stage.json").read_bytes()
    code, said, _ = onward(
        "curate", "review", found, "--images", images, "--out", out, "--no-serve"
    )
    assert code == 0
    assert "0 of 10 votes (0%) on 5 images" in said
    assert (out / "stage.json").read_bytes() == before


def test_invited_paused_imported_exported_revoked(
    made: tuple[Path, Path, Path], onward: Terminal, tmp_path: Path
) -> None:
    *_, out = made
    review = ("curate", "review", "--out", out, "--no-serve")
    code, said, _ = onward(*review, "--invite", "Ann", "--invite", "[b]Ben[/b]", "--pause")
    assert code == 0
    links = [line for line in said.splitlines() if "not shown again" in line]
    assert links[1].startswith("for [b]Ben[/b], not shown again: http://127.0.0.1:8123/join/")
    assert ", paused" in said
    with open_campaign(out) as campaign:
        ann = annotator_of(campaign, links[0].rpartition("/")[2])
        assert ann is not None
        assert ann.name == "Ann"
        assert campaign.setting("paused") is True
    votes = tmp_path / "votes.csv"
    votes.write_text("id,annotator,labels\nphoto-0,Ann,bus\nphoto-1,Ann,\nelsewhere,Ann,bus\n")
    code, said, _ = onward(*review, "--import", votes, "--resume")
    assert "imported 2 of 3 votes (2 count, 0 were there, 1 for images that are not" in said
    assert ", paused" not in said
    code, said, _ = onward(*review, "--export", tmp_path / "out.json")
    assert f"2 votes: {tmp_path / 'out.json'}" in said
    assert len(json.loads((tmp_path / "out.json").read_text())) == 2
    code, said, _ = onward(
        *review, "--export", tmp_path / "crowd.csv", "--format", "crowd-kit", "--json"
    )
    assert json.loads(said)["exported"]["votes"] == 2
    assert (tmp_path / "crowd.csv").read_text().splitlines()[1] == "photo-0,Ann,bus"
    code, said, _ = onward(*review, "--revoke", "Ann")
    assert "Ann is shut out: 2 votes no longer count" in said
    assert "0 of 10 votes" in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--votes", "3"), "expected the votes that"),
        (("--gold-share", "0.2"), "expected the gold share that"),
        (("--gold-share", "0.9"), "between 0 and 0.5"),
        (("--gold", "nowhere.csv"), "no file at nowhere.csv"),
        (("--images", "nowhere"), "expected the images of the campaign in nowhere"),
        (("--revoke", "An"), "unknown annotator 'An'. Did you mean 'Ann'?"),
        (("--invite", " "), "a name of 1 to 80 letters"),
        (("--import", "nowhere.csv"), "found none at nowhere.csv"),
        (("--export", "votes.doc"), "or --format"),
        (("--invite", "Cem", "--host", "0.0.0.0"), "expected --address"),
        (("--invite", "Cem", "--address", "review.example.org"), "such as https://"),
    ],
)
def test_mistakes(
    made: tuple[Path, Path, Path],
    onward: Terminal,
    words: tuple[str, ...],
    expected: str,
) -> None:
    *_, out = made
    review = ("curate", "review", "--out", out, "--no-serve")
    onward(*review, "--invite", "Ann")
    code, _, said = onward(*review, *words)
    assert code == 2
    assert expected in said
    assert "Traceback" not in said


def test_nothing_to_make_it_of(onward: Terminal, tmp_path: Path) -> None:
    code, _, said = onward("curate", "review", "--out", tmp_path / "new", "--no-serve")
    assert code == 2
    assert "review RETRIEVED --images DIR --out CAMPAIGN" in said


def test_another_retrieval_is_another_campaign(
    made: tuple[Path, Path, Path], onward: Terminal, tmp_path: Path
) -> None:
    *_, out = made
    other, images = retrieved(tmp_path / "other", 6)
    code, _, said = onward(
        "curate", "review", other, "--images", images, "--out", out, "--no-serve"
    )
    assert code == 2
    assert "expected the candidates that" in said


def test_images_that_were_moved(made: tuple[Path, Path, Path], onward: Terminal) -> None:
    _, images, out = made
    moved = images.rename(images.with_name("elsewhere"))
    code, *_ = onward("curate", "review", "--out", out, "--images", moved, "--no-serve")
    assert code == 0
    with open_campaign(out) as campaign:
        places = [campaign.place(item) for item in range(1, 6)]
    assert {place.id for place in places if place is not None} == {f"photo-{at}" for at in range(5)}
    assert all(place is not None and place.read().startswith(b"\x89PNG") for place in places)


def test_no_images_and_wrong_gold(onward: Terminal, tmp_path: Path) -> None:
    found, images = retrieved(tmp_path, 2)
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "other.png").write_bytes(b"")
    out = tmp_path / "campaign"
    make = ("curate", "review", found, "--out", out, "--no-serve")
    code, _, said = onward(*make, "--images", empty)
    assert code == 2
    assert "expected images of the 2 candidates" in said
    gold = tmp_path / "gold.csv"
    for text, expected in (
        ("id,label\n", "the columns id and labels"),
        ("id,labels\nphoto-0,zebra\n", "'zebra'"),
        ("id,labels\nphoto-0,bus\nphoto-0,bus\n", "'photo-0' twice"),
        ("id,labels\nelsewhere,bus\n", "found none for elsewhere"),
    ):
        gold.write_text(text)
        code, _, said = onward(*make, "--images", images, "--gold", gold)
        assert code == 2
        assert expected in said
    # What had failed is made by the same command, once its cause is gone.
    code, said, _ = onward(*make, "--images", images)
    assert code == 0
    assert "on 2 images" in said


def test_the_help_loads_nothing_heavy() -> None:
    script = (
        "import sys, onward.cli.curate.review; "
        "print(sorted({'fastapi', 'uvicorn', 'sqlite3', 'torch', 'polars'} & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    assert said.stdout.strip() == "[]"
