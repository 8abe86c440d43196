"""What a writer is: a file format that a trajectory can be written as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO, Protocol, runtime_checkable

from ..model.trajectory import StepSink


class Writer(Protocol):
    """One output format. `losses` lists what the format cannot hold; it is printed in the reference page."""

    @property
    def name(self) -> str: ...

    @property
    def suffix(self) -> str:
        """File name suffix with its dot, e.g. `.jsonl`."""
        ...

    @property
    def losses(self) -> tuple[str, ...]: ...

    def sink(self, out: BinaryIO) -> StepSink:
        """A sink that writes one trajectory to `out`, which the caller opens and closes."""
        ...


@dataclass(frozen=True, slots=True)
class Reject:
    """A step that a format could not take, and why: `reason` is one of the format's documented words."""

    step_id: int
    reason: str
    detail: str


@runtime_checkable
class Rejecting(Protocol):
    """A sink that leaves steps out; the list is complete after `end`."""

    def rejects(self) -> list[Reject]: ...
