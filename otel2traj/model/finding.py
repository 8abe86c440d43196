"""What an auditor returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of one rule. `pointer` is a JSON pointer into the audited document, or `path:line`."""

    rule: str
    message: str
    severity: Severity = Severity.ERROR
    pointer: str | None = None
