"""The application as a browser meets it: asked, answered, undone, paused, revoked, counted."""

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from small_campaign import ADDRESS, OWNER, Browser, campaign_folder, invited, png, read, with_app

from onward.curate.review import app as module
from onward.curate.review.campaign import Campaign, open_campaign
from onward.curate.review.clerk import Clerk
from onward.curate.review.exchange import read_votes
from onward.curate.review.people import revoke


def test_from_the_link_to_the_last_image(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path, items=7, votes=1)
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        page = await ann.open()
        assert page.status_code == 200
        assert "Select one or more elements in this image, or “None of the above”" in page.text
        state = (await ann.post("/api/next")).json()
        assert state["answered"] == 0
        number = 0
        while state["questions"]:
            question = state["questions"][0]
            image = await ann.client.get(f"/image/{question}")
            assert image.headers["content-type"] == "image/png"
            assert image.headers["x-content-type-options"] == "nosniff"
            assert image.headers["cross-origin-resource-policy"] == "same-origin"
            answer = await ann.answer(f"a{number}", question, [number % 3])
            assert answer.status_code == 200
            state = answer.json()
            number += 1
            assert state["kept"] == f"a{number - 1}".rjust(16, "0")
            assert state["answered"] == number
        assert number == 7

    with_app(folder, story)
    votes = read_votes(folder).to_pylist()
    assert [vote["id"] for vote in votes] == sorted(f"photo-{at}" for at in range(7))
    assert {vote["annotator"] for vote in votes} == {"Ann"}
    assert votes[0]["seconds"] == 1.5


def test_images_are_what_lies_in_the_folder(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path, items=3, votes=1)
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        questions = (await ann.post("/api/next")).json()["questions"]
        seen = [(await ann.client.get(f"/image/{one}")).content for one in questions]
        assert sorted(seen) == sorted(png(at) for at in range(3))

    with_app(folder, story)


def test_undo_and_correction(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path, items=4, votes=1)
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        assert (await ann.client.get("/api/previous")).json() is None
        first, second, _ = (await ann.post("/api/next")).json()["questions"]
        await ann.answer("a", first, [0, 2])
        before = (await ann.client.get(f"/api/previous?before={second}")).json()
        assert before == {"question": first, "labels": [0, 2], "sensitive": False}
        state = (await ann.answer("b", first, [])).json()
        assert state["answered"] == 1

    with_app(folder, story)
    assert read(folder, "select labels from votes order by vote") == [("0,2",), ("",)]
    assert read_votes(folder).column("labels").to_pylist() == [[]]


def test_a_vote_that_is_sent_again_is_one_vote(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path, items=4, votes=1)
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        first, second, _ = (await ann.post("/api/next")).json()["questions"]
        answers = await asyncio.gather(*(ann.answer("a", first) for _ in range(20)))
        assert {answer.status_code for answer in answers} == {200}
        assert (await ann.answer("a", second)).status_code == 409

    with_app(folder, story)
    assert read(folder, "select count(*) from votes") == [(1,)]


def test_everybody_at_once_and_a_restart_end_with_exactly_n(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path, items=30, votes=3)
    tokens = invited(folder, *(f"p{at}" for at in range(12)))

    async def work(app: Any, token: str, at: int, most: int) -> None:
        mine = Browser(app, token)
        await mine.open()
        state = (await mine.post("/api/next")).json()
        for number in range(most):
            if not state["questions"]:
                return
            answer = await mine.answer(f"{at}-{most}-{number}", state["questions"][0], [at % 3])
            assert answer.status_code == 200
            state = answer.json()

    for most in (4, 100):

        async def story(app: Any, most: int = most) -> None:
            await asyncio.gather(*(work(app, token, at, most) for at, token in enumerate(tokens)))

        with_app(folder, story)
    assert read(folder, "select distinct votes, held from items") == [(3, 0)]
    assert read_votes(folder).num_rows == 90


def test_paused_and_resumed_by_the_owner(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path)
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann, owner = Browser(app, token), Browser(app, OWNER, "owner")
        await ann.open()
        await owner.open()
        assert (await owner.post("/owner/pause")).json() == {"paused": True}
        assert (await ann.post("/api/next")).json() == {
            "questions": [],
            "answered": 0,
            "paused": True,
        }
        assert "paused" in (await owner.client.get("/owner")).text
        await owner.post("/owner/resume")
        assert len((await ann.post("/api/next")).json()["questions"]) == 3
        assert (await owner.post("/owner/destroy")).status_code == 422

    with_app(folder, story)


def test_revoked_at_once_also_by_another_process(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path)
    tokens = invited(folder, "Ann", "Ben")

    async def story(app: Any) -> None:
        owner = Browser(app, OWNER, "owner")
        await owner.open()
        for name, token in zip(("Ann", "Ben"), tokens, strict=True):
            mine = Browser(app, token)
            await mine.open()
            (question, *_) = (await mine.post("/api/next")).json()["questions"]
            await mine.answer(name, question)
            if name == "Ann":
                assert (await owner.post("/owner/revoke", {"name": name})).json() == {"votes": 1}
            else:
                with open_campaign(folder) as campaign, campaign.writing():
                    assert revoke(campaign, name) == 1
            asked = [
                await mine.client.get("/"),
                await mine.client.get(f"/image/{question}"),
                await mine.client.get("/api/previous"),
                await mine.post("/api/next"),
                await mine.answer(f"{name}-again", question),
                await mine.open(),
            ]
            assert {answer.status_code for answer in asked} == {403}
        unknown = await owner.post("/owner/revoke", {"name": "Nobody"})
        assert unknown.status_code == 422

    with_app(folder, story)
    assert read_votes(folder).num_rows == 0
    assert read(folder, "select count(*) from votes") == [(2,)]


def test_invited_by_the_owner(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path)

    async def story(app: Any) -> None:
        owner = Browser(app, OWNER, "owner")
        await owner.open()
        link = (await owner.post("/owner/invite", {"name": "Ann"})).json()["link"]
        assert link.startswith(f"{ADDRESS}/join/")
        ann = Browser(app, link.rpartition("/")[2])
        assert (await ann.open()).status_code == 200
        newer = (await owner.post("/owner/invite", {"name": "Ann"})).json()["link"]
        assert (await ann.client.get("/")).status_code == 401
        assert (await Browser(app, newer.rpartition("/")[2]).open()).status_code == 200
        assert (await owner.post("/owner/invite", {"name": "  "})).status_code == 422

    with_app(folder, story)


def test_the_dashboard_counts(tmp_path: Path) -> None:
    gold = "id,labels\n" + "".join(f"photo-{at},computer\n" for at in range(12))
    folder = campaign_folder(tmp_path, items=12, gold=gold, votes=3)
    people = {"Ann": [0], "Ben": [0], "Cem": [1]}
    tokens = invited(folder, *people)

    async def story(app: Any) -> None:
        for (name, labels), token in zip(people.items(), tokens, strict=True):
            mine = Browser(app, token)
            await mine.open()
            state = (await mine.post("/api/next")).json()
            for number in range(12):
                answer = await mine.answer(f"{name}{number}", state["questions"][0], labels)
                state = answer.json()
        owner = Browser(app, OWNER, "owner")
        page = await owner.open()
        assert "36</b> of 36 votes" in page.text
        seen = (await owner.client.get("/owner/numbers")).json()
        assert seen["counts"]["complete"] == 12
        assert seen["counts"]["disputed"] == 0
        gold = {row["name"]: (row["gold"]["good"], row["gold"]["of"]) for row in seen["people"]}
        assert gold == {"Ann": (12, 12), "Ben": (12, 12), "Cem": (0, 12)}
        assert {row["seconds"] for row in seen["people"]} == {1.5}
        assert seen["per_hour"] > 0

    with_app(folder, story)


def test_disputed_images_are_shown_to_the_owner_alone(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path, items=1, votes=3)
    tokens = invited(folder, "Ann", "Ben", "Cem")

    async def story(app: Any) -> None:
        for at, token in enumerate(tokens):
            mine = Browser(app, token)
            await mine.open()
            (question,) = (await mine.post("/api/next")).json()["questions"]
            await mine.answer(f"k{at}", question, [at])
        owner = Browser(app, OWNER, "owner")
        page = await owner.open()
        assert "photo-0" in page.text
        assert '<img src="/owner/image/1"' in page.text
        assert (await owner.client.get("/owner/image/1")).content == png(0)
        assert (await owner.client.get("/owner/image/2")).status_code == 404
        assert (await mine.client.get("/owner/image/1")).status_code == 401

    with_app(folder, story)


def test_who_went_away_keeps_nobody_from_writing(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path)

    async def story() -> None:
        clerk, begun, go_on = Clerk(folder), threading.Event(), threading.Event()

        def slow(_: Campaign) -> bool:
            begun.set()
            return go_on.wait(10)

        busy = asyncio.create_task(clerk.do(slow))
        await asyncio.to_thread(begun.wait)
        gone = asyncio.create_task(clerk.do(lambda campaign: campaign.set("gone", 1)))
        await asyncio.sleep(0)
        for task in (busy, gone):
            task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        kept = clerk.do(lambda campaign: campaign.set("kept", 1))
        await asyncio.wait_for(kept, 10)
        clerk.close()

    asyncio.run(story())
    assert read(folder, "select value from settings where name = 'kept'") == [("1",)]


def test_a_full_disk_is_said_and_the_vote_is_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = campaign_folder(tmp_path)
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        (question, *_) = (await ann.post("/api/next")).json()["questions"]

        def full(*_: Any) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        with monkeypatch.context() as broken:
            broken.setattr(module, "keep", full)
            assert (await ann.answer("a", question)).status_code == 503
        assert (await ann.answer("a", question)).status_code == 200

    with_app(folder, story)
    assert read(folder, "select count(*) from votes") == [(1,)]
