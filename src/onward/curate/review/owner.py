"""The owner's side: the dashboard, and what can be done from it."""

import math
import time
from collections.abc import Callable
from typing import Literal, TypeVar

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict

from onward.curate.review.campaign import Campaign, open_campaign
from onward.curate.review.dashboard import Overview, overview
from onward.curate.review.desk import Desk, Number, image, page
from onward.curate.review.people import invite, revoke
from onward.errors import OnwardError

_T = TypeVar("_T")
# However many owners look, and however often, everything is counted once in so many seconds.
_FRESH_SECONDS = 3.0


class Named(BaseModel):
    """Somebody's name, as a page sends it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    name: str


def add_owner_routes(app: FastAPI, desk: Desk) -> None:
    """Add what only the owner may ask for."""
    seen: list[tuple[float, Overview]] = []

    async def look() -> Overview:
        if not seen or time.monotonic() - seen[0][0] > _FRESH_SECONDS:
            found = await run_in_threadpool(_overview, desk)
            seen[:] = [(time.monotonic(), found)]
        return seen[0][1]

    @app.get("/owner/join/{token}")
    async def join(request: Request, token: str) -> Response:
        desk.is_owner(request, token)
        words = "To the dashboard"
        response = page(
            "message.html.j2", title="Your campaign", text="", link="/owner", words=words
        )
        desk.admit(response, "owner", token)
        return response

    @app.get("/owner")
    async def dashboard(request: Request) -> Response:
        desk.require_owner(request)
        return page(
            "dashboard.html.j2",
            seen=await look(),
            none_of_these=desk.campaign.concepts.none_of_these,
            csrf=desk.csrf(request, "owner"),
            title=desk.folder.resolve().name,
            isnan=math.isnan,
        )

    @app.get("/owner/numbers")
    async def numbers(request: Request) -> Response:
        desk.require_owner(request)
        return JSONResponse((await look()).plain())

    @app.get("/owner/image/{item}")
    async def item_image(request: Request, item: Number) -> Response:
        desk.require_owner(request)
        return await image(desk.campaign.place(item))

    async def change(request: Request, work: Callable[[Campaign], _T]) -> _T:
        desk.require_owner(request)
        try:
            found = await desk.clerk.do(work)
        except OnwardError as error:
            raise HTTPException(422, str(error)) from error
        seen.clear()
        return found

    @app.post("/owner/invite")
    async def let_in(request: Request, named: Named) -> Response:
        token = await change(request, lambda campaign: invite(campaign, named.name))
        return JSONResponse({"link": desk.link(token)})

    @app.post("/owner/revoke")
    async def shut_out(request: Request, named: Named) -> Response:
        votes = await change(request, lambda campaign: revoke(campaign, named.name))
        return JSONResponse({"votes": votes})

    @app.post("/owner/{action}")
    async def pause(request: Request, action: Literal["pause", "resume"]) -> Response:
        await change(request, lambda campaign: campaign.set("paused", action == "pause"))
        return JSONResponse({"paused": action == "pause"})


def _overview(desk: Desk) -> Overview:
    with open_campaign(desk.folder) as campaign:
        return overview(campaign)
