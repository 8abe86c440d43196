"""What a writer is: a file format that a trajectory can be written as."""

from __future__ import annotations

from typing import BinaryIO, Protocol

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
