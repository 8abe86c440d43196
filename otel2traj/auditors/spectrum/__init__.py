"""Many runs of one task, with verdicts, to the elements that go with failure."""

from .elements import Element, ElementKind, ElementSink, RunElements
from .rank import Ranked, Spectrum, rank

__all__ = ["Element", "ElementKind", "ElementSink", "Ranked", "RunElements", "Spectrum", "rank"]
