"""A table of yours as a stream: periods, splits, classes that arrive."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.benchmarks.parts import both_sides, in_order_of_time
from onward.data.calendar import Span, place_in
from onward.data.hashing import Hashes, hash_texts
from onward.data.split import held_out
from onward.errors import OnwardError, first_few
from onward.types import Array, Period, Protocol, Samples, Stream, Table, Undivided


def cut_yours(
    table: Table, protocol: Protocol, seed: int, *, spans: tuple[Span, ...], digest: str
) -> Stream:
    """Cut a table into periods, settled when it was read. A class is known once a period has it.

    In a check, later samples are noise, among which a class may lose its training samples: only the
    table of this digest is judged.
    """
    days = table.values("time").astype("datetime64[D]")
    labels, arrival, names = _classes(table, place_in(days, spans), len(spans))
    test = np.zeros(len(table), np.bool_)
    if not isinstance(protocol.split, Undivided):
        test = held_out(group_hashes(table), protocol.split, seed)
    order = in_order_of_time(table, seed)
    ordered = days[order]
    periods = []
    for index, span in enumerate(spans):
        begin = np.searchsorted(ordered, np.datetime64(span.start), side="left")
        rows = order[begin : np.searchsorted(ordered, np.datetime64(span.end), side="right")]
        here = rows[labels[rows] >= 0]
        hidden = rows[(labels[rows] < 0) & ~test[rows]]
        learned, tested = both_sides(here, labels, test, protocol.split)
        periods.append(
            Period(
                index=index,
                name=span.name,
                start=span.start,
                end=span.end,
                train=learned,
                test=tested,
                classes=names[: int((arrival <= index).sum())],
                unlabelled=hidden if protocol.labelled < 1 else hidden[:0],
            )
        )
    stream = Stream(table, tuple(periods))
    if table.digest == digest:
        _require_learnable(stream, seed)
    return stream


def group_hashes(table: Table) -> Hashes:
    """Return the hash of every sample's group; without a group column it is what is stored."""
    column = table.columns.column("group")
    if pa.types.is_uint64(column.type):
        return np.asarray(column.to_numpy(), np.uint64)
    encoded = column.combine_chunks().dictionary_encode()
    indices = np.asarray(encoded.indices.to_numpy(), np.int64)
    return np.asarray(hash_texts(encoded.dictionary)[indices], np.uint64)


def _classes(
    table: Table, place: NDArray[np.int64], periods: int
) -> tuple[Array, NDArray[np.int64], tuple[str, ...]]:
    """Return each sample's class number, -1 for none, and the classes' first periods and names.

    Classes are numbered by their first period, then by name.
    """
    encoded = table.columns.column("label").combine_chunks().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    codes = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    seen = np.zeros((len(names), periods), np.bool_)
    known = (codes >= 0) & (place >= 0)
    seen[codes[known], place[known]] = True
    first = np.where(seen.any(1), seen.argmax(1), periods)
    order = sorted(range(len(names)), key=lambda code: (first[code], names[code]))
    number = np.empty(len(names) + 1, np.int64)
    number[order], number[-1] = np.arange(len(names)), -1
    return number[codes], first[order], tuple(names[code] for code in order)


def _require_learnable(stream: Stream, seed: int) -> None:
    """Say which periods have nothing to learn or to test, and which classes are only tested."""
    for period in stream:
        for side, samples in (("learn", period.train), ("test", period.test)):
            if not len(samples) and not len(period.unlabelled):
                raise OnwardError(
                    f"expected samples to {side} in every period, found none in {period.name} with "
                    f"seed {seed} ({len(period.train) + len(period.test)} in all). Choose longer "
                    "periods or another seed"
                )
    classes = stream[-1].classes
    learned, tested = (
        np.bincount(Samples.join(parts).labels, minlength=len(classes))
        for parts in ([p.train for p in stream], [p.test for p in stream])
    )
    strangers = np.flatnonzero((learned == 0) & (tested > 0))
    if len(strangers):
        counts = [f"{classes[c]!r} ({tested[c]} samples)" for c in strangers]
        raise OnwardError(
            f"expected every tested class to be learned in some period, found "
            f"{first_few(counts)} in the test part only. The split with seed {seed} holds "
            "out all of their groups: a class needs samples of several groups. Try another seed, "
            "join rare classes, or take them out"
        )
