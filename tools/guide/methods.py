"""Pages of methods: from their cards, signatures and docstrings."""

import inspect
import sys
from pathlib import Path

from guide import docstring
from guide.examples import AS_IMAGES, run_command
from guide.sources import ROOT
from guide.writing import block, defaults, options, page, section, table
from onward.benchmarks import BENCHMARKS
from onward.fit import IMAGES, NEEDS
from onward.grid import Cell, grid
from onward.methods import METHODS, MethodCard
from onward.train.method import Method

_FIVE = "[five questions](../design.md#every-method-is-one-row)"
_QUESTIONS = ("training_data", "init_weights", "compute_loss", "on_after_backward", "on_learn_end")


def method_pages() -> dict[str, str]:
    """Return a page for every method, and one that lists them."""
    cells = grid()
    found = {f"methods/{name}.md": _method(card, cells) for name, card in METHODS.items()}
    rows = [
        [
            f"[`{name}`]({name}.md)",
            docstring.markdown(card.summary),
            card.source,
            _share(name, cells),
        ]
        for name, card in METHODS.items()
    ]
    found["methods/index.md"] = page(
        "# Methods",
        "A method is a small class that answers five questions; finetuning's answers are the "
        "defaults ([design](../design.md#every-method-is-one-row)). Which of them run where is in "
        "[the grid](../grid.md), how to write one in [write a method in "
        "PyTorch](../howto/method.md).",
        table(["method", "what it does", "source", "benchmarks"], rows),
    )
    return found


def _method(card: MethodCard, cells: list[Cell]) -> str:
    make, own = card.make, [found for found in cells if found.method == card.name]
    doc, module = docstring.read(make), sys.modules[make.__module__]
    needs = [f"- {NEEDS[need]}, {purpose}" for need, purpose in card.needs.items()]
    where = [
        [f"[`{c.benchmark}`](../benchmarks/{c.benchmark}.md)", "runs" if c.runs else c.reason or ""]
        for c in own
    ]
    return page(
        f"# {card.name}",
        f"*{docstring.markdown((module.__doc__ or '').splitlines()[0])}*",
        section("What it does", doc.summary, *doc.body, _answers(make)),
        section("Why", doc.why),
        section("Options", options(doc, defaults(make.__init__), skip=("setting",))),
        section("Example", _example(card, own)),
        section("Our choices", doc.choices),
        section("Known problems", doc.problems),
        section(
            "Where it runs",
            "It needs:\n\n" + "\n".join(needs) if needs else "It needs nothing in particular.",
            table(["benchmark", ""], where),
        ),
        section("Source", doc.references or f"{card.source}.", _code(make)),
    )


def _code(make: type) -> str:
    """Link the file, where it is one of this repository's."""
    file = Path(inspect.getfile(make))
    if not file.is_relative_to(ROOT):
        return ""
    return f"Code: [`{file.relative_to(ROOT)}`](../../{file.relative_to(ROOT)})"


def _answers(make: type) -> str:
    """Say which of the five questions a method answers otherwise than finetuning."""
    if not issubclass(make, Method):
        return "It is a learner of its own kind: the five questions are about one loss, it has two."
    others = [q for q in _QUESTIONS if getattr(make, q) is not getattr(Method, q)]
    if not others:
        return f"It is what the defaults of all {_FIVE} say."
    named = ", ".join(f"`{question}`" for question in others)
    return f"Of the {_FIVE} it answers {named} otherwise than finetuning."


def _example(card: MethodCard, own: list[Cell]) -> str:
    """Show it on the benchmark that it comes from, or else on the first that it runs on."""
    running = [found.benchmark for found in own if found.runs]
    home = [name for name in running if name.split("-")[0].upper() in card.source.upper()]
    benchmark = next(iter(home or running))
    known = inspect.signature(BENCHMARKS[benchmark].load).parameters
    features = IMAGES in card.needs and "features" in known
    return block("sh", run_command(benchmark, card.name, AS_IMAGES if features else ""))


def _share(method: str, cells: list[Cell]) -> str:
    own = [found for found in cells if found.method == method]
    return f"{sum(found.runs for found in own)} of {len(own)}"
