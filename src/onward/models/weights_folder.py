"""Pre-trained weights in a folder: tensors without a pickle, and a card that describes them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onward.errors import DamagedFolderError, OnwardError
from onward.files import file_digest

WEIGHTS, CARD = "weights.safetensors", "card.json"

# Fields of a recipe in cards of older versions, and today.
RECIPE_FIELDS: Mapping[str, str] = {
    "size": "image_size",
    "learning_rate": "lr",
    "optimiser": "optimizer",
    "queue": "queue_size",
    "width": "embedding_dim",
}
# What fields that those cards lack had the value of.
_LATER_FIELDS: Mapping[str, Any] = {"momentum": 0.9, "precision": "fp32"}


def translated_recipe(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return a card or a spec with its recipe by the names of this version.

    Examples
    --------
    >>> translated_recipe({"seed": 0, "recipe": {"optimiser": "sgd"}})["recipe"]
    {'momentum': 0.9, 'precision': 'fp32', 'optimizer': 'sgd'}
    """
    recipe = card.get("recipe")
    if not isinstance(recipe, Mapping):
        return dict(card)
    renamed = {RECIPE_FIELDS.get(name, name): value for name, value in recipe.items()}
    return {**card, "recipe": {**_LATER_FIELDS, **renamed}}


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
    return translated_recipe(card)
