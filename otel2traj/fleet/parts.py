"""Rows to the Parquet files of one part of a data set."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from ..errors import UsageError, WriteError
from ..writers.tables import Row
from .schema import SCHEMA, TABLES, TEXTS, columns, text_columns

_HELD_BYTES: Final = 64 << 20
"""What is held of a part before it goes into row groups."""
_OPEN_FILES: Final = 200
_FIXED: Final = 64
"""Bytes that a row costs beside its texts, roughly."""


class Spilled(WriteError):
    """A run is to be forgotten of which rows are in files already: the part has to be made anew without it."""

    def __init__(self, message: str = "rows that are in files already cannot be taken back") -> None:
        super().__init__(message)


def arrow() -> Any:
    """pyarrow. Raises `UsageError` where it is not installed."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError as err:
        raise UsageError("a data set needs pyarrow", hint="pip install 'otel2traj[fleet]'") from err


def arrow_schema(table: str) -> Any:
    """The Arrow schema of a table; its metadata names the version of the data set's schema."""
    pyarrow = arrow()
    kinds = {"timestamp[us, tz=UTC]": pyarrow.timestamp("us", "UTC"), "list<int32>": pyarrow.list_(pyarrow.int32())}
    kinds |= {"bool": pyarrow.bool_()}
    fields = [(name, kinds[kind] if kind in kinds else getattr(pyarrow, kind)()) for name, kind in columns(table)]
    return pyarrow.schema(fields, metadata={"otel2traj": SCHEMA})


_PART: Final = "PART"


def file_name(table: str, day: str | None, number: int = 0) -> str:
    """Where a file of a part stands in its data set, but for the name of the part; texts belong to no day."""
    end = f"{_PART}.parquet" if number == 0 else f"{_PART}-{number}.parquet"
    return f"{table}/{end}" if day is None else f"{table}/day={day}/{end}"


def of_share(name: str, number: int) -> str:
    """The name of a file that a share of an attempt wrote, beside those of the other shares of the part."""
    return name.replace(_PART, f"{_PART}-s{number:05d}")


def placed(name: str, part: str) -> str:
    """The name of a file once its part has one."""
    folder, slash, file = name.rpartition("/")
    return folder + slash + file.replace(_PART, part)


class Files:
    """The files of one part, in a folder of their own; rows leave in row groups."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._arrow = arrow()
        self._open: dict[tuple[str, str | None], Any] = {}
        self._numbers: dict[tuple[str, str | None], int] = {}
        self.names: list[str] = []

    def write(self, table: str, day: str | None, batch: Any) -> None:
        """Append a table of Arrow rows to the file of its table and day."""
        key = (table, day)
        if key not in self._open:
            if len(self._open) >= _OPEN_FILES:
                self.close()
            number = self._numbers.get(key, -1) + 1
            self._numbers[key] = number
            name = file_name(table, day, number)
            file = self._folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            self.names.append(name)
            long = {"text"} if table == TEXTS else set(text_columns(table))
            schema = arrow_schema(table)
            self._open[key] = self._arrow.parquet.ParquetWriter(
                file, schema, compression="zstd", use_dictionary=[one for one in schema.names if one not in long]
            )
        self._open[key].write_table(batch)

    def close(self) -> None:
        for writer in self._open.values():
            writer.close()
        self._open.clear()


class PartWriter:
    """Takes the rows of many attempts, one after the other; those of one that fails can be taken back."""

    def __init__(self, folder: Path) -> None:
        self._files = Files(folder)
        self._arrow = arrow()
        self._schemas = {table: arrow_schema(table) for table in (*TABLES, TEXTS)}
        self._kept: dict[tuple[str, str | None], list[Row]] = {}
        self._new: list[tuple[str, str | None, Row]] = []
        self._seen: set[bytes] = set()
        self._new_texts: list[bytes] = []
        self._held = self._held_new = 0
        self._spilled = False

    def add(self, table: str, day: str, row: Row) -> None:
        self._take(table, day, row)

    def text(self, digest: str, data: bytes) -> None:
        key = bytes.fromhex(digest)
        if key not in self._seen:
            self._seen.add(key)
            self._new_texts.append(key)
            self._take(TEXTS, None, {"sha256": digest, "bytes": len(data), "text": data.decode()})

    def _take(self, table: str, day: str | None, row: Row) -> None:
        self._new.append((table, day, row))
        self._held_new += _FIXED * len(row) + sum(len(value) for value in row.values() if isinstance(value, str))
        if self._held + self._held_new >= _HELD_BYTES:
            self._flush()
            if self._held_new >= _HELD_BYTES // 2:
                self._spilled = True
                self._settle()
                self._flush()

    def keep(self) -> None:
        """The attempt is done."""
        self._settle()
        self._new_texts.clear()
        self._spilled = False

    def forget(self) -> None:
        """Take back what came since `keep`. Raises `Spilled` where that is not possible."""
        if self._spilled:
            raise Spilled
        self._seen.difference_update(self._new_texts)
        self._new_texts.clear()
        self._new.clear()
        self._held_new = 0

    def close(self) -> list[str]:
        """The names of all files, sorted; each is whole."""
        self._flush()
        self._files.close()
        return sorted(self._files.names)

    def _settle(self) -> None:
        for table, day, row in self._new:
            self._kept.setdefault((table, day), []).append(row)
        self._new.clear()
        self._held, self._held_new = self._held + self._held_new, 0

    def _flush(self) -> None:
        for (table, day), rows in sorted(self._kept.items(), key=lambda item: (item[0][0], item[0][1] or "")):
            self._files.write(table, day, self._arrow.Table.from_pylist(rows, schema=self._schemas[table]))
        self._kept.clear()
        self._held = 0


def days_of(name: str) -> tuple[str, str | None]:
    """Table and day of a file by its name in the data set."""
    table, _, rest = name.partition("/")
    day = rest.partition("/")[0].removeprefix("day=") if rest.startswith("day=") else None
    return table, day


def batches(file: Any, rows: int = 16_384, columns: list[str] | None = None) -> Iterator[Any]:
    """The rows of a Parquet file as Arrow tables, some at a time; all columns where none are named."""
    pyarrow = arrow()
    parquet = pyarrow.parquet.ParquetFile(file)
    for batch in parquet.iter_batches(batch_size=rows, columns=columns):
        yield pyarrow.Table.from_batches([batch])


__all__ = ["Files", "PartWriter", "Spilled", "arrow", "arrow_schema", "batches", "days_of", "of_share", "placed"]
