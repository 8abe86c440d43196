"""What stands where in an output directory of the receiver."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from .segments import Signal, segment_files

LOG: Final = "log"
ATTEMPTS: Final = "attempts"
UNROUTED: Final = "unrouted"
STATE: Final = "state.sqlite"
REPAIRS: Final = "repairs.jsonl"
FILES: Final = {Signal.TRACES: "otel.jsonl", Signal.LOGS: "otel-logs.jsonl", Signal.METRICS: "otel-metrics.jsonl"}


def set_aside(root: Path) -> None:
    """Clear the way for deriving everything again.

    What was derived is removed where the log still holds every segment; where old ones are gone it is the only
    copy of what they held, and moves to `set-aside-N/`.
    """
    segments = segment_files(root / LOG)
    whole = not segments or int(segments[0].stem) == 1
    aside = root / f"set-aside-{sum(1 for _ in root.glob('set-aside-*')) + 1}"
    for name in (ATTEMPTS, UNROUTED):
        folder = root / name
        if not whole and folder.is_dir():
            aside.mkdir(mode=0o700, exist_ok=True)
            folder.rename(aside / name)
        for file in FILES.values() if whole else ():
            for path in [folder / file, *folder.glob(f"*/{file}")]:
                path.unlink(missing_ok=True)
    for suffix in ("-wal", "-shm"):
        (root / f"{STATE}{suffix}").unlink(missing_ok=True)
    with contextlib.suppress(FileNotFoundError):
        (root / STATE).replace(root / f"{STATE}.set-aside")
    (root / REPAIRS).unlink(missing_ok=True)
