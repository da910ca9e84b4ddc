"""A CLIP, and what tells it from others: directions of two models never meet."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onward.errors import OnwardError
from onward.files import file_digest

if TYPE_CHECKING:
    from onward.models.clip import Clip


@dataclass(frozen=True, eq=False)
class KnownClip:
    """A model, who it is as JSON holds it, and whether nobody has trained it."""

    clip: "Clip"
    identity: Mapping[str, str]
    random: bool


def known_clip(model: str, weights: Path | None, pretrained: str | None) -> KnownClip:
    """Return the CLIP that someone means, see `onward.models.clip_choice.chosen_clip`."""
    from onward.models.clip_choice import RANDOM, chosen_clip

    chosen = chosen_clip(model, weights=weights, pretrained=pretrained)
    path = weights or Path(model).expanduser()
    kept = f"sha256 {file_digest(path)[:16]}" if path.is_file() else pretrained or chosen.weights
    identity = {"name": chosen.name, "weights": kept}
    return KnownClip(chosen.clip, identity, chosen.weights == RANDOM)


def require_same_model(store: Mapping[str, Any] | None, mine: Mapping[str, Any]) -> None:
    """Say if a store is of another model than its queries; None if nobody knows."""
    if store is not None and dict(store) != dict(mine):
        raise OnwardError(
            f"expected the model that the store was made with, {_told(store)}, found {_told(mine)}"
        )


def _told(model: Mapping[str, Any]) -> str:
    return f"{model['name']} with the weights {model['weights']}"
