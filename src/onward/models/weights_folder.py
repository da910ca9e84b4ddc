"""Pre-trained weights in a folder: tensors without a pickle, and a card that describes them."""

import json
from pathlib import Path
from typing import Any

from onward.errors import DamagedFolderError, OnwardError
from onward.files import file_digest

WEIGHTS, CARD = "weights.safetensors", "card.json"


def read_card(folder: Path) -> dict[str, Any]:
    """Read the card of finished weights, and require that they are those it was written for."""
    try:
        card: Any = json.loads((folder / CARD).read_text())
        found = file_digest(folder / WEIGHTS)
    except FileNotFoundError as error:
        raise OnwardError(
            f"expected {WEIGHTS} and {CARD} in {folder}, found no {Path(error.filename).name}. "
            f"Write them with: onward pretrain clear --out {folder}"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedFolderError(
            f"the card of the weights in {folder} cannot be read: {error}"
        ) from error
    if not isinstance(card, dict):
        raise DamagedFolderError(
            f"expected the card of the weights in {folder / CARD}, found another kind of JSON. "
            "Move the folder away and pre-train again"
        )
    if card.get("sha256") != found:
        raise DamagedFolderError(
            f"expected weights with sha256 {str(card.get('sha256'))[:12]}… in {folder}, found "
            f"{found[:12]}…. Move the folder away and pre-train again"
        )
    return dict(card)
