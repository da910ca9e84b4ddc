"""The rows of the supplement's tables: what is kept, and which weights are started from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onward.reproduce.claims import Cell, Claim, Pair
from onward.reproduce.table import Row


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
_NETWORKS = {"linear": "Linear", "mlp": "MLP"}
# Where runs are cheap, all rows have as many as the claims need: their means can be compared.
_SEEDS = {"linear": 10, "mlp": 5}


def supplement_rows(
    model: str, seconds: Mapping[str, float], cumulative_seconds: Mapping[str, float]
) -> tuple[Row, ...]:
    """Return the nineteen rows that Tables 4 to 9 of the supplement have.

    Parameters
    ----------
    model
        ``linear`` or ``mlp``.
    seconds, cumulative_seconds
        What a run takes with a memory of one bucket, and with one of everything.
    """
    load = {} if model == "linear" else {"model": model}

    def row(name: str, label: str, buffer: str, published: str, alpha: str, **rest: Any) -> Row:
        key = {"network": _NETWORKS[model], "buffer": buffer, "method": published, "alpha": alpha}
        return Row(
            name=name,
            label=label,
            key=key,
            load=load,
            seeds=_SEEDS[model],
            **{"seconds": seconds, **rest},
        )

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
            pairs=tuple(
                Pair(Cell(f"finetune/{memory}", column), Cell(f"scratch/{memory}", column))
                for memory in _MEMORIES
            ),
            seeds=10,
        ),
        Claim(
            name="finetuning above napping",
            text="Going on learning is better on the next period than stopping after the first, "
            "whatever is kept.",
            where=where,
            pairs=tuple(
                Pair(Cell(f"finetune/{memory}", column), Cell("nap", column))
                for memory in _MEMORIES
            ),
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
        pairs=tuple(
            Pair(Cell(f"finetune/{alpha}", column), Cell("finetune/alpha=1", column))
            for column in columns
            for alpha in ("c=0.75", "c=1")
        ),
        seeds=10,
    )
