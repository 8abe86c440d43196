"""The beginning of a file in none of the known forms into words: what it looks like, and which form comes nearest."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from ..errors import some_of
from .base import Reader
from .outline import Head, Path

_SHOWN: Final = 8
"""Names of members or columns that are told."""
_FEW: Final = 3
_MAGIC: Final = (
    (b"SQLite format 3\0", "an SQLite database", "write the rows of its spans as JSON"),
    (b"PAR1", "a Parquet table", "write its rows as JSON"),
    (b"ARROW1", "an Arrow table", "write its rows as JSON"),
    (b"Obj\x01", "an Avro file", "write its rows as JSON"),
    (b"%PDF", "a PDF document", ""),
    (b"\x89PNG", "a PNG image", ""),
    (b"\xff\xd8\xff", "a JPEG image", ""),
    (b"GIF8", "a GIF image", ""),
    (b"\x7fELF", "a program", ""),
    (b"\xfd7zXZ\0", "data compressed with xz", "give it plain, or compressed with gzip or zstd"),
    (b"BZh", "data compressed with bzip2", "give it plain, or compressed with gzip or zstd"),
    (b"7z\xbc\xaf", "a 7-Zip archive", "unpack it"),
    (b"\xff\xfe", "text in UTF-16", "write it in UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "write it in UTF-8"),
    (b"PK\x05\x06", "a zip archive without members", ""),
)
_ANYONES: Final = frozenset(
    (
        "id", "name", "type", "kind", "time", "timestamp", "date", "source", "message", "content", "text", "role",
        "status", "input", "inputs", "output", "outputs", "data", "payload", "event", "events", "metadata", "error",
        "version",
    )
)  # fmt: skip
"""Names that tell nothing of who wrote a file."""
_PICKLE: Final = re.compile(rb"\x80[\x02-\x05]")
_HTML: Final = re.compile(rb"\s*<(?:!doctype\s+html|html)", re.IGNORECASE)
_XML: Final = re.compile(rb"\s*<(?:\?xml|[A-Za-z!])")
_PROMETHEUS: Final = re.compile(rb"# (?:HELP|TYPE) \w+")
_INI: Final = re.compile(rb"(?:\s*#[^\n]*\n)*\s*\[\[?[A-Za-z][\w. -]*\]\]?\s*\n")
_VALUE: Final = re.compile(rb'(?:-?[0-9.eE+-]+|true|false|null|"[^"\n]*")\s*')
_YAML: Final = re.compile(rb"(?:\s*#[^\n]*\n)*(?:---[^\n]*\n)?-? ?[A-Za-z_][\w.-]*:(?: [^\n]*)?\n")
_SAVED: Final = re.compile(rb'\s*\{\s*"schema"\s*:\s*"(abb\.[\w.-]+)"')


def looks_like(head: Head, file: BinaryIO, readers: Iterable[Reader]) -> str:
    """One clause on what a file that begins so looks like; `file` is asked for the members of an archive."""
    told, advice = _kind(head.data, head, file)
    parts = [told] if told else []
    near = _nearest(head, readers) if told.startswith(("a JSON", "JSON")) else None
    parts += [near] if near else []
    return "; ".join([*parts, *([advice] if advice else [])])


def _kind(data: bytes, head: Head, file: BinaryIO) -> tuple[str, str]:
    """What it looks like, and what to do about it."""
    if not data.strip():
        return ("empty" if not data else "white space alone"), ""
    for magic, told, advice in _MAGIC:
        if data.startswith(magic):
            return told, advice
    if data.startswith(b"PK\x03\x04"):
        return _archive(file), "unpack it, and give the folder"
    if data[257:262] == b"ustar":
        return "a tar archive", "unpack it, and give the folder"
    if _PICKLE.match(data):
        return "a Python pickle, which would have to be run to be read", "write it as JSON"
    saved = _SAVED.match(data)
    if saved is not None:
        return f"a file that otel2traj saved ({saved[1].decode()})", "it is no evidence: `show` and `export` take it"
    body = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if body[:1] in (b"{", b"[") and not _INI.match(body):
        return _json(body, head)
    if _text(data) is None:
        return "binary data", ""
    return _lines(body)


def _archive(file: BinaryIO) -> str:
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except Exception:  # whatever a broken archive raises, it is one
        return "a zip archive that is cut or broken"
    return f"a zip archive of {some_of(names, _SHOWN) or 'nothing'}"


def _json(body: bytes, head: Head) -> tuple[str, str]:
    listed = body[:1] == b"["
    names = [path[0] for path in _in_order(head) if len(path) == 1]
    several = not listed and re.search(rb"\}\s*\n\s*\{", body) is not None
    what = "a JSON list" if listed else "JSON objects one after another" if several else "a JSON object"
    if not names:
        return f"{what} without objects in it" if listed else f"{what} without members", ""
    if "choices" in names or {"candidates"} & set(names):
        return f"{what}: the body of a model API's response alone", "record request and response together, as HAR"
    if len(names) <= _FEW and {"error", "errors", "detail"} & set(names):
        return f"{what} with keys {some_of(names, _SHOWN)}: what a server answers when something is wrong", ""
    of = "of objects with keys" if listed else "with keys"
    return f"{what} {of} {some_of(names, _SHOWN)}", ""


def _in_order(head: Head) -> Iterator[Path]:
    """Paths of members as they stand in the file, each once."""
    yield from dict.fromkeys(head.listed())


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as err:
        if err.start < len(data) - 4:
            return None
        text = data[: err.start].decode("utf-8")
    return None if "\0" in text else text


def _lines(data: bytes) -> tuple[str, str]:
    if _VALUE.fullmatch(data):
        return "one JSON value that is no object", ""
    if _HTML.match(data):
        return "an HTML page, perhaps of a login or an error", "save what the address gives without a browser"
    if _XML.match(data):
        return "XML", ""
    if _PROMETHEUS.match(data):
        return "metrics in Prometheus' text format", "they tell of no step"
    table = _columns(_text(data) or "")
    if table:
        return f"a table with columns {some_of(table, _SHOWN)}", "write its rows as JSON"
    if _INI.match(data):
        return "a configuration file (TOML or INI)", ""
    if _YAML.match(data):
        return "YAML", "write it as JSON, if it holds spans or messages"
    first = (_text(data.split(b"\n", 1)[0]) or "").strip()
    return f"plain text that begins {first[:60]!r}", ""


def _columns(text: str) -> list[str]:
    """The names in the first line of a table: the line after it has as many cells."""
    lines = text.splitlines()[:2]
    for mark in (",", "\t", ";"):
        try:
            rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=mark))
        except csv.Error:
            continue
        if len(rows) == 2 and len(rows[0]) == len(rows[1]) > 1 and all(re.fullmatch(r"[\w .:-]+", c) for c in rows[0]):
            return rows[0]
    return []


class _Asked(Head):
    """A head that notes what a reader asks it for."""

    def __init__(self, head: Head) -> None:
        super().__init__(head.data, head.size)
        self._paths = head.paths
        self.asked: list[tuple[list[str], list[str]]] = []
        """(names that are there, names that are not) of each question."""

    def has(self, *names: str, under: Path = ()) -> bool:
        there = [name for name in names if (*under, name) in self.paths]
        missing = [".".join((*under, name)) for name in names if name not in there]
        self.asked.append((there, missing))
        return not missing


def _nearest(head: Head, readers: Iterable[Reader]) -> str | None:
    """The form of which most is there, at least half, and among it a name that is not everybody's."""
    best: tuple[float, int, str, list[str]] | None = None
    for reader in readers:
        asked = _Asked(head)
        reader.recognises(asked)
        for there, missing in asked.asked:
            score = (len(there) / max(len(there) + len(missing), 1), len(there))
            own = [name for name in there if name.rpartition(".")[2] not in _ANYONES]
            if own and missing and score[0] >= 0.5 and (best is None or score > best[:2]):
                best = (*score, reader.name, missing)
    return None if best is None else f"nearest form: {best[2]}, which also has {some_of(best[3], _SHOWN)}"
