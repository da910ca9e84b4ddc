"""The web application: what an annotator's browser asks for."""

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException as StarletteHTTPException

from onward.curate.review.assign import answered_before, item_of, questions_for
from onward.curate.review.campaign import Campaign, open_campaign
from onward.curate.review.clerk import Clerk
from onward.curate.review.desk import Desk, Number, image, page
from onward.curate.review.guard import Guard
from onward.curate.review.owner import add_owner_routes
from onward.curate.review.people import hashed
from onward.curate.review.rendering import render, statics
from onward.curate.review.voting import Answer, NotYoursError, keep
from onward.curate.stage import open_stage
from onward.errors import StorageError

_DIGITS = "1234567890"
# Without what has a meaning of its own: n for none, s for sensitive, u for undo.
_LETTERS = "abcdefghijklmopqrtvwxyz"


class Sent(BaseModel):
    """A vote, as a page sends it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    key: str = Field(pattern=r"^[0-9A-Za-z-]{16,64}$")
    question: int = Field(ge=1, lt=1 << 62)
    labels: list[int] = Field(max_length=1000)
    sensitive: bool
    seconds: float = Field(ge=0, allow_inf_nan=False)


def make_app(folder: Path, address: str, owner_token: str, *aliases: str) -> Guard:
    """Return the application of a campaign.

    Parameters
    ----------
    folder
        The campaign.
    address
        Where people open it, such as ``http://127.0.0.1:8000``.
    owner_token
        What the owner's link has in it.
    aliases
        Other addresses of the same server.
    """
    digest = open_stage(folder, "review").digest
    ready = contextlib.ExitStack()
    desk = Desk(
        ready.enter_context(open_campaign(folder)),
        Clerk(folder),
        address,
        hashed(owner_token),
        digest[:8],
    )

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.clerk.close()
        ready.close()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    _add_errors(app)
    _add_pages(app, desk)
    _add_calls(app, desk)
    add_owner_routes(app, desk)
    return Guard(app, frozenset((address, *aliases)))


def _add_pages(app: FastAPI, desk: Desk) -> None:
    @app.get("/join/{token}")
    async def join(request: Request, token: str) -> Response:
        # The page is a step of its own: a browser keeps strict cookies back from whoever was sent
        # here by another site, and gives them with a link of ours.
        somebody = desk.whose(request, token)
        options = _options(desk.campaign)
        response = page("join.html.j2", name=somebody.name, options=options)
        desk.admit(response, "annotator", token)
        return response

    @app.get("/")
    async def annotate(request: Request) -> Response:
        somebody = desk.annotator(request)
        return page(
            "annotate.html.j2",
            name=somebody.name,
            answered=somebody.answered,
            options=_options(desk.campaign),
            none_of_these=desk.campaign.concepts.none_of_these,
            csrf=desk.csrf(request, "annotator"),
        )

    @app.get("/favicon.ico")
    async def icon() -> Response:
        return Response(status_code=204)

    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        found = statics().get(name)
        if found is None:
            raise HTTPException(404, "no such file")
        return Response(found.content, media_type=found.kind)

    @app.get("/image/{question}")
    async def question_image(request: Request, question: Number) -> Response:
        somebody = desk.annotator(request)
        item = item_of(desk.campaign, somebody.number, question)
        return await image(None if item is None else desk.campaign.place(item))


def _add_calls(app: FastAPI, desk: Desk) -> None:
    @app.post("/api/next")
    async def more(request: Request) -> Response:
        somebody = desk.annotator(request)
        return await _done(desk, lambda campaign: _state(campaign, somebody.number))

    @app.post("/api/answer")
    async def answer(request: Request, sent: Sent) -> Response:
        somebody = desk.annotator(request)
        if any(not 0 <= at < len(desk.campaign.concepts.found) for at in sent.labels):
            raise HTTPException(422, "expected numbers of options")
        labels = ",".join(map(str, sorted(set(sent.labels))))
        vote = Answer(sent.key, sent.question, labels, sent.sensitive, sent.seconds)

        def kept(campaign: Campaign) -> dict[str, Any]:
            keep(campaign, somebody.number, vote)
            return {"kept": sent.key, **_state(campaign, somebody.number)}

        return await _done(desk, kept)

    @app.get("/api/previous")
    async def previous(request: Request, before: Number | None = None) -> Response:
        somebody = desk.annotator(request)
        found = answered_before(desk.campaign, somebody.number, before)
        return JSONResponse(None if found is None else asdict(found))


def _state(campaign: Campaign, annotator: int) -> dict[str, Any]:
    """Return what an annotator may know: their own questions, and how much they have done."""
    questions = questions_for(campaign, annotator)
    (answered,) = campaign.db.execute(
        "select answered from annotators where annotator = ?", (annotator,)
    ).fetchone()
    paused = bool(campaign.setting("paused"))
    return {"questions": questions, "answered": answered, "paused": paused}


async def _done(desk: Desk, work: Any) -> Response:
    try:
        return JSONResponse(await desk.clerk.do(work))
    except NotYoursError as error:
        raise HTTPException(409, str(error)) from error


def _options(campaign: Campaign) -> list[Mapping[str, str]]:
    """Return what annotators choose from, each with its key while there are keys."""
    options = campaign.concepts.found
    keys = [*_DIGITS, *_LETTERS, *[""] * len(options)]
    return [
        {"key": key, "text": option.option or option.name}
        for key, option in zip(keys, options, strict=False)
    ]


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(StarletteHTTPException)
    async def refused(request: Request, error: StarletteHTTPException) -> Response:
        plain = request.url.path.startswith(("/api/", "/image/", "/owner/image/", "/static/"))
        if request.method == "GET" and not plain:
            text = render("message.html.j2", title="Not here", text=str(error.detail))
            return HTMLResponse(text, error.status_code)
        return JSONResponse({"detail": error.detail}, error.status_code)

    @app.exception_handler(RequestValidationError)
    async def misunderstood(request: Request, error: RequestValidationError) -> Response:
        # What was sent is not sent back.
        where = [".".join(map(str, one["loc"])) for one in error.errors()]
        return JSONResponse({"detail": f"not understood: {', '.join(where)}"[:300]}, 422)

    @app.exception_handler(StorageError)
    @app.exception_handler(sqlite3.Error)
    async def not_written(request: Request, error: Exception) -> Response:
        return JSONResponse({"detail": f"could not be written: {error}"}, 503)
