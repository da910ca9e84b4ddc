"""Which models of the catalogue go with which benchmarks, by what they give."""

from onward.errors import OnwardError
from onward.models import MODELS, ModelCard


def classifier(model: str) -> ModelCard:
    """Return a model that names the class of a sample, or say which do."""
    return _giving("classes", model, "names the class of a sample")


def detector(model: str) -> ModelCard:
    """Return a model that finds boxes, or say which do."""
    return _giving("boxes", model, "finds boxes")


def _giving(what: str, model: str, words: str) -> ModelCard:
    card = MODELS.find(model)
    if card.gives != what:
        others = [other.name for other in MODELS.values() if other.gives == what]
        raise OnwardError(
            f"expected a model that {words}, found {model}. Those that do: {', '.join(others)}"
        )
    return card
