"""Print IIRC-CIFAR's sizes on files of CIFAR-100's size.

Beside Table 1 of the paper, and beside sizes of all periods that were counted independently.

The files are made on the fly, with random pixels; labels and their order are what matters.

    python tools/show_iirc_counts.py
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

import onward
from onward.types import Rows, Stream

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from cifar_miniature import write_cifar

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden" / "iirc_cifar_sizes.json"
EXPECTED = json.loads(GOLDEN.read_text())
CONFIGURATIONS = 10


def main() -> None:
    """Print Table 1 and a line for every configuration; end with status 1 if a size is another."""
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        folder = str(write_cifar(Path(place), train=500, test=100))
        for configuration in range(CONFIGURATIONS):
            benchmark = onward.load("iirc", data=folder, configuration=configuration)
            stream = benchmark.stream(seed=0)
            if configuration == 0:
                after = onward.load("iirc", data=folder, configuration=0, judge="validation")
                rows = _rows(after.stream(seed=0), "test")
                wrong += _table_1(stream, len(np.unique(rows)))
            name = f"configuration_{configuration}"
            for side, what in (("train", "task_sizes_train"), ("validation", "task_sizes_intask")):
                found = [len(getattr(period, side)) for period in stream]
                same = found == EXPECTED[what][name]
                wrong += not same
                verdict = "as expected" if same else "NOT AS EXPECTED"
                print(f"configuration {configuration}, {side}: {found} {verdict}")
    print(f"{wrong} sizes are not as expected" if wrong else "all sizes are as expected")
    raise SystemExit(bool(wrong))


def _table_1(stream: Stream, after: int) -> int:
    train, validation, test = (_rows(stream, side) for side in ("train", "validation", "test"))
    found = {
        "train_with_dup": len(train),
        "intask_with_dup": len(validation),
        "train": len(np.unique(train)),
        "intask": len(np.unique(validation)),
        "posttask": after,
        "test": len(np.unique(test)),
    }
    words = {
        "train_with_dup": "training samples, those seen twice counted twice",
        "intask_with_dup": "validation samples in periods, counted likewise",
        "train": "training samples",
        "intask": "validation samples in periods",
        "posttask": "validation samples for after a period",
        "test": "test samples",
    }
    for name, count in found.items():
        print(f"{words[name]}: {count:,}, published {EXPECTED['table1_row'][name]:,}")
    return sum(EXPECTED["table1_row"][name] != count for name, count in found.items())


def _rows(stream: Stream, side: str) -> Rows:
    return np.concatenate([getattr(period, side).rows for period in stream])


if __name__ == "__main__":
    main()
