"""`otel2traj query`: SQL over a data set."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from datetime import date, datetime
from typing import Annotated, Any

import typer

FORMATS = ("table", "jsonl", "csv")
_WIDEST = 60


def register(app: typer.Typer) -> None:
    app.command()(query)


def query(
    dataset: Annotated[str, typer.Argument(help="A data set that `build --dataset` made.")],
    sql: Annotated[str | None, typer.Argument(help="A statement; without one the tables are listed.")] = None,
    form: Annotated[str, typer.Option("--format", help="table, jsonl or csv.")] = "table",
) -> None:
    """Ask a data set in SQL (DuckDB), with a view for each of its tables; it can read nothing else and write nothing.

    docs/how-to/questions.md has twelve statements to begin with.

    Example: otel2traj query runs "SELECT ended, count(*) FROM runs GROUP BY ALL"
    """
    from ..errors import UsageError
    from ..fleet import query as fleet
    from ..fleet.places import place_of

    if form not in FORMATS:
        raise UsageError(f"there is no format {form!r}", hint=f"one of: {', '.join(FORMATS)}")
    if sql is None:
        print(fleet.describe())
        return
    answer = fleet.query(place_of(dataset), sql)
    if form == "csv":
        out = csv.writer(sys.stdout, lineterminator="\n")
        out.writerow(answer.columns)
        out.writerows([_plain(value) for value in row] for row in answer.rows)
    elif form == "jsonl":
        from ..canonical import dumps

        for row in answer.rows:
            told = {name: _plain(value) for name, value in zip(answer.columns, row, strict=True)}
            sys.stdout.buffer.write(dumps(told) + b"\n")
    else:
        _table(answer.columns, answer.rows)


def _plain(value: Any) -> Any:
    """A value as JSON and CSV have it."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _table(names: list[str], rows: Iterable[tuple[Any, ...]]) -> None:
    from ..renderers.safe import inline

    told = [[inline("" if value is None else str(_plain(value))) for value in row] for row in rows]
    told = [[cell if len(cell) <= _WIDEST else cell[: _WIDEST - 1] + "…" for cell in row] for row in told]
    widths = [max(len(name), *(len(row[at]) for row in told), 0) for at, name in enumerate(names)]
    for row in [names, ["-" * width for width in widths], *told]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
