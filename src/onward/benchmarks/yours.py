"""Your own data: any dated table, cut into periods and tested on the near future.

Why: Whether your own data moves, and what to do about it, no benchmark of others can tell.

Known problems: Only you know whether the same person or machine comes back: without a group column,
none is taken to.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from onward.benchmarks.listed import Listed
from onward.benchmarks.parts import unusual, with_weights
from onward.benchmarks.recipes import reads_images, recipes_for
from onward.benchmarks.yours_stream import cut_yours
from onward.data.cache import cache_folder
from onward.data.calendar import Span, cut_time, place_in
from onward.data.yours import YourData, read_yours
from onward.data.yours_columns import Columns
from onward.data.yours_features import IMAGE, prepare
from onward.errors import OnwardError, unknown
from onward.protocols import PROTOCOLS
from onward.tasks.one_label import OneLabel
from onward.types import Benchmark, Card, Protocol, Undivided

_SUMMARY = "Which class has a sample of your own dated data, as time goes on?"
HAND_MADE = "hog"


def load(
    data: str,
    protocol: str,
    recipe: str = "cpu",
    *,
    model: str = "linear",
    time_column: str | None = None,
    label_column: str | None = None,
    image_column: str | None = None,
    group_column: str | None = None,
    id_column: str | None = None,
    feature_columns: Sequence[str] = (),
    periods: str | int | None = None,
    features: str = HAND_MADE,
    size: int = 32,
    missing: str = "stop",
    day_first: bool | None = None,
    text_width: int = 512,
    weights: str | None = None,
) -> Benchmark:
    """Load a table, a dataset or a folder of photos of your own, see ``docs/howto/your_data.md``.

    Streaming learns all of a period and tests all of the later ones, since without a group
    column no sample is taken to come back. With one, a fifth of the groups is held out, seed by
    seed, so that nobody is tested on a group that was learned.

    Parameters
    ----------
    data
        A .csv, .jsonl or .parquet file, a folder of parquet files, a dataset that Hugging Face
        saved, or a folder of photos.
    protocol
        ``iid``, ``streaming``, ``online`` or ``semi_supervised``.
    recipe
        ``cpu`` (30 epochs) or ``paper`` (CLEAR's 100 epochs).
    model
        What is trained: ``linear`` or ``mlp`` on features, ``resnet18`` on images, or any other
        classifier, see `onward.models.find_model`.
    time_column, label_column
        When a sample was made and what is to be predicted; by default ``time`` and ``label``.
    image_column
        Paths, seen from the table's folder, or bytes of images.
    group_column
        What must not be on both sides of a split, such as a person.
    id_column
        What names a sample; by default the number of its row.
    feature_columns
        The columns to learn from; without images all columns of numbers by default.
    periods
        See `onward.data.calendar.cut_time`.
    features
        Of images: ``hog``, hand-made features, or ``image``, the images themselves.
    size
        Side of the images that ``image`` gives.
    missing
        ``stop`` at rows without a time or their image, or ``skip`` them and record it.
    day_first
        How 03/04/2020 is meant, where the column does not say.
    text_width
        How many columns the words of texts share.
    weights
        A file or folder with the weights that the model starts from, see `weights_file`.
    """
    named = [feature_columns] if isinstance(feature_columns, str) else list(feature_columns)
    options = unusual(
        load,
        time_column=time_column,
        label_column=label_column,
        image_column=image_column,
        group_column=group_column,
        id_column=id_column,
        feature_columns=named or (),
        # A number from the command line is a text.
        periods=None if periods is None else str(periods),
        features=features,
        size=size,
        missing=missing,
        day_first=day_first,
        text_width=text_width,
    )
    on_images = reads_images(model, features)
    recipes = recipes_for(model, PROTOCOLS[protocol], features)
    recipes, started_from = with_weights(recipes, recipe, weights)
    if on_images:
        features = IMAGE
    if features not in (HAND_MADE, IMAGE):
        raise unknown("features of yours", features, [HAND_MADE, IMAGE], "docs/howto/your_data.md")
    path = Path(data).expanduser()
    if data == "emoji" and not path.exists():
        raise OnwardError(
            "expected data=… (--data) with a file or a folder of yours, found none; the embedded "
            "emoji are data of clear"
        )
    columns = Columns(
        time_column, label_column, image_column, group_column, id_column, tuple(named)
    )
    found = read_yours(
        path,
        columns,
        raw_images=features == IMAGE,
        size=size,
        missing=missing,
        day_first=day_first,
        text_width=text_width,
    )
    if features == IMAGE and IMAGE not in found.table.wide:
        raise OnwardError("expected an image_column with features='image', found none")
    spans, how, empty = _spans(found, periods)
    # A stream's card is stored under this name, so the periods are part of it.
    name = hashlib.sha256(f"{found.table.digest} {spans}".encode()).hexdigest()
    table = replace(found.table, digest=name)
    return Benchmark(
        name="yours",
        data=f"{path.name}{f':{IMAGE}-{size}' if features == IMAGE else ''}{_without(found)}",
        card=_card(path, found, spans, how, empty),
        task=OneLabel(),
        protocol=_protocol(PROTOCOLS[protocol], grouped=found.columns.group is not None),
        raw=table,
        prepare=partial(prepare, reference=spans[1].start, raw_images=features == IMAGE),
        cut=partial(cut_yours, spans=tuple(spans), digest=name),
        recipes=recipes,
        recipe=recipe,
        files=(path, cache_folder()),
        options=options | started_from,
    )


def _protocol(protocol: Protocol, *, grouped: bool) -> Protocol:
    if protocol.tests != "future" or grouped:
        return protocol
    words = "learn all of a period, test all of those that have not come yet"
    return replace(protocol, split=Undivided(), summary=words)


def _spans(found: YourData, periods: str | int | None) -> tuple[list[Span], str, int]:
    """Return the periods that have labelled samples, how they were cut, and how many had none."""
    days = found.table.values("time").astype("datetime64[D]")
    spans, how = cut_time(days, periods)
    labelled = np.asarray(found.table.columns.column("label").is_valid())
    filled = set(place_in(days[labelled], spans).tolist())
    kept = [span for number, span in enumerate(spans) if number in filled]
    if len(kept) < 2:
        raise OnwardError(
            f"expected two periods or more with labelled samples, found {len(kept)} "
            f"({how}; samples from {days.min()} to {days.max()}). Choose shorter periods, such as "
            "monthly, daily or a number, or bring samples of a longer time"
        )
    return kept, how, len(spans) - len(kept)


def _card(path: Path, found: YourData, spans: list[Span], how: str, empty: int) -> Card:
    classes = len(found.table.columns.column("label").drop_null().unique())
    numbers: dict[str, Any] = {
        "rows": len(found.table),
        "file_row_count": found.rows,
        "left_out": found.left_out,
        "periods": len(spans),
        "periods_by": how,
        "periods_without_labels": empty,
        "classes": classes,
        "format": found.format,
        "columns": vars(found.columns),
        "kinds": vars(found.kinds),
        "ignored": found.ignored,
        "time_formats": found.times.formats,
        "time_zone": found.times.zone,
        "missing_images": list(found.missing),
    }
    return Card(
        title=f"Your data: {path.name}",
        summary=f"Which of {classes} classes has a sample, as time goes on?",
        licence="yours",
        citation=f"{path.name}, sha256 {found.table.digest[:12]}",
        numbers=numbers,
        pictures=("class_decay", "next_period"),
    )


def _without(found: YourData) -> str:
    """Name what was skipped where two people who compare their numbers look."""
    skipped = {k: n for k, n in found.left_out.items() if "time" in k or "image" in k}
    return "".join(f" without {count} rows {reason}" for reason, count in skipped.items())


LISTED = Listed(
    name="yours",
    load=load,
    summary=_SUMMARY,
    task=OneLabel(),
    data=("a .csv, .jsonl or .parquet file", "a Hugging Face dataset on disk", "a photo folder"),
    protocols=PROTOCOLS,
    with_images={"model": "convnet"},
    data_affix=f":{IMAGE}-[0-9]+$",
)
