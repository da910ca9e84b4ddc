"""Plant every leak of the tests, make all checks, and print what caught it.

python tools/planted_leaks.py
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "checks"))

from leaks import LEAKS


def main() -> None:
    """Print a Markdown table, one row per leak."""
    print("| leak | what it does | caught by | what it says |")
    print("|---|---|---|---|")
    missed = []
    # Some leaks are planted twice, for two checks that must both catch them.
    for name, what in dict.fromkeys((leak.name, leak.what) for leak in LEAKS):
        planted = [leak for leak in LEAKS if leak.name == name]
        with tempfile.TemporaryDirectory() as folder:
            report = planted[0].check(Path(folder), None)
        caught = {finding.check: finding.detail for finding in report.failed}
        missed += [leak for leak in planted if leak.caught_by not in caught]
        message = caught.get(planted[0].caught_by, "").split(". ")[0].replace("|", "/")
        print(f"| {name} | {what} | {', '.join(caught) or 'nothing'} | {message} |")
    if missed:
        sys.exit(f"not caught as expected: {', '.join(leak.name for leak in missed)}")


if __name__ == "__main__":
    main()
