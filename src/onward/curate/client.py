"""One URL at a time, politely, and never where it should not go.

A host is asked by few connections at once, so many times a second at most, and not before it says
again if it said so. Only ``http`` and ``https``; addresses inside a network are refused after the
name is resolved and before anything is sent, redirections included.
"""

import contextlib
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

import urllib3
from urllib3.exceptions import HTTPError, LocationParseError, NewConnectionError, TimeoutError

from onward import __version__
from onward.curate.addresses import PrivateError, manager_class

NO_URL, SCHEME, PRIVATE = "no url", "neither http nor https", "an address inside a network"
TIMEOUT, UNREACHABLE, TOO_LARGE = "timeout", "no connection", "answer too large"
REDIRECTS, PLACEHOLDER = "too many redirections", "a placeholder instead of the image"
AGENT = f"onward/{__version__} (onward curate fetch)"
_AGAIN = {429, 500, 502, 503, 504}
_MOST_REDIRECTS = 5
_LONGEST_PAUSE = 600.0
_CHUNK = 1 << 16
_MOST_HOSTS = 10_000
# What Flickr shows instead of a photo that was removed.
_PLACEHOLDERS = ("photo_unavailable",)


class FetchError(Exception):
    """An image did not arrive, for this reason."""


@dataclass(frozen=True)
class Manners:
    """How to ask.

    Parameters
    ----------
    connections
        In all.
    per_host
        Connections to one host.
    per_second
        Requests to one host in a second.
    timeout
        Seconds for an answer, from the request to the last byte.
    retries
        How often to ask again after a failure that may pass.
    contact
        Who is asking: an address or a page, for the people who run the host.
    """

    connections: int = 32
    per_host: int = 8
    per_second: float = 20.0
    timeout: float = 30.0
    retries: int = 2
    contact: str = ""


@dataclass
class _Host:
    """When a host may be asked again, by how many at once, and how many want to."""

    places: threading.Semaphore
    free_at: float = 0.0
    users: int = 0

    def wanted_at(self, now: float) -> bool:
        """Whether something about this host has to be remembered."""
        return self.users > 0 or self.free_at > now


class Client:
    """Fetches what URLs lead to. May be used from many threads."""

    def __init__(self, manners: Manners, *, most_bytes: int, allow_private: bool = False) -> None:
        self._manners, self._most_bytes = manners, most_bytes
        contact = f"; {manners.contact}" if manners.contact else ""
        agent = AGENT[:-1] + contact + ")"
        self._manager = manager_class(allow_private=allow_private)(
            num_pools=256,
            maxsize=manners.per_host,
            retries=False,
            headers={"User-Agent": agent, "Accept": "image/*", "Accept-Encoding": "identity"},
        )
        self._hosts: dict[str, _Host] = {}
        self._lock = threading.Lock()

    def fetch(self, url: str | None) -> bytes:
        """Return what a URL leads to, or say why not."""
        if not url:
            raise FetchError(NO_URL)
        for attempt in range(self._manners.retries + 1):
            last = attempt == self._manners.retries
            try:
                status, content = self._follow(url)
            except FetchError as error:
                if last or str(error) not in (TIMEOUT, UNREACHABLE):
                    raise
            else:
                if status == 200:
                    return content
                if last or status not in _AGAIN:
                    raise FetchError(f"HTTP {status}")
            # Many who failed together should not come back together.
            time.sleep(min(2.0**attempt, 30) * random.uniform(0.25, 0.5))
        raise AssertionError("the last attempt returns or raises")

    def _follow(self, url: str) -> tuple[int, bytes]:
        for _ in range(_MOST_REDIRECTS + 1):
            try:
                parts = urlsplit(url)
            except ValueError as error:
                raise FetchError(SCHEME) from error
            if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
                raise FetchError(SCHEME)
            if any(word in parts.path for word in _PLACEHOLDERS):
                raise FetchError(PLACEHOLDER)
            status, content, where = self._ask(url, parts.netloc.rpartition("@")[2])
            if where is None:
                return status, content
            url = urljoin(url, where)
        raise FetchError(REDIRECTS)

    def _ask(self, url: str, host: str) -> tuple[int, bytes, str | None]:
        with self._turn(host) as state:
            until = time.monotonic() + self._manners.timeout
            try:
                answer = self._manager.request(
                    "GET",
                    url,
                    redirect=False,
                    preload_content=False,
                    timeout=urllib3.Timeout(total=self._manners.timeout),
                )
            except PrivateError as error:
                raise FetchError(PRIVATE) from error
            except NewConnectionError as error:
                raise FetchError(UNREACHABLE) from error
            except TimeoutError as error:
                raise FetchError(TIMEOUT) from error
            except LocationParseError as error:
                raise FetchError(SCHEME) from error
            except (HTTPError, OSError, UnicodeError) as error:
                raise FetchError(UNREACHABLE) from error
            try:
                where = answer.get_redirect_location() or None
                if where is None and answer.status == 200:
                    return 200, self._read(answer, until), None
                self._heed(state, answer)
                return answer.status, b"", where
            finally:
                # Not every answer was read to its end: its connection is of no more use.
                answer.close()
                answer.release_conn()

    @contextlib.contextmanager
    def _turn(self, host: str) -> Iterator[_Host]:
        """Wait for a host's next turn, and take one of its places."""
        with self._lock:
            now = time.monotonic()
            if len(self._hosts) > _MOST_HOSTS:
                # Those that nobody is waiting for can be met anew.
                held = {name: one for name, one in self._hosts.items() if one.wanted_at(now)}
                self._hosts = held
            state = self._hosts.setdefault(host, _Host(threading.Semaphore(self._manners.per_host)))
            state.users += 1
        try:
            with state.places:
                with self._lock:
                    now = time.monotonic()
                    turn = max(now, state.free_at)
                    state.free_at = turn + 1 / self._manners.per_second
                time.sleep(turn - now)
                yield state
        finally:
            with self._lock:
                state.users -= 1

    def _heed(self, state: _Host, answer: Any) -> None:
        """Leave a host alone for as long as it asks."""
        if answer.status not in (429, 503):
            return
        pause = _retry_after(answer.headers.get("Retry-After"))
        if pause is not None and pause <= _LONGEST_PAUSE:
            with self._lock:
                state.free_at = max(state.free_at, time.monotonic() + pause)

    def _read(self, answer: Any, until: float) -> bytes:
        length = answer.headers.get("Content-Length", "")
        if length.isdigit() and int(length) > self._most_bytes:
            raise FetchError(TOO_LARGE)
        found = bytearray()
        try:
            # What is there, not a whole chunk: a host that drips is to be noticed.
            while chunk := answer.read1(_CHUNK, decode_content=False):
                found += chunk
                if len(found) > self._most_bytes:
                    raise FetchError(TOO_LARGE)
                if time.monotonic() > until:
                    raise FetchError(TIMEOUT)
        except TimeoutError as error:
            raise FetchError(TIMEOUT) from error
        except (HTTPError, OSError) as error:
            raise FetchError(UNREACHABLE) from error
        return bytes(found)


def _retry_after(said: str | None) -> float | None:
    """Return the seconds that a host asks for, as a number or as a moment."""
    if said is None:
        return None
    if said.strip().isdigit():
        return float(said)
    try:
        moment = parsedate_to_datetime(said)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((aware - datetime.now(UTC)).total_seconds(), 0.0)
