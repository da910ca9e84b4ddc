"""What holds for every request: who may call us by which name, how much they may send, how often.

It is the outermost layer, in plain ASGI: a request that it refuses costs nothing else.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException

from onward.curate.review.limits import Limit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES = 64 * 1024
_TOO_LARGE = f"expected {MOST_BYTES:,} bytes at most"
_SAFE = ("GET", "HEAD")
# Scripts, styles and images of ours and nobody else's; nothing that is written into a page is run.
_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]


@dataclass
class Guard:
    """Lets through what may be answered, and puts the same headers on every answer.

    Parameters
    ----------
    app
        What answers.
    origins
        The addresses that people open, such as ``http://127.0.0.1:8000``. Another name in a
        request's ``Host`` is another site that was pointed at us; another ``Origin`` is a page of
        somebody else's.
    by_address
        How often one address may ask.
    """

    app: App
    origins: frozenset[str]
    by_address: Limit = field(default_factory=lambda: Limit(per_second=400, at_once=1200))

    def __post_init__(self) -> None:
        self._hosts = {urlsplit(origin).netloc.lower().encode() for origin in self.origins}
        self._allowed = {origin.lower().encode() for origin in self.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = message.setdefault("headers", [])
                if not any(name == b"cache-control" for name, _ in own):
                    own.append((b"cache-control", b"no-store"))
                own.extend(_HEADERS)
            await send(message)

        refused = self._refused(scope)
        if refused is not None:
            await _refuse(sending, *refused)
            return
        await self.app(scope, _counted(receive), sending)

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        headers = dict(scope["headers"])
        if headers.get(b"host", b"").lower() not in self._hosts:
            return 421, "expected the address that the page was served under"
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() not in self._allowed:
            return 403, "expected a request of our own page"
        if scope["method"] not in _SAFE and headers.get(b"sec-fetch-site", b"same-origin") not in (
            b"same-origin",
            b"none",
        ):
            return 403, "expected a request of our own page"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, _TOO_LARGE
        client = scope.get("client")
        if not self.by_address.allows(client[0] if client else ""):
            return 429, "too many requests"
        return None


def _counted(receive: Receive) -> Receive:
    """Return what receives a body, and stops where it is too large whatever its header said."""
    total = 0

    async def receiving() -> MutableMapping[str, Any]:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > MOST_BYTES:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return receiving


async def _refuse(send: Send, status: int, why: str) -> None:
    body = json.dumps({"detail": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if status == 413:
        # What is still being sent is not read.
        headers.append((b"connection", b"close"))
    if status == 429:
        headers.append((b"retry-after", b"2"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
