"""Which column of a table of yours is what."""

import difflib
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from onward.data.yours_features import Kinds, default_features, named_features
from onward.data.yours_files import FileTable
from onward.errors import OnwardError, first_few


@dataclass(frozen=True)
class Columns:
    """The name of each column that has a part; None where there is none.

    ``time`` and ``label`` are by default the columns of that name.
    """

    time: str | None = None
    label: str | None = None
    image: str | None = None
    group: str | None = None
    id: str | None = None
    features: tuple[str, ...] = ()

    @property
    def taken(self) -> set[str]:
        """The columns that have a part other than being a feature."""
        return {name for name in (self.time, self.label, self.image, self.group, self.id) if name}

    @property
    def as_texts(self) -> list[str]:
        """The columns whose values are names, even if they look like numbers."""
        return [name for name in (self.label or "label", self.group, self.id) if name]


def resolve(file: FileTable, columns: Columns, path: Path) -> Columns:
    """Return the columns with their defaults, or say which of them is not there."""
    there = file.rows.column_names
    if file.photos:
        default = Columns(time="time", label="label", image="path", id="path")
        given = {name: value for name, value in vars(columns).items() if value}
        columns = replace(default, **given)
    for role in ("time", "label"):
        if getattr(columns, role) is None:
            if role not in there:
                raise OnwardError(
                    f"expected the name of the column with each sample's {role}, since {path.name} "
                    f"has none named {role!r}. Say {role}_column=… (--{role}-column) with one of: "
                    f"{first_few(there, most=20)}"
                )
            columns = Columns(**{**vars(columns), role: role})
    for role, name in vars(columns).items():
        for one in (name,) if role != "features" else name:
            if one is not None and one not in there:
                raise _absent(role, one, there, path)
    return columns


def kinds_of(file: FileTable, columns: Columns) -> Kinds:
    """Return the feature columns: those named, or without images all that can be."""
    if columns.features:
        both = sorted(columns.taken & set(columns.features) - {columns.group})
        if both:
            raise OnwardError(
                f"expected features that tell nothing else, found {both[0]!r}, which has another "
                "part. Leave it out of feature_columns"
            )
        return named_features(file.rows, columns.features)
    if columns.image is not None:
        return Kinds()
    return default_features(file.rows, columns.taken)


def texts(rows: pa.Table, name: str | None) -> pa.ChunkedArray | None:
    """Return a column of names as texts; an empty one is null."""
    if name is None:
        return None
    try:
        column = rows.column(name).cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise OnwardError(
            f"expected names in column {name!r}, found values of type {rows.column(name).type}"
        ) from error
    return pc.if_else(pc.equal(column, ""), None, column)


def _absent(role: str, name: str, there: list[str], path: Path) -> OnwardError:
    option = "feature_columns" if role == "features" else f"{role}_column"
    near = difflib.get_close_matches(name, there, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"It has: {first_few(there, most=20)}"
    return OnwardError(
        f"expected a column {name!r} in {path.name} for {option}, found none. {hint}"
    )
