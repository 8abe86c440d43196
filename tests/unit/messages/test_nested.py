"""JSON in JSON in JSON, cut and whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj.messages.nested import (
    at,
    decode,
    decode_arguments,
    decode_repr,
    ident,
    recover,
    repr_fields,
)

DOCUMENT = [
    {"role": "user", "parts": [{"type": "text", "content": 'He said "hi\\" {[' * 3}]},
    {"n": [1, 2, {"a": None}]},
]


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_three_layers_are_decoded(layers: int) -> None:
    text = json.dumps(DOCUMENT)
    for _ in range(layers - 1):
        text = json.dumps(text)
    assert decode(text) == (DOCUMENT, False)


def test_a_fourth_layer_is_not() -> None:
    text = json.dumps(json.dumps(json.dumps(json.dumps(DOCUMENT))))
    assert isinstance(decode(text).value, str)


def test_text_that_only_looks_like_json_stays_text() -> None:
    for text in ("[INFO] started", "{hello}", '"quoted"', "[1] see below", "42", "true", "null", '{"a": 1} and more'):
        assert decode(text) == (text, False), text


def test_a_quoted_string_is_unwrapped_only_for_those_known_to_quote() -> None:
    assert decode('"alpha\\n"', quoted=True).value == "alpha\n"
    assert decode('"alpha\\n"').value == '"alpha\\n"'


@given(st.integers(1, len(json.dumps(DOCUMENT)) - 1))
def test_every_cut_gives_whole_leading_elements_or_nothing(length: int) -> None:
    value, cut = decode(json.dumps(DOCUMENT)[:length])
    if cut:
        assert isinstance(value, list)
        assert len(value) <= len(DOCUMENT)
        for found, whole in zip(value[:-1], DOCUMENT, strict=False):
            assert found == whole


def test_a_cut_string_is_dropped_with_its_key() -> None:
    assert recover('{"a": 1, "b": "cut of') == {"a": 1}
    assert recover('[{"id": "c1", "args": {"x": 1}}, {"id": "c2", "ar') == [
        {"id": "c1", "args": {"x": 1}},
        {"id": "c2"},
    ]
    assert recover('{"a') is None


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='{}[]",:\\a1 \n', max_size=60))
def test_recovery_never_raises(text: str) -> None:
    recover(text)
    decode(text)
    decode_arguments(text)
    decode_repr(text)
    repr_fields(text)


def test_python_literals() -> None:
    assert decode_repr("{'city': 'Paris', 'days': 2, 'now': None}") == {"city": "Paris", "days": 2, "now": None}
    assert decode_repr("{'a': __import__('os')}") == "{'a': __import__('os')}"
    assert decode_repr("{'a': {1, 2}}") == "{'a': {1, 2}}"
    assert decode_repr("hello") == "hello"


def test_fields_of_a_repr() -> None:
    text = "status='success' result='it\\'s\\n' error=None n=3"
    assert repr_fields(text) == {"status": "success", "result": "it's\n", "error": "None", "n": "3"}
    assert repr_fields("plain text = no") is None


def test_words_for_no_id_are_no_ids() -> None:
    for word in ("", "  ", "<not specified>", "unknown", "None", "__fake_id__", None, 1.5, {}, True):
        assert ident(word) is None, word
    assert ident("0") == "0"
    assert ident(7) == "7"


def test_paths_go_through_text() -> None:
    assert at({"output": json.dumps({"kwargs": {"id": "c1"}})}, ("output", "kwargs", "id")) == "c1"
    assert at([{"a": 1}], ("0", "a")) == 1
    assert at([{"a": 1}], ("1", "a")) is None
    assert at("text", ("a",)) is None
