"""An outcome as files: numbers as JSON, a page in Markdown, pictures."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from onward.files import storage, write_atomic
from onward.report.numbers import finite
from onward.report.style import to_png
from onward.reproduce import words
from onward.reproduce.claims import Cell, Judgement, Tested
from onward.reproduce.engine import Outcome
from onward.reproduce.pictures import PICTURES, curves, matrices
from onward.reproduce.table import Row


def write(outcome: Outcome, out: Path) -> list[Path]:
    """Write all that there is to say about an outcome; return the files: numbers, page, pictures.

    They are called after the table.
    """
    name = outcome.plan.table.short_name
    pictures = {
        row.label: out / f"{name}-matrices" / words.file_name(row.name)
        for row in _pictured(outcome)
    }
    with storage(out):
        for row, path in zip(_pictured(outcome), pictures.values(), strict=True):
            write_atomic(path, to_png(matrices(outcome, row)))
        wanted = outcome.plan.table.curves
        if wanted is not None:
            path = out / f"{name}-curves.png"
            write_atomic(path, to_png(curves(outcome, wanted)))
            pictures = {wanted.title: path, **pictures}
        kind = outcome.plan.table.pictures
        more = {} if kind is None else PICTURES[kind](outcome)
        for title, (file, figure) in more.items():
            path = out / f"{name}-{kind}" / file
            write_atomic(path, to_png(figure))
            pictures = {title: path, **pictures}
        paths = {label: path.relative_to(out).as_posix() for label, path in pictures.items()}
        numbers, page = out / f"{name}.json", out / f"{name}.md"
        text = json.dumps({**to_json(outcome), "pictures": paths}, indent=1, ensure_ascii=False)
        write_atomic(numbers, text.encode())
        write_atomic(page, "\n".join(_markdown(outcome, paths)).encode())
    return [numbers, page, *pictures.values()]


def to_json(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain data; numbers in percent, differences in points."""
    plan, table = outcome.plan, outcome.plan.table
    return {
        "table": table.name,
        "title": table.title,
        "citation": table.citation,
        "data": plan.data,
        "recipe": plan.recipe,
        "command": table.command(plan.data, plan.recipe),
        "unit": "percent",
        "columns": [
            {"name": c.name, "heading": c.heading, "protocol": c.protocol, "metric": c.metric}
            for c in plan.columns()
        ],
        "rows": [
            {
                "name": row.name,
                "label": row.label,
                "method": row.method,
                "options": dict(row.options),
                "cells": {
                    column.name: _cell(outcome, Cell(row.name, column.name))
                    for column in plan.columns()
                },
            }
            for row in plan.rows()
        ],
        "left_out": plan.left_out(),
        "claims": [_claim(judgement) for judgement in outcome.judgements],
        "claims_not_run": outcome.unjudged(),
        "caveats": list(table.caveats(plan.data, plan.recipe)),
        "notes": list(table.notes),
    }


def _cell(outcome: Outcome, cell: Cell) -> dict[str, Any]:
    ours, theirs = outcome.ours(cell), outcome.plan.table.published(cell)
    return {
        "ours": None
        if ours is None
        else {
            "mean": _percent(ours.mean),
            "deviation": _percent(ours.deviation),
            "repetitions": list(outcome.scores[cell]),
            "values": [_percent(value) for value in ours.values],
        },
        "published": asdict(theirs),
    }


def _claim(judgement: Judgement) -> dict[str, Any]:
    claim = judgement.claim
    return {
        "name": claim.name,
        "text": claim.text,
        "where": claim.where,
        "note": claim.note,
        "answer": judgement.answer,
        "counts": judgement.counts(),
        "published": asdict(judgement.published),
        "pairs": [_pair(pair) for pair in judgement.tested],
    }


def _pair(tested: Tested) -> dict[str, Any]:
    verdict = tested.verdict
    return {
        **asdict(tested.pair),
        "answer": verdict.answer,
        "difference": _percent(verdict.difference),
        "interval": [_percent(end) for end in tested.interval],
        "p": finite(verdict.p),
        "repetitions": list(tested.repetitions),
    }


def _percent(value: float) -> float | None:
    return finite(100 * value)


def _markdown(outcome: Outcome, pictures: dict[str, str]) -> Iterator[str]:
    plan, table = outcome.plan, outcome.plan.table
    columns = plan.columns()
    yield f"# {table.name}: {table.title}\n"
    yield f"{table.citation}. Ours: `{plan.data}`, {plan.recipe} recipe, "
    yield f"{words.seeds_used(outcome)}; percent, mean ± one standard deviation.\n"
    yield f"    {table.command(plan.data, plan.recipe)}\n"
    # Of each line of the table: what it is called, and its cells.
    lines = [(row.label, [Cell(row.name, c.name) for c in columns]) for row in plan.rows()]
    above = [f"{column.protocol} {column.heading}" for column in columns]
    if table.upright:
        lines = [(c.heading, [Cell(row.name, c.name) for row in plan.rows()]) for c in columns]
        above = [row.label for row in plan.rows()]
    yield _line(["", "", *above])
    yield _line(["---", "---", *("---:" for _ in above)])
    for label, cells in lines:
        yield _line([label, "ours", *(words.number(outcome.ours(cell)) for cell in cells)])
        yield _line(["", "published", *(table.published(cell).text() for cell in cells)])
    yield ""
    for text in (*table.caveats(plan.data, plan.recipe), *table.notes):
        yield f"- {text}"
    for reason, names in plan.left_out().items():
        yield f"- Left out, {reason}: {', '.join(names)}."
    yield "\n## What the paper claims\n"
    for judgement in outcome.judgements:
        yield from _claim_lines(outcome, judgement)
    if outcome.unjudged():
        yield f"Nothing was run for: {', '.join(outcome.unjudged())}.\n"
    yield "## Pictures\n"
    yield from (f"![{label}]({path})" for label, path in pictures.items())


def _claim_lines(outcome: Outcome, judgement: Judgement) -> Iterator[str]:
    claim = judgement.claim
    yield f"**{judgement.answer}**: {claim.text} ({claim.where})\n"
    parts = [words.counted(judgement), judgement.published.sentence()]
    yield f"{'; '.join(part for part in parts if part)}.\n"
    yield from (f"- {words.tested(outcome.plan.table, pair)}" for pair in judgement.tested)
    yield f"\n{claim.note}\n" if claim.note else ""


def _line(cells: Sequence[str]) -> str:
    # Candidates of a damaged value are told apart by the sign that parts cells.
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _pictured(outcome: Outcome) -> list[Row]:
    """Return the rows whose runs have tests of periods."""
    return [
        row
        for row in outcome.plan.rows()
        if any(np.isfinite(summary.matrix).any() for summary in outcome.summaries[row.name])
    ]
