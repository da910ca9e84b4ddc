"""Per-sample predictions: compact parquet from which every score can be computed again."""

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from onward.errors import DamagedFolderError
from onward.types import Array

STATIC = -1


def encode(
    tests: Array,
    tested_on: Array,
    ids: Array,
    targets: Array,
    decisions: Array,
    classes: tuple[str, ...],
) -> bytes:
    """Return the bytes of one predictions file.

    Parameters
    ----------
    tests
        The name of each sample's test.
    tested_on
        Its period, `STATIC` for a test that belongs to none.
    ids
        Its id.
    targets
        What the judge knows.
    decisions
        What the learner answered.
    classes
        The label space that targets and decisions index into.
    """
    table = pa.table(
        {
            "test": pa.array(tests.astype(str)).dictionary_encode(),
            "tested_on": pa.array(tested_on.astype(np.int32)),
            "id": pa.array(ids.astype(str)),
            "target": pa.array(targets),
            "decision": pa.array(decisions),
        }
    ).replace_schema_metadata({"classes": json.dumps(classes)})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def decode(path: Path) -> tuple[pa.Table, tuple[str, ...]]:
    """Read one predictions file: the table, and the classes it indexes into."""
    try:
        table = pq.read_table(path)
        return table, tuple(json.loads(table.schema.metadata[b"classes"]))
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise DamagedFolderError(
            f"expected stored predictions in {path}, found a file that cannot be read ({error}); "
            "move the run folder away and run again"
        ) from error
