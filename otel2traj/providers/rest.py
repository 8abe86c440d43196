"""What a reading leaves of a body: every member that it did not take, by its JSON pointer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..canonical import JsonObject, JsonValue, key_ends, repeated_key_of
from ..messages import Output
from .shape import call_arguments, count, error_of, in_order

LEFT_OUT: Final[dict[str, tuple[frozenset[str], str]]] = {
    "object": (
        frozenset({"chat.completion", "chat.completion.chunk", "text_completion", "response"}),
        "says what kind of body it is, which its reading says too",
    ),
    "type": (
        frozenset(
            {"message", "text", "thinking", "tool_use", "function", "custom", "reasoning", "function_call"}
            | {"custom_tool_call", "output_text", "refusal", "reasoning_text", "summary_text"}
        ),
        "says what kind of part it is, which its place in the output says too",
    ),
    "role": (frozenset({"assistant", "model", "ASSISTANT", "CHATBOT"}), "an answer is the assistant's"),
    "index": (frozenset(), "a number that only repeats the place in its list"),
    "obfuscation": (frozenset(), "padding that hides the length of stream frames (OpenAI)"),
}
"""Members left out of the rest, with the values that say nothing and why. Beside them null, `[]` and `{}`."""

FRAMES_LEFT_OUT: Final = (
    ("openai-responses", r"/response/|/(item|part|delta|text|arguments|name|logprobs)\b|/type$",
     "pieces that the last `response` of the stream says again as a whole: the whole stands"),
    ("openai-responses", r"/(sequence_number|item_id|output_index|content_index|summary_index)$",
     "numbers that put the frames in order"),
    ("anthropic", r"/message/usage/|/usage/", "counts of a later frame stand for those before them"),
    ("openai-chat", r"/usage/", "counts of a later frame stand for those before them"),
    ("openai-completions", r"/usage/", "counts of a later frame stand for those before them"),
    ("gemini", r"/usageMetadata/", "counts of a later frame stand for those before them"),
    ("bedrock-invoke", r"[tT]okenCount$|_token_count$", "counts of a later frame stand for those before them"),
    ("anthropic", r"/index$|/content_block/input$|/message/content$", "numbers and empty places that frames fill"),
    ("bedrock-converse", r"/contentBlockIndex$", "numbers of the blocks that the frames fill"),
    ("bedrock-converse", r"/p$", "padding that hides the length of stream frames"),
    ("gemini", r"/index$", "numbers of the candidates that the frames fill"),
    ("openai-completions", r"/index$", "numbers of the choices that the frames fill"),
    ("cohere", r"/index$|/is_finished$", "numbers of the blocks that the frames fill, and the mark of the last frame"),
    ("cohere", r"/text$", "pieces that the end of a stream of version 1 says again as a whole: the whole stands"),
    ("ollama", r"/created_at$|/done$", "the time of each line, and the mark of the last line; those of the last stand"),
    ("tgi", r"/index$", "numbers that put the frames in order"),
)  # fmt: skip
"""What is left out of streams: provider, which members (a pattern for their place in the frame), and why."""

_DEPTH: Final = 10
"""Nothing is taken deeper in a body than this; what lies deeper goes as a whole."""


class Taken:
    """Notes which members a reading takes. A member of a kind that the reading cannot use is not taken."""

    def __init__(self) -> None:
        self._members: dict[int, set[str | int]] = {}
        self._whole: set[int] = set()
        self.repeated: list[str] = []
        """Keys that stand twice in arguments."""

    def value(self, holder: JsonObject, key: str) -> JsonValue:
        if key in holder:
            self._members.setdefault(id(holder), set()).add(key)
        return holder.get(key)

    def string(self, holder: JsonObject, key: str) -> str | None:
        value = holder.get(key)
        return str(self.value(holder, key)) if isinstance(value, str) else None

    def id(self, holder: JsonObject, key: str) -> str | None:
        """An empty id is no id."""
        return self.string(holder, key) if holder.get(key) else None

    def arguments(self, holder: JsonObject, key: str, *, ended: bool = True) -> JsonValue:
        """Decoded arguments of a call. Where their text names a key twice it is kept too: the value is not all."""
        recorded = holder.get(key)
        found = call_arguments(recorded, ended=ended)
        repeated = None
        if isinstance(recorded, str) and isinstance(found, (dict, list)):
            repeated = repeated_key_of(recorded.encode("utf-8", "surrogatepass"), key_ends(found))
        if repeated is None:
            self.value(holder, key)
        else:
            self.repeated.append(repeated)
        return found

    def count(self, holder: JsonObject, key: str) -> int | None:
        found = count(holder.get(key))
        if found is not None:
            self.value(holder, key)
        return found

    def choices(self, listed: list[JsonObject], read: Callable[[JsonObject], Output]) -> list[tuple[int, Output]]:
        """Each choice as `read` reads it, with its index and in its order."""
        found = [(index, read(choice)) for index, choice in in_order(listed)]
        for choice in listed if len(listed) > 1 else ():
            self.count(choice, "index")
        return found

    def error(self, holder: JsonObject, key: str = "error") -> JsonObject | None:
        found = error_of(holder.get(key))
        if found is not None:
            self.value(holder, key)
        return found

    def whole(self, part: JsonObject) -> JsonObject:
        """An object that the output keeps as it stands."""
        self._whole.add(id(part))
        return part

    def item(self, holder: list[JsonValue], number: int) -> JsonValue:
        self._members.setdefault(id(holder), set()).add(number)
        return holder[number]

    def beside(self, body: JsonObject, *named: str) -> list[JsonObject]:
        """What stands in a message beside the members that its reading names: `{key: value}` each."""
        left = [key for key, value in body.items() if key not in named and not _says_nothing(key, value, "")]
        return [{key: self.value(body, key)} for key in left]

    def rest(self, body: JsonValue) -> JsonObject:
        """`{pointer: value}` of what was left."""
        found: JsonObject = {}
        if not self._walk(body, "", found, _DEPTH) and isinstance(body, dict):
            self._members[id(body)] = {""}
            self._walk(body, "", found, _DEPTH)
        return found

    def _walk(self, node: JsonValue, where: str, found: JsonObject, depth: int) -> bool:
        """Whether anything of the node was taken; only then are its other members told one by one."""
        if isinstance(node, dict):
            told: list[tuple[str | int, JsonValue]] = list(node.items())
        elif isinstance(node, list):
            told = list(enumerate(node))
        else:
            return False
        taken = self._members.get(id(node), set())
        touched = bool(taken)
        left: JsonObject = {}
        for key, value in told:
            place = f"{where}/{str(key).replace('~', '~0').replace('/', '~1')}"
            if key in taken:
                continue
            whole = isinstance(value, dict) and id(value) in self._whole
            if whole or (depth and self._walk(value, place, left, depth - 1)):
                touched = True
            elif not _says_nothing(key, value, where):
                left[place] = value
        if touched:
            found.update(left)
        return touched


def _says_nothing(key: str | int, value: JsonValue, where: str) -> bool:
    if value is None or value == [] or value == {}:
        return True
    if not isinstance(key, str) or key not in LEFT_OUT:
        return False
    if key == "obfuscation":
        return True
    if key == "index":
        return isinstance(value, int) and not isinstance(value, bool) and where.endswith(f"/{value}")
    return isinstance(value, str) and value in LEFT_OUT[key][0]


def carry(body: JsonObject, frame: JsonObject, *named: str, grow: bool = True) -> None:
    """The members of a stream frame that its reading does not name, onto the body that the stream tells: lists go on
    (where they `grow`), objects grow, what every frame repeats stands once, and what differs from it is kept in
    `events`."""
    told: list[JsonValue] = []
    _carry(body, frame, named, told, grow)
    keep(body, told)


def keep(body: JsonObject, events: list[JsonValue]) -> None:
    """Frames that the reading of a stream does not know, or that are broken, in `events` of the body that it tells."""
    if events:
        held = body.get("events")
        body["events"] = [*(held if isinstance(held, list) else []), *events]


def broken(events: list[JsonValue]) -> list[JsonValue]:
    """The frames of a stream that are no objects."""
    return [event for event in events if not isinstance(event, dict) and event is not None]


def _carry(held: JsonObject, frame: JsonObject, named: tuple[str, ...], differs: list[JsonValue], grow: bool) -> None:
    for key, value in frame.items():
        before = held.get(key)
        if key in named or value is None or (key in LEFT_OUT and _says_nothing(key, value, "")):
            continue
        if before is None:
            held[key] = dict(value) if isinstance(value, dict) else value
        elif isinstance(before, dict) and isinstance(value, dict):
            grown = dict(before)
            below: list[JsonValue] = []
            _carry(grown, value, (), below, grow)
            held[key] = grown
            differs += [{key: item} for item in below]
        elif grow and isinstance(before, list) and isinstance(value, list):
            held[key] = [*before, *value]
        elif before != value:
            differs.append({key: value})
