"""What a stream looks like, written once per data hash, so that reports need no dataset."""

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from onward.files import storage, write_atomic
from onward.types import Array, Benchmark, Period, Samples, Stream, Table

DOMAINS = "domains.parquet"
_SHOWN = 24
_SIDE = 64


def write_stream_card(out: Path, name: str, benchmark: Benchmark, stream: Stream) -> Path:
    """Write the class mix, sizes and sample pictures of a stream, unless they are there.

    Any seed's stream will do: train and test samples are counted together, so the card is the same,
    but for which labels and classes are hidden at first. Its name is that of `RunSpec.stream_name`.
    """
    folder = out / benchmark.name / "stream" / name
    wanted = ["card.json", *([DOMAINS] if benchmark.card.domains else [])]
    if all((folder / name).exists() for name in wanted):
        return folder
    periods = []
    for period in stream.undelayed:
        both = _counted(benchmark.raw, period)
        # Where only the future is tested, the samples of a period may be both.
        rows, first = np.unique(both.rows, return_index=True)
        # Rows of labels have -1 where there is none, and those to come are not of this period.
        labels = both.labels[first]
        if labels.ndim == 3:  # boxes, which begin with their class
            labels = labels[..., 0].astype(np.int64)
        labels = labels.reshape(-1)
        known = len(period.classes)
        counts = np.bincount(labels[(labels >= 0) & (labels < known)], minlength=known)
        periods.append(
            {
                "name": period.name,
                "start": None if period.start is None else str(period.start),
                "end": None if period.end is None else str(period.end),
                "samples": len(rows),
                "unlabelled": len(np.setdiff1d(period.unlabelled, rows)),
                "classes": dict(zip(period.classes, counts.tolist(), strict=True)),
            }
        )
        if "image" in benchmark.raw.wide and len(rows):
            step = max(len(rows) // _SHOWN, 1)
            shown = benchmark.raw.wide["image"][rows[::step][:_SHOWN]]
            _write(folder / f"{period.index:03d}.png", _strip(shown))
    card = {
        "title": benchmark.card.title,
        "summary": benchmark.card.summary,
        "licence": benchmark.card.licence,
        "citation": benchmark.card.citation,
        "numbers": dict(benchmark.card.numbers),
        "pictures": benchmark.card.pictures,
        "data_digest": benchmark.raw.digest,
        "periods": periods,
    }
    if benchmark.card.domains:
        _write(folder / DOMAINS, _domains(benchmark, stream))
    _write(folder / "card.json", json.dumps(card, indent=1).encode())
    return folder


def _domains(benchmark: Benchmark, stream: Stream) -> bytes:
    """Return the columns of every tested sample that its answers are told apart by."""
    tests = [test for period in stream for test in period.tests.values()]
    rows = np.unique(np.concatenate([test.rows for test in [*tests, *stream.static.values()]]))
    columns = {name: benchmark.raw.values(name)[rows] for name in ("id", *benchmark.card.domains)}
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, compression="zstd")
    return sink.getvalue()


def _counted(table: Table, period: Period) -> Samples:
    """Return all samples of a period that have a class; what a test asks for has none."""
    train = period.train
    if train.labels.ndim >= period.test.labels.ndim or not len(train):
        return Samples.join([train, period.test])
    if period.start is None or not {"snapshot", "kind", "label"} <= set(table.columns.column_names):
        return train
    # Every seed holds other pairs back: all of one snapshot are the same for any.
    alike = np.ones(len(table), bool)
    for name in ("snapshot", "kind"):
        values = table.values(name)
        alike &= np.isin(values, np.unique(values[train.rows]))
    rows = np.flatnonzero(alike)
    numbers = {name: number for number, name in enumerate(period.classes)}
    labels = [numbers.get(str(label), -1) for label in table.values("label")[rows]]
    return Samples(rows, np.array(labels, np.int64))


def _strip(images: Array) -> bytes:
    """Lay images side by side in one picture; of large ones, every few pixels are enough."""
    thin = max(images.shape[1] // _SIDE, 1)
    images = images[:, ::thin, ::thin]
    sink = io.BytesIO()
    Image.fromarray(np.concatenate(list(images), axis=1)).save(sink, "PNG", optimize=True)
    return sink.getvalue()


def _write(path: Path, content: bytes) -> None:
    with storage(path):
        write_atomic(path, content)
