"""A value of protobuf that this version of OTLP does not know."""

from __future__ import annotations

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from otel2traj.anyvalue import OddAttributes
from otel2traj.readers.proto_values import ProtoAttributes, decode_any


def test_a_value_of_no_known_kind_is_its_bytes_and_is_told() -> None:
    value, odd = AnyValue.FromString(b"\x7a\x01a"), list[str]()  # field 15
    assert decode_any(value, odd) == {"base64": "egFh"}
    assert odd == ["value"]
    attributes = ProtoAttributes([KeyValue(key="known", value=AnyValue(int_value=1)), KeyValue(key="odd", value=value)])
    assert attributes["odd"] == {"base64": "egFh"}
    told = attributes.plain()
    assert isinstance(told, OddAttributes)
    assert list(told.odd) == ["odd"]
    assert told["known"] == 1
