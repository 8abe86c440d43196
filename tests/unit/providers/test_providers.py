"""Every provider against its recorded bodies, and against shapes nobody sends."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj.canonical import dumps_pretty, loads, sha256_canonical
from otel2traj.providers import PROVIDERS, model_in_path, provider_for
from otel2traj.providers.sse import frames

ROOT = Path(__file__).parents[3] / "fixtures" / "providers"
CASES = sorted(path.parent for path in ROOT.glob("*/*/request.json"))
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
    "openai-completions": "/v1/completions",
    "bedrock-converse": "/model/some.model-v1%3A0/converse-stream",
    "ollama": "/api/chat",
    "cohere": "/v2/chat",
    "bedrock-invoke": "/model/amazon.titan-text-express-v1/invoke",
    "tgi": "/generate_stream",
    "generic": "/predict",
}


def load(path: Path) -> Any:
    return loads(path.read_bytes())


def told(name: str, request: Any, response: Any) -> dict[str, Any]:
    provider = PROVIDERS.get(name)
    sent, got = provider.request(request), provider.response(response)
    output = got.output
    glance, answer = provider.glance_request(request), provider.glance_response(response)
    assert (answer.response_id, answer.model, answer.tool_calls) == (got.response_id, output.model, output.tool_calls)
    return {
        "request": {
            "model": sent.model,
            "system": sent.system,
            "messages": None if sent.messages is None else len(sent.messages),
            "tools": None if sent.tools is None else len(sent.tools),
            "parameters": sent.parameters,
            "reported": [list(item) for item in glance.reported],
            "emitted_history": glance.emitted_history,
        },
        "response": {
            "response_id": got.response_id,
            "model": output.model,
            "complete": got.complete,
            "error": got.error,
            "text": output.text,
            "reasoning": output.reasoning,
            "refusal": output.refusal,
            "tool_calls": [call.to_json() for call in output.tool_calls],
            "finish_reason": output.finish_reason,
            "usage": None if output.usage is None else output.usage.to_json(),
            "choices": output.choices,
            "other_parts": output.other_parts,
            "extra": output.extra,
        },
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_recorded_bodies(case: Path, golden: Callable[[Path, bytes], None]) -> None:
    request, response = load(case / "request.json"), load(case / "response.json")
    before = copy.deepcopy((request, response))
    name = case.parent.name
    golden(case / "expected.json", dumps_pretty(told(name, request, response)) + b"\n")
    assert (request, response) == before, "a payload is evidence and is never changed"
    chosen = provider_for(PATHS[name], request, response)
    assert chosen is not None
    assert chosen.name == name


def test_every_provider_has_a_case() -> None:
    assert {case.parent.name for case in CASES} == set(PROVIDERS.names())


def test_messages_stay_as_they_were_sent() -> None:
    for case in CASES:
        request = load(case / "request.json")
        sent = PROVIDERS.get(case.parent.name).request(request)
        for key in ("messages", "contents"):
            inner = request.get("request", request)
            if key in inner:
                assert sent.messages == inner[key]


@pytest.mark.parametrize(
    ("path", "response", "name"),
    [
        ("/v1/messages", {"object": "chat.completion", "choices": [{"message": {}}]}, "openai-chat"),
        ("/v1/messages", {"error": {"message": "no"}}, "anthropic"),
        ("/v1/projects/p/locations/l/publishers/anthropic/models/c:streamRawPredict", None, "anthropic"),
        ("/v1/projects/p/locations/l/publishers/google/models/g:generateContent", None, "gemini"),
        ("/openai/deployments/d/chat/completions?api-version=1", None, "openai-chat"),
        ("/model/x/invoke", {"type": "message", "content": []}, "anthropic"),
        ("/v1/threads/t/messages", None, None),
        ("/v1/embeddings", {"object": "list", "data": []}, "generic"),
    ],
)
def test_choice_of_provider(path: str, response: Any, name: str | None) -> None:
    chosen = provider_for(path, None, response)
    assert (None if chosen is None else chosen.name) == name


def test_a_request_alone_can_tell() -> None:
    def name(request: Any) -> str | None:
        chosen = provider_for("", request, None)
        return None if chosen is None else chosen.name

    messages = [{"role": "user", "content": "x"}]
    assert name({"messages": messages}) == "openai-chat"
    assert name({"messages": messages, "system": "s"}) == "anthropic"
    assert name({"messages": messages, "system": [], "inferenceConfig": {}}) == "bedrock-converse"
    assert name({"contents": []}) == "gemini"
    assert name({"input": "x", "instructions": "y"}) == "openai-responses"
    assert name({"input": "x", "model": "embedder"}) == "generic"


def test_model_in_path() -> None:
    assert model_in_path("/v1beta/models/gemini-2.5-flash:generateContent") == "gemini-2.5-flash"
    assert model_in_path("/v1/chat/completions") is None


def test_reported_result_is_the_text_in_a_lone_block() -> None:
    provider = PROVIDERS.get("anthropic")

    def digest(content: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": "t", "content": content}
        return provider.glance_request({"messages": [{"role": "user", "content": [block]}]}).reported[0][1]

    assert digest("ok") == digest([{"type": "text", "text": "ok"}]) == sha256_canonical("ok")
    assert digest([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]) != sha256_canonical("ab")


def test_zero_tokens_are_an_answer_and_absence_is_none() -> None:
    provider = PROVIDERS.get("openai-chat")
    body: dict[str, Any] = {"choices": [{"message": {"content": ""}}], "usage": {"prompt_tokens": 0}}
    output = provider.response(body).output
    assert output.text == ""
    assert output.usage is not None
    assert (output.usage.input_tokens, output.usage.output_tokens) == (0, None)
    del body["usage"]
    assert provider.response(body).output.usage is None


def test_frames_of_raw_text() -> None:
    assert frames({"text": 'event: x\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: {cut'}) == [{"a": 1}, "{cut"]
    assert frames({"text": "<html>no</html>"}) is None
    assert frames({"events": [{"a": 1}, "[DONE]"]}) == [{"a": 1}]


_KEYS = (
    "events type index id delta choices message content text role tool_calls function name arguments response output "
    "item output_index candidates parts thought functionCall args usage usageMetadata error error stopReason "
    "contentBlockDelta toolUse input messages contents system tools finish_reason reasoning_content refusal custom "
    "prompt_tokens input_tokens content_block partial_json thinking summary call_id status model data"
)
KEYS = st.sampled_from(_KEYS.split())
_WORDS = (
    "text tool_use thinking message reasoning function_call response.output_text.delta response.completed "
    "message_start content_block_start content_block_delta message_delta input_json_delta text_delta error "
    "response.output_item.done "
    "response.function_call_arguments.delta data: tool"
)
WORDS = st.sampled_from(_WORDS.split())
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
    | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
BODY = JSON | st.dictionaries(
    st.just("events"), st.lists(st.dictionaries(KEYS, JSON, max_size=5), max_size=6), min_size=1
)


@given(payload=BODY, path=st.sampled_from(sorted(PATHS.values())))
@settings(max_examples=400, deadline=None)
def test_no_shape_raises(payload: Any, path: str) -> None:
    before = copy.deepcopy(payload)
    provider_for(path, payload, payload)
    for name in PROVIDERS.names():
        told_of = PROVIDERS.get(name)
        told_of.request(payload)
        told_of.response(payload)
        told_of.glance_request(payload)
        told_of.glance_response(payload)
    assert payload == before


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_stream_cut_anywhere_is_read_and_told(data: st.DataObject) -> None:
    streamed = [case for case in CASES if "events" in load(case / "response.json")]
    case = data.draw(st.sampled_from(streamed))
    events = load(case / "response.json")["events"]
    kept = events[: data.draw(st.integers(0, len(events) - 1))]
    got = PROVIDERS.get(case.parent.name).response({"events": kept})
    whole = PROVIDERS.get(case.parent.name).response({"events": events})
    if whole.complete and got.complete:
        assert got.output.text == whole.output.text
        assert got.output.tool_calls == whole.output.tool_calls
    if got.output.text is not None and whole.output.text is not None:
        assert whole.output.text.startswith(got.output.text)
