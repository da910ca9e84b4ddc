"""Build the keys that the package brings: of all data that needs no download, seeds 0 to 9.

python tools/build_keys.py

Run it when an embedded edition changes; runs of before then need the keys of then.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import onward
from onward.benchmarks import BENCHMARKS
from onward.exam import keys_of
from onward.results.keys import Keys, encoded

FILE = Path(__file__).resolve().parents[1] / "src" / "onward" / "results" / "keys.json"
SEEDS = range(10)
# Ways to ask for an edition that are ways to cut it, or are named in its runs.
VARIANTS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "clear": ({}, {"features": "image"}, {"new_classes": True}),
    "iirc": ({}, {"features": "image"}),
    "clad-c": ({}, {"recipe": "paper"}),
    "clad-d": ({},),
    "tic": ({}, {"filtered": "basic"}, {"filtered": "bestpool"}),
}


def editions() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the benchmark, the protocol and the options of everything that has a key."""
    for name, variants in VARIANTS.items():
        for protocol in BENCHMARKS[name].protocols:
            for options in variants:
                yield name, protocol, options


def built(name: str, protocol: str, options: Mapping[str, Any]) -> Keys:
    """Return the keys of one edition, under all seeds."""
    return keys_of(onward.load(name, protocol=protocol, **options), SEEDS)


def main() -> None:
    """Write the file."""
    keys = Keys()
    for edition in editions():
        keys |= built(*edition)
        print(f"{len(keys):4} keys: {' '.join(map(str, edition))}", flush=True)
    FILE.write_bytes(encoded(keys))
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
