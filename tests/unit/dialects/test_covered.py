"""A dialect that another covers adds nothing to spans without events and log records."""

from __future__ import annotations

from typing import Any

from otel2traj.dialects import DIALECTS, read
from otel2traj.dialects.kit import SpanDialect
from otel2traj.model.evidence import EvidenceRef, SpanEvent, SpanRecord

COVERED = [dialect for dialect in DIALECTS if isinstance(dialect, SpanDialect) and dialect.covered_by]


def test_what_covers_comes_first_and_reads_every_attribute() -> None:
    names = DIALECTS.names()
    assert COVERED
    for dialect in COVERED:
        cover = DIALECTS.get(dialect.covered_by)
        assert isinstance(cover, SpanDialect)
        assert names.index(cover.name) < names.index(dialect.name)
        assert dialect.fields.keys <= cover.fields.keys
        assert dialect.role_key == cover.role_key
        assert dialect.roles == cover.roles
        for field, paths in dialect.fields.fields.items():
            assert set(paths) <= set(cover.fields.fields[field]), field


def span(events: list[SpanEvent], **attributes: Any) -> SpanRecord:
    told = {key.replace("__", "."): value for key, value in attributes.items()}
    return SpanRecord("a" * 32, "b" * 16, None, "chat", told, EvidenceRef("x", 0, 1), events=events)


def test_events_are_still_read_where_the_attributes_are_covered() -> None:
    plain = {"gen_ai__operation__name": "chat", "gen_ai__system": "openai", "gen_ai__response__id": "r"}
    event = SpanEvent("gen_ai.user.message", None, {"gen_ai.event.content": '{"content": "hello"}'})
    bare, told = read(span([], **plain)), read(span([event], **plain))
    assert (bare.response_id, bare.messages) == ("r", None)
    assert told.messages is not None
    assert told.messages[0].to_json()["parts"] == [{"type": "text", "content": "hello"}]
    assert told.said_by["messages"] == "otel_genai_events_1_28_1_36:event"
