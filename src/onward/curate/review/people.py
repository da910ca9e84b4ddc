"""Who may vote: personal links, and their end."""

import hashlib
import re
import secrets
from dataclasses import dataclass

from onward.curate.review.campaign import Campaign
from onward.curate.review.voting import withdraw
from onward.errors import OnwardError, unknown

_TOKEN_BYTES = 24
_LONGEST_NAME = 80


@dataclass(frozen=True)
class Annotator:
    """Somebody who was invited."""

    number: int
    name: str
    revoked: bool
    answered: int


def new_token() -> str:
    """Return 192 random bits as a text for a link."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def hashed(token: str) -> str:
    """Return what is kept of a token. It is random: no salt, and no slow hash, is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


def csrf_of(token: str) -> str:
    """Return what a page of ours knows beside the cookie, and a page of others does not."""
    return hashlib.sha256(b"csrf:" + token.encode()).hexdigest()


def invite(campaign: Campaign, name: str) -> str:
    """Let somebody in, and return the token of their link. A link that they had before ends."""
    name = _clean(name)
    row = campaign.db.execute("select revoked from annotators where name = ?", (name,)).fetchone()
    if row is not None and row[0] is not None:
        raise OnwardError(
            f"expected the name of somebody who may vote, found {name!r}, who was revoked. Invite "
            "them under another name; earlier votes stay out"
        )
    token = new_token()
    campaign.db.execute(
        "insert into annotators (name, token, invited) values (?, ?, ?) "
        "on conflict (name) do update set token = excluded.token",
        (name, hashed(token), campaign.now()),
    )
    return token


def somebody(campaign: Campaign, name: str) -> int:
    """Return the number of an annotator, who is entered without a link if they are new."""
    name = _clean(name)
    campaign.db.execute(
        "insert into annotators (name, invited) values (?, ?) on conflict do nothing",
        (name, campaign.now()),
    )
    row = campaign.db.execute("select annotator from annotators where name = ?", (name,)).fetchone()
    return int(row[0])


def revoke(campaign: Campaign, name: str) -> int:
    """Shut somebody out and let their votes stand no longer; return how many stood.

    Their images are asked again, of others.
    """
    found = campaign.db.execute(
        "select annotator from annotators where name = ?", (name.strip(),)
    ).fetchone()
    if found is None:
        names = [row[0] for row in campaign.db.execute("select name from annotators")]
        raise unknown("annotator", name, names, "the owner's page of the campaign")
    (number,) = found
    campaign.db.execute(
        "update annotators set revoked = ? where annotator = ? and revoked is null",
        (campaign.now(), number),
    )
    return withdraw(campaign, number)


def annotator_of(campaign: Campaign, token: str) -> Annotator | None:
    """Return whose link this is."""
    row = campaign.db.execute(
        "select annotator, name, revoked is not null, answered from annotators where token = ?",
        (hashed(token),),
    ).fetchone()
    return None if row is None else Annotator(row[0], row[1], bool(row[2]), row[3])


def _clean(name: str) -> str:
    name = name.strip()
    if not name or len(name) > _LONGEST_NAME or re.search(r"[\x00-\x1f\x7f]", name):
        raise OnwardError(
            f"expected a name of 1 to {_LONGEST_NAME} letters, found {name[: _LONGEST_NAME + 1]!r}"
        )
    return name
