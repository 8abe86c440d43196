"""Parts of a data set written anew: without attempts that a later part has, or many as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from ..errors import UsageError
from .dataset import DataSet, Entry, Record, State, part_name
from .parts import Files, arrow, arrow_schema, batches, days_of, placed
from .place import Place
from .schema import TABLES, TEXTS, text_columns

_GROUP_ROWS: Final = 122_880
_GROUP_BYTES: Final = 64 << 20
"""A row group of a table that was compacted has so many rows, or fewer that are so large in memory."""


def rewrite(dataset: DataSet, record: Record, gone: set[tuple[str, str]]) -> None:
    """A part without the attempts in `gone`. Its texts stay: rows of other parts may name them."""
    kept = [entry for entry in record.entries if (entry.root, entry.attempt) not in gone and not entry.same]
    runs = {run for entry in record.entries if (entry.root, entry.attempt) in gone for run in entry.runs}
    _write(dataset, [record], kept, runs, None)


def compact(place: Place) -> tuple[int, int]:
    """Make one part of all: few large files a day, every text once, none that no row names. Returns the numbers of
    files before and after. Raises `UsageError` where there is no data set, `RefusedError` where somebody writes it."""
    arrow()
    if DataSet(place).roots == {}:
        raise UsageError("there is no data set here", hint="make one with `otel2traj build SRC --dataset OUT`")
    with place.held():
        dataset = DataSet(place)
        state = State()
        try:
            records = list(dataset.records())
            state.load(records)
            for record in records:
                gone = state.stale().get(record.name)
                if gone is not None:
                    rewrite(dataset, record, gone)
            records = list(dataset.records())
            before = sum(len(record.files) for record in records)
            entries = [
                Entry(e.root, e.attempt, known.key, known.token, e.runs, e.error, e.again)
                for record in records
                for e in record.entries
                if not e.same and (known := state.known(e.root, e.attempt)) is not None
            ]
        finally:
            state.close()
        entries.sort(key=lambda entry: (entry.root, entry.attempt))
        named = {digest for record in records for digest in _named(dataset, record)}
        _write(dataset, records, entries, set(), named)
        dataset.sweep()
        return before, sum(len(record.files) for record in dataset.records())


def _named(dataset: DataSet, record: Record) -> Iterator[bytes]:
    """Digests of the texts that the rows of a part name."""
    for name in record.files:
        table, _ = days_of(name)
        wanted = [] if table == TEXTS else text_columns(table)
        for column in wanted:
            with dataset.place.open(name) as stream:
                for batch in batches(stream, columns=[column, f"{column}_sha256"]):
                    inline, digests = batch.column(0).to_pylist(), batch.column(1).to_pylist()
                    for text, digest in zip(inline, digests, strict=True):
                        if text is None and digest is not None:
                            yield bytes.fromhex(digest)


def _write(
    dataset: DataSet, records: list[Record], entries: list[Entry], without: set[str], texts: set[bytes] | None
) -> None:
    """One part of several; `without` runs, and with the texts that are named, each once (all of them where None)."""
    with dataset.place.scratch() as folder:
        files = Files(folder)
        by_table: dict[tuple[str, str | None], list[str]] = {}
        for record in records:
            for name in record.files:
                by_table.setdefault(days_of(name), []).append(name)
        order = {table: number for number, table in enumerate((*TABLES, TEXTS))}
        seen: set[bytes] = set()
        for (table, day), names in sorted(by_table.items(), key=lambda item: (order[item[0][0]], item[0][1] or "")):
            rows = (batch for name in sorted(names) for batch in _batches(dataset, name))
            chosen = _once(rows, seen, texts) if table == TEXTS else _filtered(rows, without)
            for group in _groups(chosen, table):
                files.write(table, day, group)
            files.close()
        names = sorted(files.names)
        part = part_name([*(f"{e.root}\0{e.attempt}\0{e.key}" for e in entries), *(r.name for r in records)])
        generation = max(record.generation for record in records)
        void = sorted({name for record in records for name in (record.name, *record.replaces)})
        made = Record(part, generation, [placed(name, part) for name in names], entries, void)
        for name, target in zip(names, made.files, strict=True):
            dataset.place.put(target, Path(folder) / name)
        dataset.commit(made)


def _batches(dataset: DataSet, name: str) -> Iterator[Any]:
    with dataset.place.open(name) as stream:
        yield from batches(stream)


def _filtered(rows: Iterable[Any], without: set[str]) -> Iterator[Any]:
    if not without:
        yield from rows
        return
    pyarrow = arrow()
    for batch in rows:
        yield batch.filter(pyarrow.array([run not in without for run in batch.column("run").to_pylist()]))


def _once(rows: Iterable[Any], seen: set[bytes], texts: set[bytes] | None) -> Iterator[Any]:
    pyarrow = arrow()
    for batch in rows:
        mask = []
        for told in batch.column("sha256").to_pylist():
            digest = bytes.fromhex(told)
            mask.append(digest not in seen and (texts is None or digest in texts))
            seen.add(digest)
        yield batch.filter(pyarrow.array(mask))


def _groups(rows: Iterable[Any], table: str) -> Iterator[Any]:
    """Batches put together to row groups that are worth scanning."""
    pyarrow = arrow()
    schema = arrow_schema(table)
    held: list[Any] = []
    count = size = 0
    for batch in rows:
        if batch.num_rows == 0:
            continue
        held.append(batch.cast(schema))
        count += batch.num_rows
        size += batch.nbytes
        if count >= _GROUP_ROWS or size >= _GROUP_BYTES:
            yield pyarrow.concat_tables(held)
            held, count, size = [], 0, 0
    if held:
        yield pyarrow.concat_tables(held)
