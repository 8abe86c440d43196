"""How much an archive may hold and become before it is refused."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one archive, all in inflated bytes. What goes beyond is registered with its reason, never read."""

    members: int = 100_000
    member_bytes: int = 256 << 20
    total_bytes: int = 1 << 30
