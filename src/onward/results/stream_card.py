"""What a stream looks like, written once per data hash, so that reports need no dataset."""

import io
import json
from pathlib import Path

import numpy as np
from PIL import Image

from onward.files import write_atomic
from onward.types import Array, Benchmark, Stream

_SHOWN = 24


def write_stream_card(out: Path, benchmark: Benchmark, stream: Stream) -> Path:
    """Write the class mix, sizes and sample pictures of a stream, unless they are there.

    Parameters
    ----------
    out
        The results folder.
    benchmark
        Whose card it is.
    stream
        Any seed's stream: train and test samples are counted together, so the card is the same.
    """
    folder = out / benchmark.name / "stream" / benchmark.raw.digest[:16]
    if (folder / "card.json").exists():
        return folder
    periods = []
    for period in stream:
        rows = np.concatenate([period.train.rows, period.test.rows])
        labels = np.concatenate([period.train.labels, period.test.labels])
        counts = np.bincount(labels, minlength=len(period.classes))
        periods.append(
            {
                "name": period.name,
                "start": str(period.start),
                "end": str(period.end),
                "samples": len(rows),
                "classes": dict(zip(period.classes, counts.tolist(), strict=True)),
            }
        )
        if "image" in benchmark.raw.wide:
            step = max(len(rows) // _SHOWN, 1)
            shown = benchmark.raw.wide["image"][np.sort(rows)[::step][:_SHOWN]]
            write_atomic(folder / f"{period.index:03d}.png", _strip(shown))
    card = {
        "title": benchmark.card.title,
        "summary": benchmark.card.summary,
        "licence": benchmark.card.licence,
        "citation": benchmark.card.citation,
        "data_digest": benchmark.raw.digest,
        "periods": periods,
    }
    write_atomic(folder / "card.json", json.dumps(card, indent=1).encode())
    return folder


def _strip(images: Array) -> bytes:
    """Lay images side by side in one picture."""
    sink = io.BytesIO()
    Image.fromarray(np.concatenate(list(images), axis=1)).save(sink, "PNG", optimize=True)
    return sink.getvalue()
