"""Gemini generateContent, on the Gemini API, on Vertex AI and behind Code Assist: bodies and streams to exchanges.

https://ai.google.dev/api/generate-content (v1beta: `GenerateContentRequest`, `GenerateContentResponse`).
"""

from __future__ import annotations

import re

from ..canonical import JsonObject, JsonValue
from ..messages import Output, ToolCall, Usage, put_choices
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .rest import Taken, broken, carry, keep
from .shape import (
    Pieces,
    content_digest,
    count,
    glance_of,
    joined,
    obj,
    objs,
    place,
    split_request,
    string,
    total,
    unread,
    usage_with_raw,
)
from .sse import frames, objects

_METHODS = (":generateContent", ":streamGenerateContent")
_MODEL = re.compile(r"/models/([^/:]+):")


def model_in_path(path: str) -> str | None:
    """The model that the request path names; the body does not say it in this API."""
    found = _MODEL.search(path)
    return found.group(1) if found is not None else None


class Gemini:
    name = "gemini"

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        return path.endswith(_METHODS) or is_response(response) or is_request(request)

    def request(self, payload: JsonValue) -> ModelRequest:
        body, outer = _inner(payload, "request")
        system = next((key for key in ("systemInstruction", "system_instruction") if key in body), None)
        out = split_request(body, "contents", system=system)
        if isinstance(body.get("contents"), (str, dict)):
            only = body["contents"]
            del out.parameters["contents"]
            out.messages = [{"role": "user", "parts": [{"text": only}]} if isinstance(only, str) else only]
        if out.model is None:
            out.model = string(outer.get("model"))
        if outer is not body:
            beside = {key: value for key, value in outer.items() if key != "request" and value != out.model}
            out.parameters = {**beside, **out.parameters}
        return out

    def response(self, payload: JsonValue) -> ModelResponse:
        events = frames(payload)
        if events is None:
            return _read(_one(payload), payload, complete=True)
        merged = merge([_one(event) for event in objects(events)])
        keep(merged, broken(events))
        candidates = objs(merged.get("candidates"))
        ended = bool(candidates) and all(item.get("finishReason") is not None for item in candidates)
        ended = ended or "promptFeedback" in merged
        return _read(merged, payload, complete=ended and not isinstance(events[-1], str))

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        body, outer = _inner(payload, "request")
        model = string(body.get("model"))
        out = RequestGlance(model=model if model is not None else string(outer.get("model")))
        for content in objs(body.get("contents")):
            for part in objs(content.get("parts")):
                reply = obj(_either(part, "functionResponse", "function_response"))
                call = obj(_either(part, "functionCall", "function_call"))
                if isinstance(reply.get("id"), str):
                    out.reported.append((reply["id"], content_digest(reply.get("response"))))
                if isinstance(call.get("id"), str):
                    out.emitted_history.append(call["id"])
        return out

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return glance_of(self.response(payload))


def is_request(payload: JsonValue) -> bool:
    body, _ = _inner(payload, "request")
    return isinstance(body.get("contents"), list) and "messages" not in body


def is_response(payload: JsonValue) -> bool:
    events = frames(payload)
    for event in objects(events)[:8] if events is not None else [obj(payload)]:
        body, _ = _inner(event, "response")
        if isinstance(body.get("candidates"), list) or "usageMetadata" in body:
            return True
    return False


def _inner(payload: JsonValue, key: str) -> tuple[JsonObject, JsonObject]:
    """Code Assist wraps both bodies once: `{"model", "project", "request": {...}}` and `{"response": {...}}`."""
    outer = obj(payload)
    inside = outer.get(key)
    wrapped = isinstance(inside, dict) and any(
        name in inside for name in ("contents", "candidates", "usageMetadata", "promptFeedback")
    )
    return (obj(inside), outer) if wrapped else (outer, outer)


def _one(payload: JsonValue) -> JsonObject:
    """The response with what its wrapper holds beside it."""
    body, outer = _inner(payload, "response")
    return body if outer is body else {**{key: outer[key] for key in outer if key != "response"}, **body}


def _either(part: JsonObject, camel: str, snake: str) -> JsonValue:
    value: JsonValue = part.get(camel)
    return value if value is not None else part.get(snake)


def usage_of(raw: JsonValue) -> Usage | None:
    """The prompt count includes cached tokens. Results of hosted tools that the model was given are counted apart from
    the prompt, and thoughts apart from candidates, so both are added."""
    body = obj(raw)
    thoughts = count(body.get("thoughtsTokenCount"))
    return usage_with_raw(
        raw,
        Usage(
            input_tokens=total(count(body.get("promptTokenCount")), count(body.get("toolUsePromptTokenCount"))),
            output_tokens=total(count(body.get("candidatesTokenCount")), thoughts),
            cache_read_input_tokens=count(body.get("cachedContentTokenCount")),
            reasoning_output_tokens=thoughts,
        ),
    )


def merge(chunks: list[JsonObject]) -> JsonObject:
    """One response from its chunks: parts in order by candidate, neighbouring texts of one kind joined."""
    out: JsonObject = {}
    candidates: dict[int | str, JsonObject] = {}
    for chunk in chunks:
        for key, value in chunk.items():
            if key == "usageMetadata" and isinstance(value, dict):
                out[key] = {**obj(out.get(key)), **value}
        carry(out, chunk, "candidates", *(["usageMetadata"] if "usageMetadata" in out else []), grow=False)
        for n, piece in enumerate(objs(chunk.get("candidates"))):
            index = place(piece.get("index"))
            held = candidates.setdefault(n if index is None else index, {"index": n if index is None else index})
            for key, value in piece.items():
                if key == "content":
                    content = held.setdefault("content", {"parts": []})
                    carry(content, obj(value), "parts")
                    for part in objs(obj(value).get("parts")):
                        _add(content["parts"], part)
            carry(held, piece, "content", "index", grow=False)
    if candidates:
        out["candidates"] = list(candidates.values())
    for candidate in candidates.values():
        for part in objs(obj(candidate.get("content")).get("parts")):
            if isinstance(part.get("text"), Pieces):
                part["text"] = part["text"].text()
    return out


def _add(parts: list[JsonObject], part: JsonObject) -> None:
    text = part.get("text")
    if not isinstance(text, str):
        parts.append(part)
        return
    last = parts[-1] if parts else {}
    rest = {key: value for key, value in part.items() if key != "text"}
    if isinstance(last.get("text"), Pieces) and bool(last.get("thought")) == bool(part.get("thought")):
        last["text"].append(text)
        carry(last, rest)
    else:
        parts.append({"text": Pieces([text]), **rest})


def _read(body: JsonObject, payload: JsonValue, *, complete: bool) -> ModelResponse:
    taken = Taken()
    error = taken.error(body)
    if error is None and not any(key in body for key in ("candidates", "promptFeedback", "usageMetadata")):
        return unread(payload)
    usage = usage_of(taken.value(body, "usageMetadata"))
    output = Output(model=taken.string(body, "modelVersion"), usage=usage)
    candidates = taken.choices(objs(body.get("candidates")), lambda candidate: _candidate(candidate, taken))
    put_choices(output, candidates)
    feedback = body.get("promptFeedback")
    if not candidates and isinstance(feedback, dict):
        output.finish_reason = string(feedback.get("blockReason"))
        output.other_parts.append({"promptFeedback": taken.value(body, "promptFeedback")})
    response_id = taken.id(body, "responseId")
    output.extra, output.repeated_keys = taken.rest(body), taken.repeated
    return ModelResponse(output, response_id, complete and error is None, error)


def _candidate(candidate: JsonObject, taken: Taken) -> Output:
    text, reasoning, calls, other = _parts(candidate, taken)
    reason = taken.string(candidate, "finishReason")
    return Output(text=text, reasoning=reasoning, tool_calls=calls, finish_reason=reason, other_parts=other)


def _parts(candidate: JsonObject, taken: Taken) -> tuple[str | None, str | None, list[ToolCall], list[JsonObject]]:
    texts: list[str | None] = []
    thoughts: list[str | None] = []
    calls: list[ToolCall] = []
    other: list[JsonObject] = []
    for part in objs(obj(candidate.get("content")).get("parts")):
        call = _either(part, "functionCall", "function_call")
        if isinstance(call, dict):
            arguments = taken.arguments(call, "args")
            calls.append(ToolCall(taken.id(call, "id"), taken.string(call, "name"), arguments))
        elif isinstance(part.get("text"), str):
            thought = part.get("thought") is True
            (thoughts if thought else texts).append(taken.string(part, "text"))
            if thought:
                taken.value(part, "thought")
        else:
            other.append(taken.whole(part))
    if candidate.get("groundingMetadata") is not None:
        other.append({"groundingMetadata": taken.value(candidate, "groundingMetadata")})
    return joined(texts), joined(thoughts), calls, other
