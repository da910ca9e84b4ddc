"""Published numbers, with what is known about how well they were read."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from onward.errors import OnwardError

_READ = ("ok", "cross_table")
UNPUBLISHED = "not published"


@dataclass(frozen=True)
class Value:
    """A published number in percent.

    ``mean`` is None where the text of the table that we have is damaged; ``status`` says how:
    ``ok``; ``cross_table``, read from another table of the same experiment; ``ocr_dup_removed``,
    read from a column in which values were repeated, the same whichever repetition is removed;
    ``not published``; otherwise what could be meant.
    """

    mean: float | None
    deviation: float | None
    status: str = "ok"

    @property
    def certain(self) -> bool:
        """Whether it stands in the text as it is shown here."""
        return self.mean is not None and self.status in _READ

    def text(self) -> str:
        """Return the number as tables show it.

        Examples
        --------
        >>> Value(90.5, 0.1).text(), Value(88.6, 0.0, "ocr_dup_removed").text()
        ('90.5±0.1', '~88.6±0.0')
        >>> Value(None, None, "ambiguous:87.7±0.0|87.8±0.0").text()
        '87.7|87.8'
        >>> Value(None, None, "unrecoverable(6 of 8 values)").text()
        '?'
        >>> Value(None, None, UNPUBLISHED).text()
        '–'
        """
        if self.status == UNPUBLISHED:
            return "\N{EN DASH}"
        if self.mean is None:
            kind, _, options = self.status.partition(":")
            candidates = [option.split("±")[0] for option in options.split("|")]
            return "|".join(candidates) if kind == "ambiguous" else "?"
        deviation = "" if self.deviation is None else f"±{self.deviation:.1f}"
        return f"{'' if self.certain else '~'}{self.mean:.1f}{deviation}"


class PublishedValues:
    """The rows of a published table, found by what names them.

    Parameters
    ----------
    package
        The package that holds the file.
    file
        A CSV file: columns that name a row, and for each number x the columns ``x`` and, where
        deviations are published, ``x_std``, and ``x_status`` where the text is damaged somewhere.
    """

    def __init__(self, package: str, file: str) -> None:
        text = resources.files(package).joinpath(file).read_text("utf-8")
        self._file = file
        self.rows = list(csv.DictReader(io.StringIO(text)))

    def has(self, column: str) -> bool:
        """Whether there is such a column."""
        return column in self.rows[0]

    def value(self, key: Mapping[str, str], column: str) -> Value:
        """Return one number."""
        found = [row for row in self.rows if key.items() <= row.items()]
        if len(found) != 1 or column not in found[0]:
            raise OnwardError(
                f"expected one row {dict(key)} with a column {column} in {self._file}, "
                f"found {len(found)} rows"
            )
        row = found[0]
        if not row[column] and f"{column}_status" not in row:
            return Value(None, None, UNPUBLISHED)
        return Value(
            mean=_number(row[column]),
            deviation=_number(row.get(f"{column}_std", "")),
            status=row.get(f"{column}_status", "ok"),
        )


def _number(text: str) -> float | None:
    return float(text) if text else None
