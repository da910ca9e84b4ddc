"""``onward compare``: what differs between two runs or two specs."""

import json
from pathlib import Path
from typing import Annotated

import typer

from onward.cli.console import console
from onward.cli.skipped import say_skipped
from onward.errors import first_few
from onward.report.difference import difference
from onward.report.difference_terminal import parts
from onward.report.sides import Group, paired, read_side


def compare(
    a: Annotated[
        str,
        typer.Argument(help="A run folder, a results folder, a spec in a file, or a run's hash."),
    ],
    b: Annotated[str, typer.Argument(help="The other one.")],
    *,
    results: Annotated[
        Path, typer.Option(help="Where a run is looked for by (the beginning of) its hash.")
    ] = Path("results"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what differs between two runs: what was asked, what it cost, what came out.

    Runs that differ in nothing but their seed are compared as a group, seed by seed. Of folders
    with several methods, those of the same spec or the same method are compared.
    """
    left, right = read_side(a, results), read_side(b, results)
    pairs, only_a, only_b = paired(left, right)
    found = [difference(*pair) for pair in pairs]
    if as_json:
        plain = {
            "pairs": [one.to_json() for one in found],
            "only_a": [group.name for group in only_a],
            "only_b": [group.name for group in only_b],
        }
        typer.echo(json.dumps(plain, indent=1))
    else:
        screen = console()
        for one in found:
            for part in parts(one):
                screen.print(part)
            screen.print()
        for letter, groups in (("A", only_a), ("B", only_b)):
            if groups:
                screen.print(f"in {letter} alone: {_names(groups)}", markup=False, soft_wrap=True)
        if len(found) != 1:
            same = sum(one.same for one in found)
            screen.print(f"{len(found)} pairs compared, {same} of them the same")
    say_skipped([*left.left_out, *right.left_out], 0)


def _names(groups: list[Group]) -> str:
    return first_few([group.name for group in groups], "; ", most=20)
