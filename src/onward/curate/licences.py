"""Under which terms an image may be handed on, as far as its licence is known."""

import re
from dataclasses import dataclass

_ADDRESS = re.compile(r"creativecommons\.org/licenses/([a-z-]+)/(\d\.\d)")
_FREE = re.compile(r"creativecommons\.org/publicdomain/(zero|mark)", re.IGNORECASE)
_CODE = re.compile(r"CC[ -](BY(?:-(?:NC|ND|SA))*)(?:[ -](\d\.\d))?$", re.IGNORECASE)
# Names as YFCC100M has them: "Attribution-NonCommercial-NoDerivs License".
_WORDS = {"attribution": "BY", "noncommercial": "NC", "noderivs": "ND", "sharealike": "SA"}
_OTHER_FREE = {"cc0", "public domain", "public domain mark", "pdm"}
_OPEN = {"apache-2.0", "mit", "bsd-3-clause"}
_RESERVED = {"all rights reserved", "copyright", "in copyright"}

MISSING = "no licence"
RESERVED = "all rights reserved: not to be handed on"
NO_CHANGES = "no derivatives: to be handed on unchanged only"
UNKNOWN = "a licence that is not known here"


@dataclass(frozen=True)
class Licence:
    """A licence by its short name, and what is to be minded; nothing if ``problem`` is empty."""

    name: str
    problem: str = ""

    @property
    def shareable(self) -> bool:
        """Whether an image may be handed on to others, unchanged, for all that is known."""
        return self.problem in ("", NO_CHANGES)


def licence_of(name: str | None, url: str | None) -> Licence:
    """Read a licence out of its name and address, of which either may be missing.

    Examples
    --------
    >>> licence_of(None, "http://creativecommons.org/licenses/by-nc/2.0/")
    Licence(name='CC BY-NC 2.0', problem='')
    >>> licence_of("Attribution-NoDerivs License", None).problem
    'no derivatives: to be handed on unchanged only'
    """
    said, address = (name or "").strip(), (url or "").strip()
    if found := _ADDRESS.search(address.lower()):
        return _creative(found[1].upper(), found[2])
    if _FREE.search(address) or said.lower() in _OTHER_FREE:
        return Licence("CC0 or public domain")
    if found := _CODE.match(said):
        return _creative(found[1].upper(), found[2] or "")
    words = re.split(r"[- ]", said.lower().removesuffix("license").strip())
    if words[0] == "attribution" and all(word in _WORDS for word in words):
        return _creative("-".join(_WORDS[word] for word in words), "")
    if said.lower() in _OPEN:
        return Licence(said)
    if said.lower() in _RESERVED:
        return Licence(said, RESERVED)
    if said or address:
        return Licence(said or address, UNKNOWN)
    return Licence("", MISSING)


def _creative(kind: str, version: str) -> Licence:
    problem = NO_CHANGES if "ND" in kind.split("-") else ""
    return Licence(f"CC {kind} {version}".strip(), problem)
