"""Pools of pairs at full size: joined, filtered, near-duplicates found. One module per case.

``python benchmarks/pools.py`` runs all cases, ``python benchmarks/pools.py join --rows 2000000``
one of them at another size.
"""

import argparse
import importlib

CASES = ("join", "duplicates")


def main() -> None:
    """Run the cases that were named, in their order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"{', '.join(CASES)}; all")
    parser.add_argument("--rows", type=int, default=None, help="how many rows a case has")
    asked = parser.parse_args()
    strange = [name for name in asked.cases if name not in CASES]
    if strange:
        parser.error(f"expected cases out of {', '.join(CASES)}, found {strange[0]!r}")
    for name in asked.cases or CASES:
        print(f"== {name}", flush=True)
        module = importlib.import_module(f"pools_{name}")
        module.main(**({} if asked.rows is None else {"rows": asked.rows}))


if __name__ == "__main__":
    main()
