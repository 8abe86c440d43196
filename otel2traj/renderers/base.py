"""What a renderer is: a way to show a trajectory to people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import BinaryIO, Protocol

from ..model.trajectory import StepSink


class Mode(StrEnum):
    """How much of a request is shown; the stored file is never touched."""

    FULL = "full"
    TRUNCATE_MIDDLE = "truncate_middle"
    RESPONSE_ONLY = "response_only"


@dataclass(frozen=True, slots=True)
class RenderOptions:
    mode: Mode = Mode.FULL
    colour: bool = False
    width: int = 100


class Renderer(Protocol):
    @property
    def name(self) -> str: ...

    def sink(self, out: BinaryIO, options: RenderOptions) -> StepSink: ...
