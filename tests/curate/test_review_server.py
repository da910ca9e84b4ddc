"""The server as a process: killed under load, told to end, asked for a port that is taken."""

import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from review_server import Served
from small_campaign import campaign_folder, invited, read

pytestmark = pytest.mark.slow
KILLS, PEOPLE = 5, 8


@pytest.fixture(autouse=True)
def _no_network() -> None:
    """Take the place of the general fixture: these tests talk to their own server."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(campaign_folder(tmp_path, items=400, votes=2))
    yield server
    server.end()


class Person(threading.Thread):
    """Somebody who answers until told to stop, and resends what was not acknowledged."""

    def __init__(self, address: str, token: str, seed: int) -> None:
        super().__init__(daemon=True)
        self._address, self._token, self._chance = address, token, random.Random(seed)
        self.stop = threading.Event()
        self.acknowledged: dict[str, str] = {}

    def run(self) -> None:
        with httpx.Client(base_url=self._address, timeout=20) as client:
            self._client = client
            self._insist("GET", f"/join/{self._token}")
            page = self._insist("GET", "/").text
            self._csrf = page.partition('name="csrf" content="')[2].partition('"')[0]
            questions = self._insist("POST", "/api/next").json()["questions"]
            while questions and not self.stop.is_set():
                key = f"{self._chance.getrandbits(128):032x}"
                label = self._chance.randrange(3)
                vote = {"key": key, "question": questions[0], "labels": [label]}
                vote |= {"sensitive": False, "seconds": 1.0}
                answer = self._insist("POST", "/api/answer", vote)
                self.acknowledged[key] = str(label)
                questions = answer.json()["questions"]
                time.sleep(0.01)

    def _insist(self, method: str, path: str, vote: object = None) -> httpx.Response:
        headers = {"x-csrf-token": getattr(self, "_csrf", "")}
        while True:
            try:
                found = self._client.request(method, path, json=vote, headers=headers)
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            if found.status_code != 429:
                return found.raise_for_status()
            time.sleep(0.2)


def test_no_acknowledged_vote_is_lost_by_a_kill(served: Served) -> None:
    tokens = invited(served.folder, *(f"p{at}" for at in range(PEOPLE)))
    served.start()
    people = [Person(served.address, token, at) for at, token in enumerate(tokens)]
    for one in people:
        one.start()
    chance = random.Random(0)
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.3, 1.0))
        served.end()
        served.start()
    time.sleep(1)
    for one in people:
        one.stop.set()
    for one in people:
        one.join(60)
    acknowledged = {key: said for one in people for key, said in one.acknowledged.items()}
    found = dict(read(served.folder, "select key, labels from votes"))
    assert len(acknowledged) > 50
    assert {key: found.get(key) for key in acknowledged} == acknowledged
    # At most what was on its way when people stopped is there beyond that.
    assert len(found) <= len(acknowledged) + PEOPLE
    assert max(read(served.folder, "select max(votes + held) from items"))[0] <= 2
    assert read(served.folder, "pragma integrity_check") == [("ok",)]


def test_told_to_end(served: Served) -> None:
    served.start()
    assert httpx.get(f"{served.address}/").status_code == 401
    assert served.end(signal.SIGINT) == 0
    served.start()
    assert served.end(signal.SIGTERM) in (0, 143)
    # The main file has everything: nothing is left beside it that a copy could miss.
    assert not list(served.folder.glob("*-wal"))


def test_a_port_that_is_taken_and_a_second_process_beside_it(served: Served) -> None:
    served.start()
    second = subprocess.run(served.command, capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert "add --no-serve" in second.stderr
    assert "Traceback" not in second.stderr
    beside = [*served.command, "--no-serve", "--invite", "Ann"]
    said = subprocess.run(beside, capture_output=True, text=True, check=True).stdout
    link = next(word for word in said.split() if "/join/" in word)
    assert httpx.get(link).status_code == 200


def test_listening_to_others_is_said(tmp_path: Path) -> None:
    folder = campaign_folder(tmp_path)
    alone = Served(folder)
    alone.start()
    alone.end()
    assert not any("mind:" in line for line in alone.said)
    open_to_all = Served(folder, "--host", "0.0.0.0", "--address", "http://review.example.org")
    open_to_all.start()
    try:
        assert any(line.startswith("mind: 0.0.0.0 can be reached") for line in open_to_all.said)
        assert open_to_all.owner.startswith("http://review.example.org/owner/join/")
        named = {"host": "review.example.org"}
        assert httpx.get(f"{open_to_all.address}/", headers=named).status_code == 401
        named = {"host": "evil.example.org"}
        assert httpx.get(f"{open_to_all.address}/", headers=named).status_code == 421
    finally:
        open_to_all.end()
