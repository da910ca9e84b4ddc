"""Rows of TiC-CLIP's table: pairs to learn from, images and texts apart to test with, prompts."""

from collections.abc import Sequence
from datetime import date

import numpy as np
import pyarrow as pa

from onward.data.bags import retrieval_test
from onward.data.pair_column import ONLY_IMAGE, ONLY_TEXT, PAIR, PairColumn, captions_of
from onward.data.pair_files import PairFiles
from onward.errors import OnwardError
from onward.types import Rows, Samples

_KINDS = {PAIR: "pair", ONLY_IMAGE: "image", ONLY_TEXT: "text"}


class TicRows:
    """The rows of the table, one part after the other; prompts come first."""

    def __init__(self, files: PairFiles, prompts: Sequence[str]) -> None:
        self._files, self._texts = files, tuple(prompts)
        self._count = 0
        self._parts: list[tuple[Rows, int, Rows, date | None]] = []
        self.prompts = self.add(-1 - np.arange(len(prompts)), ONLY_TEXT, None)

    def add(self, samples: Rows, part: int, day: date | None, lines: Rows | None = None) -> Rows:
        """Add a row for each sample, and return the rows."""
        lines = np.full(len(samples), -1) if lines is None else lines
        self._parts.append((samples, part, lines, day))
        self._count += len(samples)
        return np.arange(self._count - len(samples), self._count)

    def retrieval(self, samples: Rows, day: date, rng: np.random.Generator) -> Samples:
        """Add the images and the texts of samples, apart, and ask them for each other."""
        seen = self.add(samples, ONLY_IMAGE, day)
        said = np.array(
            [len(captions_of(self._files.text(sample))) for sample in samples.tolist()], np.int64
        )
        if not said.all():
            where = self._files.where(int(samples[np.argmin(said)]))
            raise OnwardError(
                f"expected a caption to test with in {where}, found none but blanks. Name it in a "
                "file and leave it out with leave_out=FILE, which is recorded"
            )
        image_of = np.repeat(np.arange(len(samples)), said)
        lines = np.arange(len(image_of)) - np.repeat(np.cumsum(said) - said, said)
        read = self.add(samples[image_of], ONLY_TEXT, day, lines)
        return retrieval_test(seen, read, image_of, rng)

    def column(self, side: int, window: int, mixed: int) -> PairColumn:
        """Return the wide column of all rows."""
        kinds = [np.full(len(samples), part, np.uint8) for samples, part, _, _ in self._parts]
        return PairColumn(
            self._files,
            np.concatenate([samples for samples, _, _, _ in self._parts]),
            np.concatenate(kinds),
            np.concatenate([lines for _, _, lines, _ in self._parts]).astype(np.int32),
            self._texts,
            side,
            window,
            mixed,
        )

    def narrow(self) -> pa.Table:
        """Return id, time and kind of all rows."""
        ids, times, kinds = [], [], []
        for number, (samples, part, lines, day) in enumerate(self._parts):
            kind = "prompt" if day is None else _KINDS[part]
            if day is None:
                names = [f"prompt/{place}" for place in range(len(samples))]
            else:
                found = self._files.ids(samples).to_pylist()
                ends = [f"/{line}" if line >= 0 else "" for line in lines.tolist()]
                own = f"/{kind}{number}" if part != PAIR else ""
                names = [f"{name}{own}{end}" for name, end in zip(found, ends, strict=True)]
            ids.append(pa.array(names, pa.string()))
            times.append(pa.array([day] * len(samples), pa.date32()))
            kinds.append(pa.array([kind] * len(samples), pa.string()).dictionary_encode())
        columns = {"id": pa.chunked_array(ids), "time": pa.chunked_array(times)}
        return pa.table({**columns, "kind": pa.chunked_array(kinds).unify_dictionaries()})
