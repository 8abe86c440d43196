"""The frames of OTLP JSON documents as typed shapes: everything but what stands inside a record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Raw, Struct

NULL: Final = Raw(b"null")


class Scope(Struct, gc=False):
    scope: Raw = NULL
    instrumentationLibrary: Raw = NULL
    spans: list[Raw] | None = None
    logRecords: list[Raw] | None = None
    logs: list[Raw] | None = None

    def library(self) -> Raw:
        return self.scope if self.scope is not NULL else self.instrumentationLibrary


class Resource(Struct, gc=False):
    resource: Raw = NULL
    scopeSpans: list[Scope] | None = None
    instrumentationLibrarySpans: list[Scope] | None = None
    scopeLogs: list[Scope] | None = None
    instrumentationLibraryLogs: list[Scope] | None = None


class Document(Resource, gc=False):
    resourceSpans: list[Resource] | None = None
    resourceLogs: list[Resource] | None = None
    resourceMetrics: list[Raw] | None = None

    def resources(self) -> list[Resource]:
        if self.resourceSpans is None and self.resourceLogs is None:
            return [self]
        return [*(self.resourceSpans or ()), *(self.resourceLogs or ())]

    def known(self) -> bool:
        return (
            self.resourceSpans is not None
            or self.resourceLogs is not None
            or self.resourceMetrics is not None
            or self.scopeSpans is not None
            or self.scopeLogs is not None
            or self.instrumentationLibrarySpans is not None
            or self.instrumentationLibraryLogs is not None
        )


decode_document = msgspec.json.Decoder(Document).decode


def groups_of(resource: Resource) -> Iterator[tuple[Scope, list[Raw], bool]]:
    for group in (*(resource.scopeSpans or ()), *(resource.instrumentationLibrarySpans or ())):
        if group.spans:
            yield group, group.spans, False
    for group in (*(resource.scopeLogs or ()), *(resource.instrumentationLibraryLogs or ())):
        if group.logRecords or group.logs:
            yield group, group.logRecords or group.logs or [], True
