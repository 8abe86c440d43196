"""The table of answers holds what the specification says about trying again."""

from __future__ import annotations

import json

import pytest
from google.rpc import status_pb2

from otel2traj.capture.outcome import Outcome, Refusal, error_body
from otel2traj.capture.segments import Content


@pytest.mark.parametrize("outcome", list(Outcome))
def test_only_retryable_statuses_ask_to_try_again(outcome: Outcome) -> None:
    assert outcome.value.retry == (outcome.value.http in (429, 502, 503, 504))
    refusal = Refusal(outcome, "why", retry_after=7)
    assert (refusal.retry_after is not None) == outcome.value.retry


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
def test_both_encodings_say_the_same(outcome: Outcome) -> None:
    refusal = Refusal(outcome, "why <é>", retry_after=7)
    message = status_pb2.Status.FromString(error_body(Content.PROTOBUF, refusal))
    text = json.loads(error_body(Content.JSON, refusal))
    assert (message.code, message.message) == (text["code"], text["message"]) == (outcome.value.rpc, "why <é>")
    assert [d.type_url for d in message.details] == [d["@type"] for d in text.get("details", ())]


def test_a_long_message_is_cut() -> None:
    assert len(error_body(Content.JSON, Refusal(Outcome.BAD_BODY, "x" * 10_000))) < 5_000
