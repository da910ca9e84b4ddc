"""Make a real dated CSV from what a Debian or Ubuntu machine has: its packages' change logs.

One row per release of a package: when it was made, how urgent its maintainers called it, what they
wrote about it and how much. Urgency drifts: what was "low" by habit became "medium".

    python tools/make_dated_csv.py changes.csv
    onward run yours --data changes.csv --time-column date --label-column urgency \
        --group-column package --feature-column changes --feature-column lines \
        --periods 10 --method finetune --method nap --method cumulative
"""

import argparse
import csv
import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_LOGS = Path("/usr/share/doc")
_HEAD = re.compile(
    r"^(?P<package>[a-z0-9][\w.+-]*) \((?P<version>[^)]+)\).*urgency=(?P<urgency>\w+)"
)
_TAIL = re.compile(r"^ -- .*>  (?P<date>\w{3}, +\d+ \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4})")
_AS_IT_IS = argparse.RawDescriptionHelpFormatter
_URGENCIES = ("low", "medium", "high")


def releases(text: str) -> Iterator[dict[str, str | int]]:
    """Yield the releases of one change log."""
    head, lines = None, []
    for line in text.splitlines():
        if found := _HEAD.match(line):
            head, lines = found, []
        elif (found := _TAIL.match(line)) and head is not None:
            if head["urgency"].lower() in _URGENCIES:
                yield {
                    "date": re.sub(r" +", " ", found["date"]),
                    "package": head["package"],
                    "version": head["version"],
                    "urgency": head["urgency"].lower(),
                    "lines": len(lines),
                    "changes": " ".join(lines),
                }
            head = None
        elif line.strip():
            lines.append(line.strip())


def main() -> None:
    """Write the table, each release once, however many packages were built from it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_AS_IT_IS)
    parser.add_argument("target", nargs="?", type=Path, default=Path("changes.csv"))
    target = parser.parse_args().target
    found = {}
    for path in sorted(_LOGS.glob("*/changelog*.gz")):
        text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        for release in releases(text):
            found[release["package"], release["version"]] = release
    if not found:
        sys.exit(f"expected change logs of Debian packages in {_LOGS}, found none")
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(next(iter(found.values()))))
        writer.writeheader()
        writer.writerows(found.values())
    print(f"{len(found):,} releases of {len({name for name, _ in found}):,} packages in {target}")


if __name__ == "__main__":
    main()
