"""Tempo's API answers (`/api/traces/<id>` and its second version): OTLP under other names, with ids in base64.

https://github.com/grafana/tempo/blob/v2.8.0/pkg/tempopb/tempo.proto
"""

from __future__ import annotations

import re
from typing import Final

from ..model.evidence import Source
from .inflate import Stream
from .otlp_json import OtlpJson
from .outline import Head

_BEGIN: Final = re.compile(rb'\s*\{\s*"(?:batches|trace)"')


class Tempo:
    name = "tempo"
    writer = "Grafana Tempo"
    obtain = "`GET /api/traces/<id>`, `GET /api/v2/traces/<id>`"
    tried = "built from Tempo's API description"
    loses: str | None = None

    def recognises(self, head: Head) -> bool:
        if _BEGIN.match(head.data) is None:
            return False
        for under in ((), ("trace",)):
            if any(
                head.has(group, under=(*under, "batches"))
                for group in ("scopeSpans", "instrumentationLibrarySpans", "resource")
            ):
                return True
        return ("trace", "resourceSpans") in head.paths

    def open(self, source: Source, stream: Stream) -> OtlpJson:
        return OtlpJson(source, stream, self.name)


TEMPO = Tempo()
