"""OTLP of one recording: accepted into a log, and at the end laid out as the attempt's own files."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Final

from ..capture.asgi import App
from ..capture.inflate import inflate
from ..capture.intake import Intake
from ..capture.layout import FILES
from ..capture.segments import MAX_BODY, Record, Signal, read_from, segment_files
from ..capture.split import split
from ..capture.spool import Spool
from .secrets import Masker

LOG: Final = "otlp-log"


class OtlpLog:
    """What arrives here belongs to this run, whatever attempt or conversation it names."""

    def __init__(self, root: Path) -> None:
        self._folder = root / LOG
        self._spool = Spool(self._folder, sync=False, min_free=0)
        self.intake = Intake(self._spool)
        self.app = App(self.intake)

    @property
    def refused(self) -> int:
        """Bodies that could not be stored."""
        return self._spool.refused

    def lay_out(self, target: Path, masker: Masker) -> dict[str, int]:
        """Write `otel*.jsonl` below `target` and remove the log; items by signal. A body that cannot be read is kept,
        masked, as `otlp-unreadable-N.bin`. Raises `OSError`; the log is then still there."""
        self._spool.close()
        counts: dict[str, int] = {}
        seen: set[bytes] = set()
        for path in segment_files(self._folder):
            with path.open("rb") as file:
                for record in read_from(file, 0):
                    if not isinstance(record, Record) or record.signal is Signal.END:
                        continue
                    plain = record.body
                    try:
                        plain = inflate(record.encoding.name.lower(), record.body, MAX_BODY)
                        pieces = split(record.signal, record.content, plain).pieces
                    except Exception:
                        number = counts["unreadable"] = counts.get("unreadable", 0) + 1
                        (target / f"otlp-unreadable-{number}.bin").write_bytes(masker.data(plain))
                        continue
                    digest = hashlib.sha256(bytes((record.signal, record.content)) + plain).digest()
                    if digest in seen:
                        continue
                    seen.add(digest)
                    name = record.signal.name.lower()
                    counts[name] = counts.get(name, 0) + sum(piece.items for piece in pieces)
                    with (target / FILES[record.signal]).open("ab") as out:
                        for piece in pieces:
                            out.write(masker.data(piece.line))
        if self._folder.exists():
            shutil.rmtree(self._folder)
        return counts
