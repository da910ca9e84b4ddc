"""Break each rule of CLAD-C's challenge once, and print what is said.

python tools/show_clad_rules.py
"""

import argparse
from collections.abc import Callable

import numpy as np

import onward
from onward.errors import OnwardError
from onward.types import Array, Budget, View


class Breaks:
    """A learner that breaks one rule in its first call."""

    def __init__(self, rule: Callable[[View, Budget], object]) -> None:
        self.rule = rule

    def learn(self, view: View, budget: Budget) -> None:
        """Break it."""
        self.rule(view, budget)

    def predict(self, view: View) -> Array:
        """Answer anything."""
        return np.zeros(len(view), np.int64)


def read_twice(view: View, budget: Budget) -> None:
    """Look at the same samples again."""
    view.inputs()
    view.inputs()


def read_later(view: View, budget: Budget, kept: list[View] = []) -> None:  # noqa: B006
    """Keep a view, and look at it in the next call."""
    kept.append(view)
    kept[0].inputs()


RULES: dict[str, Callable[[View, Budget], object]] = {
    "reads a sample twice": read_twice,
    "reads ahead": lambda view, budget: view.of(view.rows + len(view), view.labels),
    "stores 1,001 samples": lambda view, budget: budget.hold(np.resize(view.rows, 1001)),
    "brings a larger model": lambda view, budget: budget.declare(parameters=30_000_000),
    "trains on 11 new samples": lambda view, budget: budget.spend(iterations=1, new_in_batch=11),
    "reads a view later": read_later,
}


def main() -> None:
    """Run each of them on Emoji Street."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="street", help="street, or a folder with SSLAD-2D")
    benchmark = onward.load("clad-c", data=parser.parse_args().data)
    for name, rule in RULES.items():
        try:
            onward.run(benchmark, Breaks(rule))
        except OnwardError as error:
            print(f"{name}:\n    {type(error).__name__}: {error}")
        else:
            raise SystemExit(f"{name}: nobody said anything")


if __name__ == "__main__":
    main()
