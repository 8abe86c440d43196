"""Chat messages that somebody saved: a list of them, an object with such a list, or lines of either; in any shape that
`messages` reads.

Each message of the assistant is a call, for no more is told; what was new since the one before is what it was sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..canonical import JsonObject
from ..messages.reader import is_item, read_message
from ..model.evidence import EvidenceRef
from ..model.reading import Role
from ..model.session import SessionRecord, Told
from .documents import as_dict
from .otlp_dict import text
from .outline import Head, Path
from .sessions import LINE, Placed, SessionForm, State
from .span_rows import when

_LISTS: Final = ("messages", "contents", "input", "history", "chat_history", "message_history", "conversation")
_NAMES: Final = ("conversation_id", "session_id", "thread_id", "chat_id", "id")
_SHARED: Final = ("model", "tools")
"""Members of a conversation that hold for each of its calls."""
_TIMES: Final = ("timestamp", "created_at", "createdAt", "time")
_SPOKEN: Final = (("role", "content"), ("role", "parts"), ("role", "tool_calls"))
_DUMPED: Final = (
    (("type", "call_id"), ("arguments",)),
    (("type", "call_id"), ("output",)),
    (("type", "data"), ("data", "content")),
    (("lc", "kwargs"), ("kwargs", "content")),
    (("kind", "parts"), ("parts", "part_kind")),
)
"""Members of messages that have no role, and what must be below them."""
_ROLE: Final = re.compile(
    rb'"role"\s*:\s*"(?:system|developer|user|human|assistant|ai|model|bot|tool|function)"', re.IGNORECASE
)
_RESPONSE: Final = ("msg_", "chatcmpl-")


class _State(State):
    def __init__(self) -> None:
        self._begun = 0
        self._name: str | None = None
        self._shared: JsonObject = {}
        self._pending: list[EvidenceRef] = []
        self._turn: str | None = None
        self._asking = False
        """Whether the messages at hand are of one prompt: no answer came since it began."""
        self._item: str | None = None
        """The answer whose items are being listed."""
        self._count = 0
        self._strange = 0
        self._beside: dict[str, int] = {}
        """Objects in other lists of a conversation, by the name of the list: nobody reads them."""

    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        if path == LINE and any(isinstance(data.get(name), list) for name in _LISTS) and "role" not in data:
            return self._conversation(data, ref)
        if not _is_message(data):
            self._strange += 1
            return None
        if self._begun == 0:
            self._conversation({}, ref)
        roles = {message.role for message in read_message(data)}
        self._count += 1
        if "assistant" in roles:
            return self._answer(data)
        self._item = None
        self._pending.append(ref)
        if roles & {"system", "tool"} or "user" not in roles or self._asking:
            return self._placed("told")
        self._turn, self._asking = f"prompt:{self._count}", True
        return self._placed("prompt", (self._turn,))

    def remarks(self) -> Iterator[str]:
        if self._strange:
            yield f"{self._strange} objects among the messages are none"
        for name, count in self._beside.items():
            yield f"{count} objects in the list {name!r} beside the messages are not read"

    def _conversation(self, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        self._begun += 1
        for key, value in data.items():
            count = sum(isinstance(item, dict) for item in value) if isinstance(value, list) else 0
            if count and key not in _LISTS and key not in _SHARED:
                self._beside[key] = self._beside.get(key, 0) + count
        own = next((data[name] for name in _NAMES if isinstance(data.get(name), str) and data[name]), None)
        self._name = own or (ref.source if self._begun == 1 else f"{ref.source}#{self._begun}")
        self._shared = {key: data[key] for key in _SHARED if data.get(key)}
        self._pending, self._turn, self._asking, self._item = [], None, False, None
        if data.get("system") is None and data.get("instructions") is None:
            return None
        self._pending.append(ref)
        return self._placed("system")

    def _answer(self, data: JsonObject) -> Placed:
        inputs: tuple[EvidenceRef, ...] = ()
        key = self._item if is_item(data) and self._item is not None else f"message:{self._count}"
        if key != self._item:
            inputs, self._pending = tuple(self._pending), []
        self._item = key if _of_responses(data) else None
        self._asking = False
        return self._placed("answer", (key,), inputs)

    def _placed(self, what: str, keys: tuple[str, ...] = (), inputs: tuple[EvidenceRef, ...] = ()) -> Placed:
        return Placed(what, keys, inputs=inputs, conversation_id=self._name, turn=self._turn, shared=self._shared)


def _is_message(data: JsonObject) -> bool:
    shapes = (*_SPOKEN, *(names for names, _ in _DUMPED))
    return any(all(name in data for name in shape) for shape in shapes) or is_item(data)


def _of_responses(data: JsonObject) -> bool:
    """An item of OpenAI's Responses: several of one answer stand one after another."""
    return is_item(data) or data.get("type") == "message"


class ChatMessages(SessionForm):
    name = "chat-messages"
    writer = "agents and people that save a conversation: chat, Responses, Anthropic, Gemini, LangChain, Pydantic AI"
    obtain = 'the list of messages as JSON, `{"messages": […]}`, or lines of either'
    tried = "the shapes of `fixtures/messages`; lists built by hand"
    loses = (
        "who saved it decides what is there: no times, no parameters, no ids of calls; each message of the assistant"
        " counts as one model call, what it was sent is what was added since the one before; a tool's result is what"
        " the model was told, and whether the tool ran is not in the file"
    )
    paths = frozenset((LINE, *((name,) for name in _LISTS)))

    def recognises(self, head: Head) -> bool:
        places = sorted(self.paths)
        if any(head.has(*names, under=at) for at in places for names in _SPOKEN):
            return _ROLE.search(head.data) is not None
        return any(
            head.has(*names, under=at) and (*at, *below) in head.paths for at in places for names, below in _DUMPED
        )

    def state(self) -> State:
        return _State()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        stamp = next((data[name] for name in _TIMES if data.get(name) is not None), None)
        record = placed.record(ref, self.name, when(stamp))
        if placed.what == "system":
            told = data["system"] if data.get("system") is not None else data["instructions"]
            record.message = [{"role": "system", "content": told}]
        elif placed.what != "answer":
            record.message = [data]
            if placed.what == "prompt":
                texts = [message.texts() for message in read_message(data) if message.role == "user"]
                asked: JsonObject = {"input_text": "\n".join(one for found in texts for one in found) or None}
                record.told = (Told(placed.keys[0], Role.AGENT, asked),)
        else:
            record.agent_name = data["name"] if isinstance(data.get("name"), str) and not is_item(data) else None
            record.told = (Told(placed.keys[0], Role.MODEL_CALL, _answer(data, placed.shared), None, placed.inputs),)
        return record


def _answer(data: JsonObject, shared: JsonObject) -> JsonObject:
    about = as_dict(data.get("response_metadata") or as_dict(data.get("data")).get("response_metadata"))
    facts: JsonObject = {"answers": [data], "tools": shared.get("tools"), "request_model": shared.get("model")}
    facts["response_model"] = data.get("model") or data.get("model_name") or about.get("model_name")
    facts["finish_reason"] = data.get("stop_reason") or data.get("finish_reason") or about.get("finish_reason")
    own = text(data.get("id"))
    if own.startswith(_RESPONSE) and ("stop_reason" in data or own.startswith("chatcmpl-")):
        facts["response_id"] = own
    usage = data.get("usage") or data.get("usage_metadata") or about.get("token_usage")
    facts["counts"] = usage if isinstance(usage, dict) else None
    return facts


CHAT_MESSAGES = ChatMessages()
