"""What the routes of a campaign share: who is asking, and where things are kept."""

import hmac
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse
from pydantic import Field

from onward.curate.images import Place
from onward.curate.review.campaign import Campaign
from onward.curate.review.clerk import Clerk
from onward.curate.review.limits import Limit
from onward.curate.review.people import Annotator, annotator_of, csrf_of, hashed
from onward.curate.review.rendering import render

Number = Annotated[int, Field(ge=1, lt=1 << 62)]
"""Of a question or an item, as an address has it."""
_MONTHS = 180 * 24 * 3600
_KINDS = {"jpg": "jpeg"}


@dataclass
class Desk:
    """Everything that answers requests about one campaign.

    Parameters
    ----------
    campaign
        For reading, by the thread of the event loop only.
    clerk
        Writes.
    address
        Where people open the pages.
    owner
        The hash of the owner's token.
    name
        Tells the cookies of this campaign from those of another on the same machine.
    """

    campaign: Campaign
    clerk: Clerk
    address: str
    owner: str
    name: str
    by_annotator: Limit = field(default_factory=lambda: Limit(per_second=20, at_once=80))
    wrong_tokens: Limit = field(default_factory=lambda: Limit(per_second=0.5, at_once=20))

    @property
    def folder(self) -> Path:
        """Where the campaign lies."""
        return self.campaign.folder

    def cookie(self, role: str) -> str:
        """Return the name of a cookie."""
        return f"onward-{role}-{self.name}"

    def admit(self, response: Response, role: str, token: str) -> None:
        """Give a browser the token of a link, where no script can read it."""
        response.set_cookie(
            self.cookie(role),
            token,
            max_age=_MONTHS,
            httponly=True,
            samesite="strict",
            secure=self.address.startswith("https:"),
        )

    def link(self, token: str) -> str:
        """Return a personal link."""
        return f"{self.address}/join/{token}"

    def whose(self, request: Request, token: str) -> Annotator:
        """Return who has this token and may vote, or refuse."""
        found = annotator_of(self.campaign, token)
        if found is None:
            raise self._wrong(request, "this link is not valid, or there is a newer one")
        if found.revoked:
            raise HTTPException(403, "this link has been revoked")
        if not self.by_annotator.allows(found.number):
            raise HTTPException(429, "too many requests")
        return found

    def annotator(self, request: Request) -> Annotator:
        """Return who is asking, or refuse; what changes something also comes from our own page."""
        token = self._token(request, "annotator")
        return self.whose(request, token)

    def require_owner(self, request: Request) -> None:
        """Refuse everybody but the owner."""
        token = self._token(request, "owner")
        self.is_owner(request, token)

    def is_owner(self, request: Request, token: str) -> None:
        """Refuse a token that is not the owner's."""
        if not hmac.compare_digest(hashed(token), self.owner):
            raise self._wrong(request, "this is not the owner's link of this start of the server")

    def csrf(self, request: Request, role: str) -> str:
        """Return what a page has to send along when it changes something."""
        return csrf_of(request.cookies[self.cookie(role)])

    def _wrong(self, request: Request, words: str) -> HTTPException:
        """Return a refusal. Who has a right one is let in, whoever else tries from there."""
        allowed = self.wrong_tokens.allows(request.client.host if request.client else "")
        return HTTPException(401, words) if allowed else HTTPException(429, "too many wrong links")

    def _token(self, request: Request, role: str) -> str:
        token = request.cookies.get(self.cookie(role))
        if not token:
            raise HTTPException(401, "open your personal link first")
        if request.method not in ("GET", "HEAD"):
            sent = request.headers.get("x-csrf-token", "")
            if not hmac.compare_digest(sent.encode(), csrf_of(token).encode()):
                raise HTTPException(403, "expected a request of our own page")
        return token


async def image(place: Place | None) -> Response:
    """Return an image, as it lies there."""
    try:
        content = None if place is None else await run_in_threadpool(place.read)
    except OSError:
        content = None
    if place is None or content is None:
        raise HTTPException(404, "no such image")
    kind = _KINDS.get(place.kind, place.kind)
    # What a question or an item shows never changes.
    headers = {"cache-control": "private, max-age=86400"}
    return Response(content, media_type=f"image/{kind}", headers=headers)


def page(template: str, **context: object) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(render(template, **context))
