"""Classes in words: their names and the templates of prompts, as evaluation folders have them."""

from collections.abc import Sequence
from pathlib import Path

from onward.data.read_files import read_text
from onward.errors import OnwardError

CLASSNAMES, TEMPLATES = "classnames.txt", "zeroshot_classification_templates.txt"


def read_prompts(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a folder's classes, and the prompts of each."""
    names = class_names(folder)
    templates = _lines(folder / TEMPLATES)
    without = [one for one in templates if "{c}" not in one and "{}" not in one]
    if without or not templates:
        raise OnwardError(
            f"expected {{c}} where the class stands in each line of {folder / TEMPLATES}, found "
            f"{repr(without[0]) if without else 'no line'}"
        )
    return names, prompts(names, templates)


def class_names(folder: Path) -> tuple[str, ...]:
    """Return the names of a folder's classes, in order."""
    names = _lines(folder / CLASSNAMES)
    if not names:
        raise OnwardError(f"expected names of classes in {folder / CLASSNAMES}, found no line")
    return names


def prompts(names: Sequence[str], templates: Sequence[str]) -> tuple[str, ...]:
    r"""Return the prompts of each class, a line for each template: a model takes their mean.

    Examples
    --------
    >>> prompts(["fox"], ["a photo of a {c}.", "art of a {}."])
    ('a photo of a fox.\nart of a fox.',)
    """
    forms = [template.replace("{c}", "{}") for template in templates]
    return tuple("\n".join(form.replace("{}", name) for form in forms) for name in names)


def _lines(path: Path) -> tuple[str, ...]:
    text = read_text(path, "one name or template on each line of")
    return tuple(line.strip() for line in text.split("\n") if line.strip())
