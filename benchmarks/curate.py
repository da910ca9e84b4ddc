"""Curation at full size: metadata to buckets, retrieval, review. One module per case.

``python benchmarks/curate.py`` runs all cases, ``python benchmarks/curate.py pool`` one of them.
"""

import importlib
import importlib.util
import sys

CASES = ("pool", "top_k", "review")


def main(names: list[str]) -> None:
    """Run the cases with these names, in their order."""
    for name in names or CASES:
        module = f"curate_{name}"
        if name not in CASES or importlib.util.find_spec(module) is None:
            sys.exit(f"expected one of {', '.join(CASES)}, found {name!r}")
        print(f"== {name}", flush=True)
        importlib.import_module(module).main()


if __name__ == "__main__":
    main(sys.argv[1:])
