"""The case of an attempt into the fixtures that its AER declares."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ..canonical import JsonObject, loads_tolerant
from ..errors import EvidenceError
from ..readers.attempt import safe_join

CASES: Final = ("case.json", "evaluation/case.json")
_MAX_CASE: Final = 16 << 20
_DECLARES: Final = ("injections", "injection", "attacks")


def fixtures(path: Path) -> list[JsonObject]:
    """The case of an attempt directory, with the injections it declares; an unreadable one declares nothing."""
    for name in CASES if path.is_dir() else ():
        try:
            file = safe_join(path, name)
            if file is None or file.stat().st_size > _MAX_CASE:
                continue
            case, _ = loads_tolerant(file.read_bytes())
        except (EvidenceError, OSError, ValueError):
            continue
        known = case if isinstance(case, dict) else {}
        declares = next((known[key] for key in _DECLARES if known.get(key) is not None), None)
        return [{"role": "case", "path": name, "declares": declares}]
    return []
