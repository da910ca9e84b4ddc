"""A table to reproduce: two methods, two metrics, one claim."""

from onward.benchmarks import Source
from onward.reproduce.claims import Cell, Claim, Pair
from onward.reproduce.table import Column, Missing, PaperTable, Row, Run


def run(row: Row, column: Column, data: str, recipe: str) -> Run | Missing:
    """Say what a cell is computed from."""
    return Run(Source("seasons", data, column.protocol, recipe), row.method, dict(row.options))


def caveats(data: str, recipe: str) -> tuple[str, ...]:
    """Say nothing: this table was never published."""
    return ()


TABLE = PaperTable(
    name="extra/table1",
    title="Seasons",
    citation="onward-extra",
    package="onward_extra",
    file=None,
    rows=tuple(
        Row(name, name, None, name, {"cpu": 1.0, "paper": 3.0}, seeds=3)
        for name in ("finetune", "half_back")
    ),
    columns=(
        Column("next", "next-domain", "streaming", "clear.next_domain"),
        Column("worst", "worst next", "streaming", "extra.worst_next"),
    ),
    run=run,
    caveats=caveats,
    claims=(
        Claim(
            name="half of the way is worse",
            text="Going half of the way back is worse in the next year than finetuning.",
            where="nowhere",
            pairs=(Pair(Cell("finetune", "next"), Cell("half_back", "next")),),
            seeds=3,
        ),
    ),
    usual="made",
)
