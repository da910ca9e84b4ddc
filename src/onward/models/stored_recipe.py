"""A recipe as a spec stores it."""

from typing import TYPE_CHECKING, Any

from onward.models import find_model, is_of_file
from onward.stored import stored

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def stored_recipe(recipe: "DataclassInstance") -> dict[str, Any]:
    """Return a recipe as a dictionary, see `stored`.

    A model from a file is stored as the names of the file and of the class, with a hash of the file
    beside them: an edited file makes another run, the same file in another folder does not.
    """
    found = stored(recipe)
    model = found.get("model")
    if isinstance(model, str) and is_of_file(model):
        card = find_model(model)
        found |= {"model": card.name, "model_digest": card.digest}
    return found
