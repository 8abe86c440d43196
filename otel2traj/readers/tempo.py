"""Tempo's API answers (`/api/traces/<id>` and its second version): OTLP under other names, with ids in base64.

https://github.com/grafana/tempo/blob/v2.8.0/pkg/tempopb/tempo.proto
"""

from __future__ import annotations

from ..model.evidence import Source
from .inflate import Stream
from .otlp_json import OtlpJson
from .outline import Head


class Tempo:
    name = "tempo"

    def recognises(self, head: Head) -> bool:
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
