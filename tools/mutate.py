"""Change the package in small ways, and see whether a test notices: a mutation run.

    python tools/mutate.py [--sample 200] [--seed 0] [--jobs 2] [--out mutants.csv] [--only 12,31]

A mutant is one place of the syntax tree that says something else: another comparison, another
operator, a number one larger, a condition turned round, a statement left out. Places are drawn at
random from metrics, memories, methods, protocols and results. Each mutant lives in a copy of
``src``; the tests that stand nearest to its file are asked first, then its cells of the grid, then
all of its package, and the first that fails has killed it. A copy without a change must pass first,
so that a test which fails anyway kills nobody. Survivors are printed with the changed line.
"""

import argparse
import ast
import csv
import importlib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "onward"
WHERE = ("metrics", "memory", "methods", "results", "protocols.py")
# A package's tests, where they are not all in the folder of its name.
TESTS = {
    "results": ["tests/results", "tests/test_sweep.py"],
    "protocols.py": ["tests/benchmarks", "tests/test_views.py"],
}
# Where every method and every memory runs, each in cells of its own name.
CELLS = "tests/grid"
# What a test run imports before it comes to the package: done once, then every mutant is a fork.
HEAVY = ("numpy", "pyarrow.parquet", "scipy.stats", "pydantic", "matplotlib.figure", "PIL", "torch")
SECONDS = 600
_COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.MatMult: ast.Mult,
}


@dataclass(frozen=True)
class Mutant:
    """One change: a part of a file, and what stands there instead."""

    number: int
    path: Path
    line: int
    before: str
    after: str
    start: int
    end: int

    def text(self) -> str:
        """Return the file with the change in it."""
        whole = self.path.read_bytes()
        return (whole[: self.start] + self.after.encode() + whole[self.end :]).decode()

    def __str__(self) -> str:
        before, after = (" ".join(text.split())[:90] for text in (self.before, self.after))
        return f"{self.path.relative_to(ROOT)}:{self.line}  {before}  ->  {after or '(nothing)'}"


def changes(node: ast.AST) -> Iterator[str]:
    """Return what a node could say instead."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        other = _COMPARED[type(node.ops[0])]()
        yield ast.unparse(ast.Compare(node.left, [other], node.comparators))
    elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        if not isinstance(node.left, ast.Constant | ast.JoinedStr) or isinstance(
            getattr(node.left, "value", None), int | float
        ):
            yield f"({ast.unparse(ast.BinOp(node.left, _COMPUTED[type(node.op)](), node.right))})"
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"({ast.unparse(ast.BoolOp(other, node.values))})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield repr(node.value + 1)
    elif isinstance(node, ast.IfExp):
        yield f"({ast.unparse(node.orelse)})"
    elif isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield "pass"


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def places(path: Path) -> Iterator[tuple[ast.AST, str]]:
    """Return the nodes of a file that can be changed; types are nothing to change."""
    tree = ast.parse(path.read_bytes())
    passed: set[ast.AST] = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if part is not None:
                passed.update(ast.walk(part))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            passed.update(ast.walk(node))
        if isinstance(node, ast.Raise):
            # The words of a message are a matter of taste.
            passed.update(ast.walk(node))
    for node in ast.walk(tree):
        if node not in passed:
            yield from ((node, after) for after in changes(node))


def mutants(sample: int, seed: int) -> list[Mutant]:
    """Draw mutants, the same ones for the same seed and the same code."""
    files = [
        path
        for name in WHERE
        for path in (
            [PACKAGE / name] if name.endswith(".py") else sorted((PACKAGE / name).glob("*.py"))
        )
    ]
    found = []
    for path in files:
        whole = path.read_bytes()
        begins = [0]
        for line in whole.splitlines(keepends=True):
            begins.append(begins[-1] + len(line))
        for node, after in places(path):
            start = begins[node.lineno - 1] + node.col_offset
            end = begins[node.end_lineno - 1] + node.end_col_offset
            found.append((path, node.lineno, whole[start:end].decode(), after, start, end))
    drawn = random.Random(seed).sample(found, min(sample, len(found)))
    print(f"{len(drawn)} of {len(found):,} mutants of {len(files)} files, seed {seed}", flush=True)
    return [Mutant(number, *each) for number, each in enumerate(drawn)]


def defined(path: Path) -> list[str]:
    """Return the public classes and functions of a file."""
    return [
        node.name
        for node in ast.parse(path.read_bytes()).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    ]


def near(path: Path) -> list[str]:
    """Return a file's doctests, and the tests of its package that name it or what it defines."""
    package, module = path.parent.name, path.stem
    names = defined(path)
    words = [f"onward.{package}.{module}", f"test_{module}", *names]
    found = [
        str(test.relative_to(ROOT))
        for test in sorted((ROOT / "tests").rglob("test_*.py"))
        if test.name == f"test_{module}.py" or any(word in test.read_text() for word in words)
    ]
    own = [test for test in found if f"/{package}/" in test]
    return [str(path.relative_to(ROOT)), *own]


def stages(path: Path) -> list[list[str]]:
    """Return which tests are asked about a file: the nearest, its cells, all of its package."""
    package = path.relative_to(PACKAGE).parts[0]
    cards = re.findall(r'MethodCard\("(\w+)", (\w+)', (PACKAGE / "methods/__init__.py").read_text())
    methods = [method for method, name in cards if name in defined(path)] or [path.stem]
    cells = [CELLS, "-k", " or ".join(methods)] if package in ("methods", "memory") else []
    return [near(path), cells, TESTS.get(package, [f"tests/{package}"])]


def killed(mutant: Mutant, folder: Path) -> str | None:
    """Return which tests have noticed a mutant, or None if all let it live."""
    copy = folder / f"src-{mutant.number}"
    shutil.copytree(ROOT / "src", copy)
    (copy / mutant.path.relative_to(ROOT / "src")).write_text(mutant.text())
    try:
        for stage in stages(mutant.path):
            noticed = failure(stage, copy) if stage else None
            if noticed:
                return f"{' '.join(stage[:3])}: {noticed}"
        return None
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def failure(tests: list[str], source: Path) -> str | None:
    """Return how some tests did not pass with another source, or None if all did."""
    child = os.fork()
    if child == 0:
        os._exit(_in_child(tests, source))
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return None if os.waitstatus_to_exitcode(status) in (0, 5) else "failed"
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return f"no end in {SECONDS} s"


def _in_child(tests: list[str], source: Path) -> int:
    os.setpgrp()
    os.chdir(ROOT)
    os.environ |= {"PYTHONPATH": str(source)}
    sys.path.insert(0, str(source))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    # A file's own examples are those of the copy.
    there = [name.replace("src/", f"{source}/", 1) for name in tests]
    try:
        return int(pytest.main(["-c", "pyproject.toml", "-x", "-q", "-n", "0", *there]))
    except BaseException:  # noqa: BLE001  # Whatever it was, the tests have not passed.
        return 1


def check_unchanged(folder: Path) -> None:
    """Stop if the tests fail without any change."""
    copy = folder / "src-unchanged"
    shutil.copytree(ROOT / "src", copy)
    for name in WHERE:
        tests = TESTS.get(name, [f"tests/{name}"])
        if failure(tests, copy):
            sys.exit(f"{' '.join(tests)}: expected to pass without a change, found failures")
        print(f"unchanged, {' '.join(tests)} pass", flush=True)


def main() -> None:
    """Draw mutants, try them, and list who survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("mutants.csv"))
    parser.add_argument("--only", default="", help="Numbers of mutants to try again.")
    asked = parser.parse_args()
    drawn = mutants(asked.sample, asked.seed)
    only = {int(number) for number in asked.only.split(",") if number}
    tried = [mutant for mutant in drawn if not only or mutant.number in only]
    survivors, lines = [], []
    for name in HEAVY:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.jobs) as pool:
        check_unchanged(Path(folder))
        work = pool.map(lambda mutant: (mutant, killed(mutant, Path(folder))), tried)
        for done, (mutant, by) in enumerate(work, 1):
            lines.append((mutant.number, by or "", str(mutant)))
            if by is None:
                survivors.append(mutant)
                print(f"{done:4} lives  #{mutant.number} {mutant}", flush=True)
            with asked.out.open("w", newline="") as file:
                csv.writer(file).writerows([("number", "killed by", "mutant"), *lines])
    share = 1 - len(survivors) / len(tried)
    print(f"{len(tried)} mutants, {len(tried) - len(survivors)} killed: {share:.1%}")


if __name__ == "__main__":
    main()
