"""The review server under load: how long an answer takes, and whether one is ever lost.

    python benchmarks/curate_review.py [load] [kills] [end] [--minutes 10] [--folder DIR]

load: 163,000 items; 200 annotators over the loopback give 50 answers a second in all, for so many
minutes, each loading its images, while the owner's page is open. The time of an answer runs from
the moment at which it was due: a generator or a server that falls behind does not hide it.
kills: the same load, while the server is killed with SIGKILL twenty times. What was not
acknowledged is sent again, as the page does it. Then each acknowledged vote is looked for.
end: 3,000 items, answered to the end as fast as it goes: how many votes each image has.

The server is a process of its own; this one, which is all annotators, shares the machine with it.
"""

import argparse
import asyncio
import contextlib
import io
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from onward.curate.concepts import Concept, Concepts, write_concepts
from onward.curate.records import CANDIDATES
from onward.curate.review.campaign import open_campaign
from onward.curate.review.making import Rules, make_campaign
from onward.curate.review.people import invite
from onward.curate.stage import making

ITEMS, ENDING, PEOPLE, PER_SECOND, KILLS = 163_000, 3_000, 200, 50, 20
OPTIONS = 10
PHOTOS, PHOTO_SIDE = 16, 256


def campaign(folder: Path, items: int) -> tuple[Path, list[str]]:
    """Make a campaign with photographs of noise; return where it is, and everybody's token."""
    found, images = folder / "retrieved", folder / "images"
    images.mkdir(parents=True)
    concepts = Concepts(tuple(Concept(f"concept {at}", ("x",)) for at in range(OPTIONS)))
    with making(found, "retrieve", {"items": items}) as made:
        rows = {
            "bucket": np.arange(items, dtype=np.int32) % 10,
            "concept": [f"concept {at % OPTIONS}" for at in range(items)],
            "rank": np.arange(items, dtype=np.int32),
            "id": [f"{at:08}" for at in range(items)],
            "score": np.linspace(1, 0, items, dtype=np.float32),
        }
        pq.write_table(pa.table(rows, schema=CANDIDATES), found / "candidates.parquet")
        (found / "concepts.json").write_bytes(write_concepts(concepts))
        made.finish({"candidates": items})
    for at in range(min(PHOTOS, items)):
        (images / f"{at:08}.jpg").write_bytes(photo(at))
    for at in range(PHOTOS, items):
        os.link(images / f"{at % PHOTOS:08}.jpg", images / f"{at:08}.jpg")
    since = time.perf_counter()
    made_of = make_campaign(found, images, folder / "campaign", Rules(gold_share=0))
    print(f"{items:,} items loaded in {time.perf_counter() - since:.1f} s", flush=True)
    with open_campaign(made_of.folder) as opened, opened.writing():
        tokens = [invite(opened, f"annotator {at}") for at in range(PEOPLE)]
    return made_of.folder, tokens


def photo(seed: int) -> bytes:
    """Return a JPEG of some 20 kB."""
    pixels = np.random.default_rng(seed).integers(0, 255, (PHOTO_SIDE, PHOTO_SIDE, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "jpeg", quality=50)
    return out.getvalue()


class Server:
    """The command that a user types, as a process that can be killed."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._command = [sys.executable, "-m", "onward", "curate", "review", "--json"]
        self._command += ["--out", str(folder), "--port", str(self.port)]
        self._process: subprocess.Popen[str] | None = None
        self.owner = ""

    def start(self) -> None:
        """Start it, and wait until it has said where it is."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        said = ""
        while not said.endswith("\n}\n"):
            line = self._process.stdout.readline()
            if not line:
                raise SystemExit("the server has ended")
            said += line
        self.owner = json.loads(said)["owner"].rpartition("/")[2]

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def cpu_seconds(self) -> float:
        """Return the CPU time that it has used."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Connection:
    """HTTP/1.1 on one socket, opened again when it breaks; it costs as little as possible."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.cookie = self.csrf = ""

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Ask once; OSError or EOFError if there is no answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        try:
            writer.write(
                f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
                f"Cookie: {self.cookie}\r\nX-CSRF-Token: {self.csrf}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").lower().split("\r\n")
            length = next(line for line in lines if line.startswith("content-length:"))
            content = await reader.readexactly(int(length.partition(":")[2]))
        except (OSError, EOFError):
            self.close()
            raise
        for line in head.decode("latin-1").split("\r\n"):
            if line.lower().startswith("set-cookie:"):
                self.cookie = line.partition(":")[2].strip().partition(";")[0]
        return int(lines[0].split()[1]), content

    async def insist(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Ask until there is an answer, as the page does it."""
        while True:
            with contextlib.suppress(OSError, EOFError):
                status, content = await self.ask(method, path, body)
                if status == 200:
                    return content
                if status not in (429, 503):
                    raise SystemExit(f"{method} {path}: {status} {content[:200]!r}")
            await asyncio.sleep(0.1)

    def close(self) -> None:
        """Forget the socket."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Annotator:
    """Somebody who answers, and remembers what was acknowledged."""

    def __init__(self, port: int, token: str, chance: random.Random) -> None:
        self._line, self._pictures = Connection(port), Connection(port)
        self._token, self._chance = token, chance
        self.questions: list[int] = []
        self._loaded: set[int] = set()
        self.acknowledged: dict[str, str] = {}
        self.image_times: list[float] = []

    async def join(self) -> None:
        """Open the personal link, then the page."""
        await self._line.insist("GET", f"/join/{self._token}")
        page = (await self._line.insist("GET", "/")).decode()
        self._line.csrf = page.partition('name="csrf" content="')[2].partition('"')[0]
        self._pictures.cookie = self._line.cookie
        await self._take(await self._line.insist("POST", "/api/next", b"{}"))

    async def answer(self) -> None:
        """Answer the first question, and do not rest until that is acknowledged."""
        if not self.questions:
            await self._take(await self._line.insist("POST", "/api/next", b"{}"))
            return
        chance = self._chance
        labels = sorted({chance.randrange(OPTIONS) for _ in range(chance.randint(0, 2))})
        key = f"{chance.getrandbits(128):032x}"
        vote = {"key": key, "question": self.questions[0], "labels": labels, "sensitive": False}
        body = json.dumps({**vote, "seconds": 4.0}).encode()
        state = await self._line.insist("POST", "/api/answer", body)
        self.acknowledged[key] = ",".join(map(str, labels))
        await self._take(state)

    async def _take(self, state: bytes) -> None:
        self.questions = json.loads(state)["questions"]

    async def look(self) -> None:
        """Load the images of new questions, as the page does while the first one is looked at."""
        for question in self.questions:
            if question not in self._loaded:
                since = time.perf_counter()
                await self._pictures.insist("GET", f"/image/{question}")
                self.image_times.append(time.perf_counter() - since)
                self._loaded.add(question)

    def leave(self) -> None:
        """Close the browser."""
        self._line.close()
        self._pictures.close()


async def everybody(server: Server, tokens: list[str]) -> list[Annotator]:
    """Let all of them open their links."""
    chance = random.Random(time.time_ns())
    people = [Annotator(server.port, token, random.Random(chance.random())) for token in tokens]
    for one in people:
        await one.join()
    return people


@contextlib.asynccontextmanager
async def answering(people: list[Annotator], times: list[float]) -> AsyncIterator[None]:
    """Let everybody answer in turn at the agreed pace, until this ends."""
    running: set[asyncio.Task[None]] = set()
    busy: set[int] = set()

    async def one(at: int, due: float) -> None:
        busy.add(at)
        await people[at].answer()
        times.append(time.perf_counter() - due)
        await people[at].look()
        busy.discard(at)

    async def all_of_them() -> None:
        due, number = time.perf_counter(), 0
        while True:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            at = number % len(people)
            # Whoever still waits for the server gives no second answer in the meantime.
            if at not in busy:
                task = asyncio.create_task(one(at, due))
                running.add(task)
                task.add_done_callback(running.discard)
            due, number = due + 1 / PER_SECOND, number + 1

    loop = asyncio.create_task(all_of_them())
    yield
    loop.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await loop
    await asyncio.gather(*running)


async def load(server: Server, tokens: list[str], minutes: float) -> None:
    """Measure answers while nothing goes wrong."""
    people = await everybody(server, tokens)
    owner = Connection(server.port)
    await owner.insist("GET", f"/owner/join/{server.owner}")
    times: list[float] = []
    seen: list[float] = []
    busy, began = server.cpu_seconds(), time.perf_counter()
    async with answering(people, times):
        while time.perf_counter() < began + 60 * minutes:
            since = time.perf_counter()
            await owner.insist("GET", "/owner")
            seen.append(time.perf_counter() - since)
            await asyncio.sleep(5)
    elapsed = time.perf_counter() - began
    busy = server.cpu_seconds() - busy
    pictures = [one for person in people for one in person.image_times]
    print(
        f"{len(times):,} answers in {elapsed / 60:.1f} min, {len(times) / elapsed:.1f} a second, "
        f"server {100 * busy / elapsed:.0f} % of a core\n"
        f"  an answer      p50 {_ms(times, 50)}  p99 {_ms(times, 99)} (must: 100 ms at most)  "
        f"worst {_ms(times, 100)}\n"
        f"  an image       p50 {_ms(pictures, 50)}  p99 {_ms(pictures, 99)}\n"
        f"  owner's page   p50 {_ms(seen, 50)}  worst {_ms(seen, 100)}",
        flush=True,
    )
    for one in people:
        one.leave()


async def kills(server: Server, folder: Path, tokens: list[str]) -> None:
    """Kill the server again and again, and look for what it had acknowledged."""
    people = await everybody(server, tokens)
    times: list[float] = []
    async with answering(people, times):
        for _ in range(KILLS):
            await asyncio.sleep(random.uniform(0.5, 3))
            await asyncio.to_thread(server.end, signal.SIGKILL)
            await asyncio.to_thread(server.start)
        await asyncio.sleep(2)
    for one in people:
        one.leave()
    acknowledged = {key: said for one in people for key, said in one.acknowledged.items()}
    with open_campaign(folder) as opened:
        found = dict(opened.db.execute("select key, labels from votes").fetchall())
        (whole,) = opened.db.execute("pragma integrity_check").fetchone()
        most = opened.db.execute("select max(votes), max(votes + held) from items").fetchone()
    lost = sum(found.get(key) != said for key, said in acknowledged.items())
    print(
        f"{KILLS} kills: {len(acknowledged):,} votes acknowledged, {len(acknowledged) - lost:,} "
        f"found, {lost} lost; file {whole}, at most {most[0]} votes on an image",
        flush=True,
    )


async def end(server: Server, folder: Path, tokens: list[str]) -> None:
    """Answer to the end."""
    people = await everybody(server, tokens)
    since = time.perf_counter()

    async def all_of(one: Annotator) -> None:
        while one.questions:
            await one.answer()

    await asyncio.gather(*map(all_of, people))
    elapsed = time.perf_counter() - since
    for one in people:
        one.leave()
    answers = sum(len(one.acknowledged) for one in people)
    with open_campaign(folder) as opened:
        votes = Counter(
            count
            for (count,) in opened.db.execute(
                "select count(s.item) from items i left join standing s using (item) "
                "group by i.item"
            )
        )
    told = ", ".join(f"{number:,} images with {count}" for count, number in sorted(votes.items()))
    print(
        f"to the end: {answers:,} answers in {elapsed:.0f} s ({answers / elapsed:.0f} a second); "
        f"valid votes: {told} (must: 3 on each)",
        flush=True,
    )


def _ms(times: list[float], percent: float) -> str:
    return f"{1000 * float(np.percentile(times, percent)):.1f} ms"


def main(words: Sequence[str] = ()) -> None:
    """Run what is asked for; everything if nothing is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="*", choices=["load", "kills", "end", []])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--folder", type=Path, help="where to work; a new folder otherwise")
    given = parser.parse_args(words)
    wanted = given.what or ["load", "kills", "end"]
    with tempfile.TemporaryDirectory(dir=given.folder) as work:
        if "load" in wanted or "kills" in wanted:
            folder, tokens = campaign(Path(work) / "large", ITEMS)
            with _running(folder) as server:
                if "load" in wanted:
                    asyncio.run(load(server, tokens, given.minutes))
                if "kills" in wanted:
                    asyncio.run(kills(server, folder, tokens))
        if "end" in wanted:
            folder, tokens = campaign(Path(work) / "small", ENDING)
            with _running(folder) as server:
                asyncio.run(end(server, folder, tokens))


@contextlib.contextmanager
def _running(folder: Path) -> Any:
    server = Server(folder)
    server.start()
    try:
        yield server
    finally:
        server.end()


if __name__ == "__main__":
    main(sys.argv[1:])
