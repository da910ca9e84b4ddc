"""The rows of papers, for reports and leaderboards to set beside runs."""

from collections.abc import Iterable, Iterator

from onward.report.published import PublishedRow, PublishedValue
from onward.report.summary import METRICS
from onward.reproduce.claims import Cell
from onward.reproduce.table import Column, PaperTable, Row, Run


def published_rows(tables: Iterable[PaperTable]) -> list[PublishedRow]:
    """Return what papers say, in the words of reports, table by table.

    A row of a table is a row for each protocol and edition of the data that it has numbers of.
    Numbers that no report shows, and those that the text we have does not tell, are left out.
    """
    return [row for table in tables for row in _rows(table)]


def _rows(table: PaperTable) -> Iterator[PublishedRow]:
    names = {column.name: name for column in table.columns if (name := shown_as(column))}
    published = [row for row in table.rows if row.key is not None]
    runs = {row.name: _runs(table, row) for row in published}
    of_table = next((run.source.benchmark for found in runs.values() for run in found.values()), "")
    for row in published:
        values: dict[tuple[str, str], dict[str, PublishedValue]] = {}
        for column in table.columns:
            value = table.published(Cell(row.name, column.name))
            if column.name not in names or value.mean is None:
                continue
            run = runs[row.name].get(column.protocol)
            protocol = (run and run.source.protocol) or column.protocol
            edition = ", ".join(filter(None, (table.edition, column.edition)))
            values.setdefault((protocol, edition), {})[names[column.name]] = PublishedValue(
                value.mean / 100,
                None if value.deviation is None else value.deviation / 100,
                value.certain,
            )
        for (protocol, edition), found in values.items():
            yield PublishedRow(
                of_table,
                protocol,
                edition,
                row.label,
                row.method,
                found,
                table.citation,
                table.name,
            )


def shown_as(column: Column) -> str | None:
    """Return what summaries call the metric of a column; None where they do not have it."""
    source, _, name = column.metric.partition(".")
    return name if source == "clear" and name in METRICS else column.shown


def _runs(table: PaperTable, row: Row) -> dict[str, Run]:
    """Return a run of a row for each protocol of its columns, where the usual data has one.

    It knows the benchmark, and a protocol that a row has in place of its columns'.
    """
    found: dict[str, Run] = {}
    for column in table.columns:
        if column.protocol not in found:
            run = table.run(row, column, table.usual, "cpu")
            if isinstance(run, Run):
                found[column.protocol] = run
    return found
