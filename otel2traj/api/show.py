"""A trajectory, or the evidence it is built from, onto a stream that people read."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from ..model.trajectory import Summary
from ..renderers import RENDERERS
from ..renderers.base import RenderOptions
from ..renderers.select import Taken


def show(
    path: Path,
    out: BinaryIO,
    *,
    form: str = "text",
    options: RenderOptions | None = None,
    conversation: str | None = None,
) -> Summary:
    """Render an attempt directory, a trace file or a saved trajectory to `out`; nothing stored is touched.

    `form` is a name of `RENDERERS`. Raises `UsageError` for a name or an option that makes no sense, `EvidenceError`
    where nothing can be read.
    """
    from .source import drive

    chosen = options if options is not None else RenderOptions()
    taken = Taken(chosen.selection)
    sink = RENDERERS.get(form).sink(out, chosen)
    return drive(path, taken, sink, inference=chosen.inference, conversation=conversation)
