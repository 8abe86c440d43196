"""What JavaScript's `ConsoleSpanExporter` prints is told apart, to be refused: no JSON, nested values lost."""

from __future__ import annotations

import re
from typing import Final

from ..errors import EvidenceError
from ..model.evidence import Source
from .base import RecordFile
from .inflate import Stream
from .outline import Head

_SIGNS: Final = re.compile(rb"^\s*(?:traceId|parentSpanContext|instrumentationScope): ['{u]", re.MULTILINE)


class JsConsole:
    name = "js-console"
    writer = "JavaScript SDK"
    obtain = "`ConsoleSpanExporter`; export OTLP instead"
    tried = "JavaScript SDK 2.12"
    loses = "nested values; it is refused"

    def recognises(self, head: Head) -> bool:
        return _SIGNS.search(head.data) is not None

    def open(self, source: Source, stream: Stream) -> RecordFile:
        raise EvidenceError(
            f"{source.path} is the output of JavaScript's ConsoleSpanExporter, which leaves out nested values",
            hint="export OTLP instead: OTEL_TRACES_EXPORTER=otlp to a receiver, or a Collector's file exporter",
            code="evidence.lossy_form",
        )


JS_CONSOLE = JsConsole()
