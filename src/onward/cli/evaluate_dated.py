"""Several models of ``onward evaluate``, dated side by side."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from onward.cli.console import tell
from onward.cli.evaluate import Examined
from onward.evaluation.dated import dated, require_found
from onward.models.clip_choice import RANDOM
from onward.report.dated import DatedModel, sentences, tables, write_dated_page


def several(
    found: Sequence[Examined],
    typed: Sequence[str],
    queries: Sequence[str],
    new_from: str | None,
    page: Path | None,
    data: str,
) -> tuple[dict[str, Any], Callable[[Console], None]]:
    """Date models side by side: return the JSON, and what prints it for people.

    Parameters
    ----------
    found
        The models.
    typed
        What each was asked for by.
    queries
        The names of what captions were searched for.
    new_from
        Where new begins.
    page
        Where to write a page, if anywhere.
    data
        What they were tested on.
    """
    labels = _labels(found, typed)
    asked = {label: one.asked for label, one in zip(labels, found, strict=True)}
    result = dated(asked, list(found[0].evaluation.periods), new_from)
    require_found(result, queries)
    models = [
        DatedModel(label, one.headline(), one.chosen.learned_upto)
        for label, one in zip(labels, found, strict=True)
    ]
    plain = {
        "models": [
            {**one.plain(), "label": each.label, "learned_upto": each.learned_upto}
            for one, each in zip(found, models, strict=True)
        ],
        **result.as_json(),
    }
    if page is not None:
        numbers = found[0].card.numbers
        notes = [*numbers.get("gaps", ()), *numbers.get("notes", ())]
        write_dated_page(result, models, data, notes, page)

    def show(screen: Console) -> None:
        for each, one in zip(models, found, strict=True):
            learned = f"; learned up to {each.learned_upto}" if each.learned_upto else ""
            line = f"{each.label}: {each.words}{learned}"
            screen.print(line, markup=False, soft_wrap=True)
            if one.chosen.weights == RANDOM:
                screen.print("random weights know nothing: give --weights FILE or --pretrained TAG")
        tell(screen, found[0].card)
        for table in tables(result):
            screen.print(table)
        for line in sentences(result):
            screen.print(line, markup=False, soft_wrap=True)
        if page is not None:
            screen.print(f"the page: {page}", markup=False, soft_wrap=True)

    return plain, show


def _labels(found: Sequence[Examined], typed: Sequence[str]) -> list[str]:
    """Return a short name for each model, no two alike."""
    labels = []
    for one, text in zip(found, typed, strict=True):
        path = Path(text)
        if one.chosen.learned_upto:
            labels.append(f"up to {one.chosen.learned_upto}")
        else:
            labels.append(path.stem if path.exists() else text)
    counts, seen = Counter(labels), Counter[str]()
    for at, label in enumerate(labels):
        seen[label] += 1
        if counts[label] > 1:
            labels[at] = f"{label} ({seen[label]})"
    return labels
