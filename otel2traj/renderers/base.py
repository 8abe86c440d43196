"""What a renderer is: a way to show a trajectory to people."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import BinaryIO, Protocol

from ..model.trajectory import StepSink
from .select import Selection


class Mode(StrEnum):
    """How much of a request is shown; the stored file is never touched."""

    FULL = "full"
    TRUNCATE_MIDDLE = "truncate_middle"
    RESPONSE_ONLY = "response_only"


class Part(StrEnum):
    """What of a run is shown: its head says how it ended and what went wrong."""

    ALL = "all"
    HEAD = "head"
    STEPS = "steps"


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """`width` is in columns and only used when `wrap` is on; `budget` is in characters, or in estimated tokens (four
    bytes of UTF-8 each) with `budget_in_tokens`."""

    mode: Mode = Mode.FULL
    part: Part = Part.ALL
    colour: bool = False
    width: int = 100
    wrap: bool = False
    fold: bool = True
    inference: bool = True
    sources: bool = False
    """Whether the files that were read are listed, with their digests."""
    selection: Selection = field(default_factory=Selection)
    budget: int | None = None
    budget_in_tokens: bool = False


class Renderer(Protocol):
    @property
    def name(self) -> str: ...

    def sink(self, out: BinaryIO, options: RenderOptions) -> StepSink: ...
