"""The address of a record into its bytes: for programs that use this package."""

from __future__ import annotations

from ..readers.record_bytes import RecordBytes

__all__ = ["RecordBytes"]
