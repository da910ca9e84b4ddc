"""What the supplement's tables share: what is kept, and which weights are started from."""

from dataclasses import dataclass
from typing import Any

from onward.configs.clear.runs import (
    CITATION,
    CUMULATIVE,
    LINEAR,
    MLP,
    MLP_CUMULATIVE,
    ON_MOCO,
    clear_table,
)
from onward.reproduce.claims import Claim, above
from onward.reproduce.table import Column, PaperTable, Row


@dataclass(frozen=True)
class Alpha:
    """How strongly a biased reservoir prefers recent samples: α, or c in α = c i/k."""

    number: float
    dynamic: bool

    @property
    def name(self) -> str:
        """What it is called in the names of rows."""
        return f"{'c' if self.dynamic else 'alpha'}={self.number:g}"

    @property
    def label(self) -> str:
        """What it is called in tables."""
        return f"α = {self.number:g}{' i/k' if self.dynamic else ''}"

    @property
    def published(self) -> str:
        """What it is called in the files of published values."""
        return f"{self.number:.2f}*i/k" if self.dynamic else f"{self.number:.1f}"

    @property
    def option(self) -> float | str:
        """What the method takes."""
        return f"{self.number}*i/k" if self.dynamic else self.number


ALPHAS = tuple(Alpha(number, dynamic=False) for number in (0.5, 1.0, 2.0, 5.0)) + tuple(
    Alpha(number, dynamic=True) for number in (0.25, 0.5, 0.75, 1.0)
)
# Published name, name in our rows, and which weights a period begins with.
_STARTS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("From Scratch", "scratch", {"start": "random"}),
    ("Finetuning", "finetune", {}),
)
# As published; seconds of a run with a memory of one bucket, and with one of everything; seeds:
# where runs are cheap, all rows have as many as the claims need, so that means can be compared.
_NETWORKS = {
    "linear": ("Linear", LINEAR, CUMULATIVE, 10),
    "mlp": ("MLP", MLP, MLP_CUMULATIVE, 5),
}


def supplement_table(
    number: int,
    title: str,
    model: str,
    columns: tuple[Column, ...],
    claims: tuple[Claim, ...],
    *notes: str,
    edition: str = ON_MOCO,
) -> PaperTable:
    """Return one of Tables 4 to 9 of the supplement; the model is ``linear`` or ``mlp``."""
    return clear_table(
        name=f"clear/supp{number}",
        title=title,
        citation=f"{CITATION}, supplement, Table {number}",
        file=f"supp{number}.csv",
        rows=_rows(model),
        columns=columns,
        claims=claims,
        notes=notes,
        edition=edition,
    )


def _rows(model: str) -> tuple[Row, ...]:
    """Return the nineteen rows that all of them have."""
    load = {} if model == "linear" else {"model": model}
    network, seconds, cumulative_seconds, seeds = _NETWORKS[model]

    def row(name: str, label: str, buffer: str, published: str, alpha: str, **rest: Any) -> Row:
        key = {"network": network, "buffer": buffer, "method": published, "alpha": alpha}
        return Row(name, label, key, load=load, seeds=seeds, **{"seconds": seconds, **rest})

    rows = [row("nap", "nap", "N/A", "Nap", "N/A", method="nap")]
    for published, start, options in _STARTS:
        rows.append(
            row(
                f"{start}/cumulative",
                f"{start}, cumulative",
                "Cumulative",
                published,
                "N/A",
                method="cumulative",
                options=options,
                seconds=cumulative_seconds,
            )
        )
        rows += [
            row(
                f"{start}/{alpha.name}",
                f"{start}, {alpha.label}",
                "One Bucket",
                published,
                alpha.published,
                method="biased_reservoir",
                options={"alpha": alpha.option, **options},
            )
            for alpha in ALPHAS
        ]
    return tuple(rows)


_MEMORIES = ("cumulative", *(alpha.name for alpha in ALPHAS))


def finetuning_claims(column: str, where: str) -> tuple[Claim, ...]:
    """Return the claims that finetuning is above starting anew, and above not learning at all."""
    return (
        Claim(
            name="finetuning above from scratch",
            text="Going on from the last weights is better on the next period than starting anew, "
            "whatever is kept.",
            where=where,
            pairs=above(column, *((f"finetune/{kept}", f"scratch/{kept}") for kept in _MEMORIES)),
            seeds=10,
        ),
        Claim(
            name="finetuning above napping",
            text="Going on learning is better on the next period than stopping after the first, "
            "whatever is kept.",
            where=where,
            pairs=above(column, *((f"finetune/{kept}", "nap") for kept in _MEMORIES)),
            seeds=10,
        ),
    )


def biased_claim(name: str, columns: tuple[str, ...], where: str) -> Claim:
    """Return the claim that memories which prefer recent samples are better on some columns."""
    return Claim(
        name=name,
        text="With finetuning and a memory of one bucket, preferring recent samples (α = 0.75 i/k "
        "and 1 i/k) is better than not preferring any (α = 1).",
        where=where,
        pairs=above(
            columns, *((f"finetune/{alpha}", "finetune/alpha=1") for alpha in ("c=0.75", "c=1"))
        ),
        seeds=10,
    )
