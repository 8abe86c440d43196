"""Representations of what client libraries answered: read where they are whole, and never a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.source import load
from otel2traj.messages.represented import is_represented, represented
from tests.attempt_factory import otlp, span

RESPONSE = (
    "Response(id='resp_1', created_at=1.0, error=None, model='m-1', object='response', output=[ResponseOutputMessage("
    "id='msg_1', content=[ResponseOutputText(annotations=[], text=\"It's 8 <b: 'x'>.\", type='output_text')],"
    " role='assistant', status='completed', type='message')])"
)
CALL = "[ResponseFunctionToolCall(arguments='{\"p\": 1}', call_id='call_1aZ', name='read', type='function_call')]"
CHAT = (
    "ChatCompletion(id='chatcmpl-1', choices=[Choice(finish_reason='stop', index=0, message=ChatCompletionMessage("
    "content='8', role='assistant', tool_calls=None))], created=1, model='m-1', object='chat.completion',"
    " usage=CompletionUsage(completion_tokens=1, prompt_tokens=2, total_tokens=3))"
)
GEMINI = (
    "GenerateContentResponse(candidates=[Candidate(content=Content(parts=[Part(text='8')], role='model'),"
    " finish_reason=<FinishReason.STOP: 'STOP'>)], model_version='m-1', response_id='g-1')"
)
MESSAGE = "AIMessage(content='8', additional_kwargs={}, id='run-1', tool_calls=[])"
GENERIC = "ParsedResponse[NoneType](id='resp_2', output=[])"


def test_fields_are_values() -> None:
    assert represented(RESPONSE) == {
        "id": "resp_1", "created_at": 1.0, "error": None, "model": "m-1", "object": "response",
        "output": [{
            "id": "msg_1", "role": "assistant", "status": "completed", "type": "message",
            "content": [{"annotations": [], "text": "It's 8 <b: 'x'>.", "type": "output_text"}],
        }],
    }  # fmt: skip
    found = represented(GEMINI)
    assert isinstance(found, dict)
    assert found["candidates"][0]["finish_reason"] == "STOP"
    assert represented(GENERIC) == {"id": "resp_2", "output": []}


@pytest.mark.parametrize("text", [
    "print(x=1)", "[get_weather(city='Paris')]", "final_answer(answer=8)", "Response (see above): 8", "Response(8)", "",
    "Message: hello", "<thinking>x</thinking>", "<a object at 0xzz>", '{"id": "resp_1"}',
])  # fmt: skip
def test_what_a_model_may_say_is_a_text(text: str) -> None:
    assert not is_represented(text)


def test_a_text_stands_as_it_was_written() -> None:
    for said in ("List[int](x)", "<b: 'x'>", 'a \\ "b"', "it's", "1e999"):
        found = represented(f"Response(a={said!r}, b=List[int](c=1), d=<E.F: 'f'>)")
        assert found == {"a": said, "b": {"c": 1}, "d": "f"}
    found = represented("Response(a=1e999, b=-1e999, c=-2, d=True)")
    assert found == {"a": "1e309", "b": "-1e309", "c": -2, "d": True}


ESCAPED = "\\'" * 100_000


@pytest.mark.parametrize("text", [
    RESPONSE[:-40], "Response(" * 3000 + "a=1", f"Response(a='{'x' * (1 << 18)}')", f"Response(a='{ESCAPED}",
    f"Response(a='{ESCAPED}\\", f"Response(a={'A[' * 100_000}", f"Response(a={'<A' * 100_000}",
])  # fmt: skip
def test_a_cut_or_endless_one_is_no_text_and_not_read(text: str) -> None:
    assert represented(text) is None


CARRIERS: dict[str, tuple[str, dict[str, Any]]] = {
    "openinference": (
        "openinference.instrumentation.openai",
        {"openinference.span.kind": "LLM", "llm.model_name": "m-1", "llm.token_count.prompt": 3},
    ),
    "traceloop": ("opentelemetry.instrumentation.openai", {"gen_ai.operation.name": "chat"}),
}
KEYS = {"openinference": "output.value", "traceloop": "gen_ai.completion.0.content"}


@pytest.mark.parametrize("carrier", list(CARRIERS))
@pytest.mark.parametrize(("text", "answer", "calls", "rest"), [
    (RESPONSE, "It's 8 <b: 'x'>.", [], False), (CALL, None, ["call_1aZ"], False), (CHAT, "8", [], False),
    (GEMINI, "8", [], False), (MESSAGE, "8", [], False),
    (RESPONSE[:-40], None, [], True), ("<openai.Stream object at 0x7f00>", None, [], True),
    ("<async_generator object AzureOpenAI.create at 0x7f2b>", None, [], True),
])  # fmt: skip
def test_the_answer_is_what_the_object_says(
    tmp_path: Path, carrier: str, text: str, answer: str | None, calls: list[str], rest: bool
) -> None:
    scope, attributes = CARRIERS[carrier]
    (tmp_path / "t.jsonl").write_bytes(otlp([span("5be1f0a2c4d69701", 1, {**attributes, KEYS[carrier]: text})], scope))
    (step,) = load(tmp_path / "t.jsonl").steps
    assert step.output["text"] == answer
    assert [call["id"] for call in step.output["tool_calls"]] == calls
    assert (step.output.get("other_parts") == [{"type": "representation", "value": text}]) == rest


@pytest.mark.parametrize(("content", "text", "reasoning"), [
    ([{"id": "call_1aZ", "arguments": '{"p": 1}', "name": "read"}], "I look first.", None),
    ("There are 8.", "There are 8.", "I look first."),
])  # fmt: skip
def test_an_autogen_thought(tmp_path: Path, content: Any, text: str, reasoning: str | None) -> None:
    result = {"finish_reason": "stop", "content": content, "usage": {}, "cached": False, "thought": "I look first."}
    attributes: dict[str, Any] = {"openinference.span.kind": "LLM", "output.value": json.dumps(result)}
    if reasoning is None:
        call = "llm.output_messages.0.message.tool_calls.0.tool_call."
        attributes |= {f"{call}id": "call_1aZ", f"{call}function.name": "read"}
    else:
        attributes["llm.output_messages.0.message.content"] = text
    scope = "openinference.instrumentation.autogen_agentchat"
    (tmp_path / "t.jsonl").write_bytes(otlp([span("5be1f0a2c4d69701", 1, attributes)], scope))
    (step,) = load(tmp_path / "t.jsonl").steps
    assert (step.output["text"], step.output["reasoning"]) == (text, reasoning)
    assert len(step.output["tool_calls"]) == (1 if reasoning is None else 0)
