"""Change run folders, make every hash right again, and print why each of them is refused.

python tools/show_tampered.py
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onward
from onward.benchmarks.rules import rules
from onward.results.check_many import check_results

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from tamper import Tamperer


def one_cell(mine: Tamperer) -> None:
    """Change one cell."""

    def better(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        lines[3]["scores"]["accuracy"] = 0.9
        return lines

    mine.change_lines("scores.jsonl", better)


def a_row(mine: Tamperer) -> None:
    """Change a cell and what is computed from the same answers, all together."""

    def better(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for line in lines[-2:]:
            line["scores"] = {name: value + 0.05 for name, value in line["scores"].items()}
        return lines

    mine.change_lines("scores.jsonl", better)


def targets(mine: Tamperer) -> None:
    """Change targets to what was answered, and compute every score again."""

    def easier(columns: dict[str, Any]) -> None:
        columns["targets"][:20] = columns["decisions"][:20]

    for period in range(7):
        mine.change_decisions(period, easier)
    mine.rescore()


def copied_seed(mine: Tamperer) -> None:
    """Copy a seed and rename it: its spec, its folder and its manifest are right."""
    mine.change_spec(seed=2)


def raised_limit(mine: Tamperer) -> None:
    """Raise the limit of one pass in the spec of an online run."""
    mine.change_spec(limits={"passes": 9.0})


def main() -> None:
    """Print the reasons."""
    with tempfile.TemporaryDirectory() as place:
        made = {name: onward.load("clear", protocol=name) for name in ("iid", "online")}
        paths = {
            name: onward.run(made[name], "nap", out=Path(place) / "whole").path for name in made
        }
        changes: list[tuple[str, Callable[[Tamperer], None]]] = [
            ("iid", one_cell),
            ("iid", a_row),
            ("iid", targets),
            ("iid", copied_seed),
            ("online", raised_limit),
        ]
        for protocol, change in changes:
            whole = paths[protocol]
            assert whole is not None
            mine = Tamperer(whole, Path(place) / change.__name__)
            change(mine)
            mine.redo_manifest()
            beside = [whole] if change is copied_seed else []
            print(f"\n{change.__doc__}")
            for finding in check_results([*beside, mine.folder], rules=rules()).problems:
                problem = finding.problem.replace(place, "…")
                print(f"  {finding.folder.relative_to(place)}: {problem}")
        whole_ones = [path for path in paths.values() if path is not None]
        print(f"\nUnchanged: {check_results(whole_ones, rules=rules())}")


if __name__ == "__main__":
    main()
