"""What samples say: the texts of a stream, and the words in them."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from onward.data.yours_files import read_file
from onward.drift.slices import Slice
from onward.drift.tags import Tags
from onward.errors import OnwardError, unknown
from onward.types import Benchmark, Table

CAPTIONS = ("text", "caption")
_NAMES = ("name",)
_WORD = re.compile(r"[^\W\d_]{2,}", re.UNICODE)
_MOST_WORDS = 64
LEAST_WORDS = 3
"""In how many samples a word is, at least, to be told as new or vanished."""


def captions(benchmark: Benchmark, table: Table, column: str | None) -> tuple[list[str], str]:
    """Return the text of each row and the column that it is from; none, and "", without one.

    Parameters
    ----------
    benchmark
        Where its card says which columns of a file have words, texts are read from that file.
    table
        The stream's.
    column
        Which column; by default what is called text or caption, or the columns of yours that words
        are read from.
    """
    there = table.columns.schema.names
    if "kinds" in benchmark.card.numbers:
        return _of_file(benchmark, table, column)
    if column is not None and column not in there:
        raise unknown("column of texts", column, there, "onward data describe DATA")
    named = column or next((name for name in (*CAPTIONS, *_NAMES) if name in there), None)
    if named is None:
        return [], ""
    return [str(one or "") for one in table.columns.column(named).to_pylist()], named


def words_in(text: str) -> list[str]:
    """Return the different words of a text, in small letters.

    Examples
    --------
    >>> words_in("A red fox, the fox of 2020")
    ['red', 'fox', 'the', 'of']
    """
    return list(dict.fromkeys(_WORD.findall(text.lower())))


def word_tags(texts: Sequence[str], parts: Sequence[Slice]) -> Tags:
    """Return the words of all samples, each once per sample."""
    said = [[words_in(texts[row])[:_MOST_WORDS] for row in part.rows] for part in parts]
    counted = Counter(word for part in said for words in part for word in words)
    names = tuple(counted)
    place = {name: number for number, name in enumerate(names)}
    by_period = []
    for part in said:
        tags = np.full((len(part), max([1, *map(len, part)])), -1, np.int64)
        for row, words in enumerate(part):
            tags[row, : len(words)] = [place[word] for word in words]
        by_period.append(tags)
    return Tags("words", names, by_period)


def _of_file(benchmark: Benchmark, table: Table, column: str | None) -> tuple[list[str], str]:
    names = benchmark.card.numbers["columns"]
    chosen = [column] if column else list(benchmark.card.numbers["kinds"]["words"])
    if not chosen:
        return [], ""
    rows = read_file(Path(benchmark.files[0]), [names["id"]] if names["id"] else []).rows
    for name in chosen:
        if name not in rows.column_names:
            raise unknown("column of texts", name, rows.column_names, "onward data describe DATA")
    columns = [[str(one or "") for one in rows.column(name).to_pylist()] for name in chosen]
    texts = [" ".join(parts) for parts in zip(*columns, strict=True)]
    ids = table.columns.column("id").to_pylist()
    if names["id"] is None:
        # An id is then the number of its row.
        return [texts[int(one)] for one in ids], ", ".join(chosen)
    by_id = dict(zip(map(str, rows.column(names["id"]).to_pylist()), texts, strict=True))
    if len(by_id) < len(set(map(str, ids))):
        raise OnwardError("expected a text for every id, found fewer")
    return [by_id[str(one)] for one in ids], ", ".join(chosen)
