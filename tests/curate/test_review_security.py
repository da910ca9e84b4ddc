"""What a stranger, a hostile page and a curious annotator get: nothing."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_campaign import (
    ADDRESS,
    OWNER,
    Browser,
    campaign_folder,
    invited,
    read,
    retrieved,
    with_app,
)

from onward.curate.concepts import Concept
from onward.curate.records import CANDIDATES
from onward.curate.review.campaign import open_campaign
from onward.curate.review.guard import MOST_BYTES, Guard
from onward.curate.review.limits import Limit
from onward.curate.review.making import Rules, make_campaign
from onward.curate.review.people import invite, new_token
from onward.errors import OnwardError

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return campaign_folder(tmp_path)


def test_tokens_are_long_random_and_kept_as_hashes(folder: Path) -> None:
    tokens = [new_token() for _ in range(100)]
    assert len(set(tokens)) == 100
    assert min(map(len, tokens)) >= 32  # 6 bits a letter
    (token,) = invited(folder, "Ann")
    for path in folder.iterdir():
        assert token.encode() not in path.read_bytes()


def test_without_a_link_there_is_nothing(folder: Path) -> None:
    async def story(app: Any) -> None:
        nobody = Browser(app, "a-token-that-nobody-has")
        assert (await nobody.open()).status_code == 401
        for path in (
            "/",
            "/image/1",
            "/api/previous",
            "/owner",
            "/owner/numbers",
            "/owner/image/1",
        ):
            assert (await nobody.client.get(path)).status_code == 401, path
        for path in ("/api/next", "/owner/pause"):
            assert (await nobody.post(path)).status_code == 401, path
        assert (await nobody.post("/owner/invite", {"name": "Eve"})).status_code == 401

    with_app(folder, story)


def test_an_annotator_is_no_owner(folder: Path) -> None:
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        assert (await ann.client.get("/owner")).status_code == 401
        assert (await ann.client.get(f"/owner/join/{token}")).status_code == 401
        assert (await ann.post("/owner/revoke", {"name": "Ann"})).status_code == 401

    with_app(folder, story)


def test_nobody_sees_what_others_were_asked_or_said(folder: Path) -> None:
    tokens = invited(folder, "Ann", "Ben")

    async def story(app: Any) -> None:
        ann, ben = (Browser(app, token) for token in tokens)
        await ann.open()
        await ben.open()
        (question, *_) = (await ann.post("/api/next")).json()["questions"]
        await ann.answer("a", question)
        assert (await ann.client.get(f"/image/{question}")).status_code == 200
        assert (await ben.client.get(f"/image/{question}")).status_code == 404
        assert (await ben.client.get("/api/previous")).json() is None
        assert (await ben.answer("b", question)).status_code == 409
        # The same question, or a free one: the answer does not tell which.
        assert (await ben.answer("b", 10**6)).status_code == 409
        state = (await ben.post("/api/next")).json()
        assert set(state) == {"questions", "answered", "paused"}
        assert "Ann" not in (await ben.client.get("/")).text

    with_app(folder, story)
    assert read(folder, "select count(*) from votes") == [(1,)]


def test_gold_and_repeats_look_like_any_other(tmp_path: Path) -> None:
    gold = "id,labels\nphoto-0,bus\nphoto-1,bus\nphoto-2,bus\n"
    folder = campaign_folder(tmp_path, items=40, gold=gold, gold_share=0.3, repeat_share=0.3)
    (token,) = invited(folder, "Ann")
    shapes = set()

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        state = (await ann.post("/api/next")).json()
        for number in range(30):
            question = state["questions"][0]
            image = await ann.client.get(f"/image/{question}")
            headers = {name for name in image.headers if name != "content-length"}
            state = (await ann.answer(f"k{number}", question)).json()
            shapes.add((frozenset(headers), frozenset(state)))

    with_app(folder, story)
    kinds = {kind for (kind,) in read(folder, "select kind from questions")}
    assert kinds == {"new", "gold", "repeat"}
    assert len(shapes) == 1


def test_cookies_cannot_be_read_by_scripts_or_sent_by_other_sites(folder: Path) -> None:
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        joined = await ann.client.get(f"/join/{token}")
        cookie = joined.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert token not in joined.text

    with_app(folder, story)


def test_cross_site_requests_are_refused(folder: Path) -> None:
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        (question, *_) = (await ann.post("/api/next")).json()["questions"]
        vote = {"key": "k" * 16, "question": question, "labels": [], "sensitive": False}
        vote["seconds"] = 1.0
        forged = [
            await ann.client.post("/api/answer", json=vote),
            await ann.post("/api/answer", vote, **{"x-csrf-token": "0" * 64}),
            await ann.post("/api/answer", vote, origin="https://evil.example"),
            await ann.post("/api/answer", vote, origin="null"),
            await ann.post("/api/answer", vote, **{"sec-fetch-site": "cross-site"}),
        ]
        assert [answer.status_code for answer in forged] == [403] * 5
        ours = await ann.post("/api/answer", vote, origin=ADDRESS)
        assert ours.status_code == 200

    with_app(folder, story)
    assert read(folder, "select count(*) from votes") == [(1,)]


def test_other_names_for_this_machine_are_refused(folder: Path) -> None:
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        for host in ("evil.example", "evil.example:8000", "127.0.0.1:8001", ""):
            found = await ann.client.get(f"/join/{token}", headers={"host": host})
            assert found.status_code == 421, host

    with_app(folder, story)


def test_every_answer_has_a_strict_policy(folder: Path) -> None:
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        pages = [await ann.open(), await ann.client.get("/nowhere"), await ann.client.get("/owner")]
        pages.append(await ann.client.get("/", headers={"host": "evil.example"}))
        for page in pages:
            policy = page.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert page.headers["x-content-type-options"] == "nosniff"
            assert page.headers["referrer-policy"] == "no-referrer"
            assert page.headers["cache-control"] == "no-store"
            assert not re.search(r"<script(?![^>]* src=)|\son\w+=|\sstyle=|<style", page.text)

    with_app(folder, story)


def test_hostile_names_are_text_on_every_page(tmp_path: Path) -> None:
    concepts = [
        Concept('"><script>alert(1)<|script>', (EVIL,), option=EVIL),
        Concept("'; drop table votes; --", ("x",), option="{{ 123456 * 7 }} {% raw %}"),
        Concept("c", ("x",), option="\u202e\u0000<svg onload=alert(3)>"),
    ]
    found, images = retrieved(tmp_path, 1, concepts)
    folder = make_campaign(
        found, images, tmp_path / "<b>campaign", Rules(gold_share=0, repeat_share=0)
    ).folder
    tokens = invited(folder, EVIL, "'; drop table votes; --", "{{ 123456 * 7 }}")

    async def story(app: Any) -> None:
        pages = []
        for at, token in enumerate(tokens):
            mine = Browser(app, token)
            pages += [await mine.open(), await mine.client.get(f"/join/{token}")]
            (question,) = (await mine.post("/api/next")).json()["questions"]
            await mine.answer(f"k{at}", question, [at])
        pages.append(await Browser(app, OWNER, "owner").open())
        for page in pages:
            assert page.status_code == 200
            text = page.text
            assert "alert(" not in text or "&lt;" in text
            assert not re.search(r"<script>|<img src=x|<svg|<b>campaign", text)
            assert "864192" not in text
        assert "{{ 123456 * 7 }}" in pages[0].text
        assert "photo-0" in pages[-1].text

    with_app(folder, story)
    assert read(folder, "select count(*) from votes") == [(3,)]


def test_a_wrong_link_is_not_repeated_on_the_page(folder: Path) -> None:
    async def story(app: Any) -> None:
        found = await Browser(app, "%3Cscript%3Ealert(1)%3C%2Fscript%3E").open()
        assert found.status_code in (401, 404)
        assert "alert" not in found.text

    with_app(folder, story)


PATHS = (
    "/image/../campaign.sqlite",
    "/image/%2e%2e%2fcampaign.sqlite",
    "/image/photo-0",
    "/image/1/../../begun.json",
    "/image/-1",
    "/image/99999999999999999999999",
    "/static/../schema.sql",
    "/static/%2e%2e%2fschema.sql",
    "/static/annotate.html.j2",
    "/static//etc/passwd",
)


def test_paths_lead_nowhere_else(folder: Path) -> None:
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        for path in PATHS:
            # httpx tidies an address up; a stranger's client does not.
            address = httpx.URL(ADDRESS).copy_with(raw_path=path.encode())
            request = httpx.Request("GET", address, headers={"cookie": _cookies(ann)})
            found = await ann.client.send(request)
            assert found.status_code in (404, 422), path
            assert b"SQLite" not in found.content
            assert b"create table" not in found.content

    with_app(folder, story)


def _cookies(browser: Browser) -> str:
    return "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())


def test_images_of_hostile_ids_are_found_by_number_alone(tmp_path: Path) -> None:
    found, images = retrieved(tmp_path, 2)
    (tmp_path / "secret.png").write_bytes(b"secret")
    rows = [
        {"bucket": 0, "concept": "bus", "rank": at, "id": name, "score": 0.5}
        for at, name in enumerate(("../secret", "/etc/passwd", "photo-0"))
    ]
    table = pa.Table.from_pylist(rows, schema=CANDIDATES)
    pq.write_table(table, found / "candidates.parquet")
    made = make_campaign(found, images, tmp_path / "c", Rules())
    assert made.counts["items"] == 1
    assert made.counts["missing_images"] == 2
    listed = (tmp_path / "c" / "missing.csv").read_text().splitlines()
    assert listed == ["id", "../secret", "/etc/passwd"]


def test_what_is_too_large_is_refused(folder: Path) -> None:
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        headers = {"x-csrf-token": ann.csrf, "content-type": "application/json"}

        async def endless() -> Any:  # no Content-Length
            for _ in range(1 + MOST_BYTES // 1000):
                yield b" " * 1000

        for content in (b" " * (MOST_BYTES + 1), endless()):
            found = await ann.client.post("/api/answer", content=content, headers=headers)
            assert found.status_code == 413
        lying = {**headers, "content-length": "ten"}
        assert (await ann.client.post("/api/next", headers=lying)).status_code == 413

    with_app(folder, story)


WRONG: tuple[dict[str, Any], ...] = (
    {"labels": [3]},
    {"labels": [-1]},
    {"labels": ["computer"]},
    {"labels": [0] * 1001},
    {"sensitive": "yes"},
    {"seconds": -1},
    {"seconds": 1e400},
    {"key": "short"},
    {"key": "k" * 65},
    {"key": "' or 1 = 1 --    "},
    {"question": 0},
    {"question": 2**63},
    {"question": "1"},
    {"annotator": 2},
)


def test_votes_that_are_none_are_refused(folder: Path) -> None:
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        (question, *_) = (await ann.post("/api/next")).json()["questions"]
        vote = {"key": "k" * 16, "question": question, "labels": [0], "sensitive": False}
        headers = {"x-csrf-token": ann.csrf, "content-type": "application/json"}
        for change in WRONG:
            text = json.dumps({**vote, "seconds": 1.0, **change}).replace("Infinity", "1e400")
            found = await ann.client.post("/api/answer", content=text, headers=headers)
            assert found.status_code == 422, change
            assert "or 1 = 1" not in found.text

    with_app(folder, story)
    assert read(folder, "select count(*) from votes") == [(0,)]


def test_too_many_requests_of_one_annotator_and_wrong_links_are_refused(folder: Path) -> None:
    (token,) = invited(folder, "Ann")

    async def story(app: Any) -> None:
        ann = Browser(app, token)
        await ann.open()
        found = [(await ann.client.get("/api/previous")).status_code for _ in range(200)]
        assert 429 in found
        guesses = [(await Browser(app, f"guess-{at}").open()).status_code for at in range(30)]
        assert guesses[0] == 401
        assert guesses[-1] == 429
        # Nobody is shut out by who shares an address with them.
        (other,) = invited(folder, "Ben")
        assert (await Browser(app, other).open()).status_code == 200

    with_app(folder, story)


def test_too_many_requests_of_one_address_are_refused() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    guard = Guard(app, frozenset({ADDRESS}), Limit(1, 5, clock=lambda: 0.0))

    async def story() -> list[int]:
        transport = httpx.ASGITransport(guard)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
            return [(await client.get("/")).status_code for _ in range(7)]

    assert asyncio.run(story()) == [200] * 5 + [429] * 2


def test_limits_forget_and_fill_up_again() -> None:
    time = [0.0]
    limit = Limit(per_second=2, at_once=2, clock=lambda: time[0])
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]
    assert limit.allows("b")
    time[0] = 0.5
    assert [limit.allows("a") for _ in range(2)] == [True, False]
    time[0] = 100.0
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\nb", "a\x00b"])
def test_names_that_are_none(folder: Path, name: str) -> None:
    with open_campaign(folder) as campaign, pytest.raises(OnwardError, match="1 to 80"):
        invite(campaign, name)
