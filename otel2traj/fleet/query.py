"""SQL over a data set: DuckDB, with a view for each table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from ..errors import UsageError
from .dataset import DataSet
from .parts import days_of
from .place import Place
from .schema import TABLES, TEXTS, columns

_SQL_KINDS: Final = {
    "string": "VARCHAR",
    "int64": "BIGINT",
    "int32": "INTEGER",
    "float64": "DOUBLE",
    "bool": "BOOLEAN",
    "timestamp[us, tz=UTC]": "TIMESTAMPTZ",
    "list<int32>": "INTEGER[]",
}
_ROWS: Final = 1024
_HINT: Final = "`otel2traj query OUT` lists the tables"


@dataclass(slots=True)
class Answer:
    """Names of columns, and rows as they come."""

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]


def query(place: Place, sql: str) -> Answer:
    """Run SQL over the tables of a data set, as it stands when this is called.

    Views have the names of the tables; `texts` has every long text once, and `text_of(x, x_sha256)` gives a text
    whether it is long or short. The statement can read nothing else and write nothing. Raises `UsageError` for SQL that
    DuckDB does not take, without DuckDB, or without a data set.
    """
    duckdb = _duckdb()
    dataset = DataSet(place)
    if not dataset.exists:
        raise UsageError("there is no data set here", hint="make one with `otel2traj build SRC --dataset OUT`")
    base = duckdb.connect()
    files: dict[str, list[str]] = {table: [] for table in (*TABLES, TEXTS)}
    for record in dataset.records():
        for name in record.files:
            files[days_of(name)[0]].append(place.where(name))
    base.execute("SET TimeZone = 'UTC'")
    place.allow(base)
    for table, names in files.items():
        base.execute(f"CREATE VIEW {table} AS {_select(table, names)}")
    base.execute(
        "CREATE MACRO text_of(inline, digest) AS"
        " coalesce(inline, (SELECT any_value(t.text) FROM texts t WHERE t.sha256 = digest))"
    )
    try:
        told = base.execute(sql)
        names = [column[0] for column in told.description or []]
    except duckdb.Error as err:
        raise UsageError(f"DuckDB: {err}", hint=_HINT) from err
    return Answer(names, _rows(told))


def _rows(told: Any) -> Iterator[tuple[Any, ...]]:
    try:
        while rows := told.fetchmany(_ROWS):
            yield from rows
    except _duckdb().Error as err:
        raise UsageError(f"DuckDB: {err}", hint=_HINT) from err


def _select(table: str, names: list[str]) -> str:
    wanted = ", ".join(f'"{name}"' for name, _ in columns(table))
    if not names:
        kinds = [f'NULL::{_SQL_KINDS[kind]} AS "{name}"' for name, kind in columns(table)]
        day = [] if table == TEXTS else ["NULL::DATE AS day"]
        return f"SELECT {', '.join(kinds + day)} WHERE false"
    listed = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
    if table == TEXTS:
        grouped = f"SELECT sha256, any_value(bytes) AS bytes, any_value(text) AS text FROM read_parquet([{listed}])"
        return f"{grouped} GROUP BY sha256"
    return (
        f"SELECT {wanted}, TRY_CAST(day AS DATE) AS day FROM"
        f" read_parquet([{listed}], hive_partitioning = true, hive_types_autocast = false)"
    )


def _duckdb() -> Any:
    try:
        return import_module("duckdb")
    except ImportError as err:
        raise UsageError("`query` needs DuckDB", hint="pip install 'otel2traj[fleet]'") from err


def describe() -> str:
    """The tables and their columns, for people."""
    lines = []
    for table in (*TABLES, TEXTS):
        told = [f"{name} {_SQL_KINDS[kind]}" for name, kind in columns(table)]
        lines.append(f"{table}: {', '.join([*told, *([] if table == TEXTS else ['day DATE'])])}")
    return "\n".join(lines)
