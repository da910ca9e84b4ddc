"""Write the four released layouts of CLEAR in miniature, load each, and print what was found.

python tools/show_clear_layouts.py
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from clear_miniature import write_new, write_old

import onward
from onward.checks import check_stream
from onward.types import Benchmark

_TYPES = ("moco_b0", "moco_imagenet", "byol_imagenet", "imagenet")


def main() -> None:
    """Print one block per layout, and the split of every bucket under both protocols."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        # Sizes differ so that nobody takes one for another.
        write_old(root / "clear10_neurips2021", features=_TYPES)
        write_old(root / "clear100_cvpr2022", per_class=8, features=["moco_b0"])
        write_new(root / "clear10")
        write_new(root / "clear100", per_class=9)
        write_new(root / "clear10-image-only", image_only=True)
        for folder in sorted(root.iterdir()):
            image_only = folder.name.endswith("image-only")
            options = {"features": "image", "size": 32} if image_only else {}
            for protocol in ("iid", "streaming"):
                benchmark = onward.load("clear", data=str(folder), protocol=protocol, **options)
                if protocol == "iid":
                    _describe(folder, benchmark)
                _splits(benchmark)


def _describe(folder: Path, benchmark: Benchmark) -> None:
    numbers, table = benchmark.card.numbers, benchmark.raw
    inner = "training_folder/features" if numbers["layout"] == "old" else "train/features"
    types = sorted(path.name for path in (folder / inner).glob("*"))
    print(f"\n{folder.name}: {numbers['layout']} layout, {numbers['rows']} samples")
    print(f"  periods {numbers['buckets']}, classes {numbers['classes']}", end="")
    print(f", released splits {numbers['released_splits']}", end="")
    print(f", users {len(np.unique(table.values('group')))}", end="")
    print(f", without upload time {numbers['without_time']}")
    print(f"  features {', '.join(types) or 'none'}; input {benchmark.table.wide['input'].shape}")
    first = benchmark.stream()
    print(f"  from {first[0].name} ({first[0].start}) to {first[-1].name} ({first[-1].end})")


def _splits(benchmark: Benchmark) -> None:
    sizes = ", ".join(f"{len(p.train)}/{len(p.test)}" for p in benchmark.stream())
    report = check_stream(benchmark)
    print(f"  {benchmark.protocol.name:9} train/test {sizes}")
    print(f"  {'':9} checks: {len(report.passed)} passed, {len(report.skipped)} skipped")


if __name__ == "__main__":
    main()
