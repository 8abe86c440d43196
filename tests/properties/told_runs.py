"""Random small runs whose truth is known: of every line of evidence, which call or execution it tells of."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

from tests.attempt_factory import AttemptFactory, chat_response, otlp, span

NAMES = ("read", "walk", "fs.read", "ask", "other.read")
LIB, OTHER = "lib", "instrumentor"


class Asked(NamedTuple):
    """A tool call of an answer; `key` is its own in all of the run."""

    id: str
    name: str
    arguments: dict[str, Any]
    key: str


class ToldRun:
    """Agents that call models and tools, nest, retry, recurse and start sub-agents, as one or two instrumentors and an
    interceptor would tell of them.

    `lines` holds (path, JSON, what it tells of): numbers of model calls, or keys of executions. A wrapper tells of each
    of the calls in it. `emits` holds the tool calls of each model call.
    """

    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)
        self.lines: list[tuple[str, bytes, frozenset[str]]] = []
        self.emits: dict[str, list[Asked]] = {}
        self.results: dict[str, Any] = {}
        self.plain = self._maybe(0.4)
        """Spans alone: no attempt, no wire."""
        self.ids = self.rng.choice(("numbered", "numbered", "counted", "unique", "again"))
        self.history = self._maybe(0.6)
        self.header = self.rng.choice(("call", "call", "around", "agent", "none", "none"))
        self.response_ids = self.rng.choice(("both", "wire", "none", "cached"))
        self.second = self.rng.choice((None, None, "beside", "around", "inside"))
        self.blank = self._maybe(0.3)
        self.shown = self.rng.choice((1.0, 1.0, 0.7, 0.0))
        """The share of tool spans that bear their id."""
        self.alike = self.rng.choice((0.0, 0.0, 0.2))
        """The share of calls whose arguments others have too."""
        self.same_spans = self._maybe(0.3) and self.response_ids != "cached"
        """The second Input counts its spans anew, in a trace of one id. Not where a cache gives response ids again:
        one span id and one response id together name one span."""
        self._now, self._count, self._used = 0.0, 0, ["call_0"]
        self._spans = 0
        for number in range(1 if self.plain else self.rng.randint(1, 2)):
            self.input = f"{number + 1:04d}"
            self._spans = 0 if self.same_spans else self._spans
            self._agent("lead", None, 0)

    # time and records

    def _maybe(self, share: float) -> bool:
        return self.rng.random() < share

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _open(self, attributes: dict[str, Any], parent: str | None, **fields: Any) -> dict[str, Any]:
        self._now += 0.001
        self._spans += 1
        made = span(f"{self._spans:016x}", self._now, attributes, parent=parent, **fields)
        made["traceId"] = self._trace()
        return made

    def _trace(self) -> str:
        return f"{1 if self.same_spans else int(self.input):032x}"

    def _close(self, made: dict[str, Any], tells: frozenset[str], scope: str = LIB) -> None:
        self._now += 0.001
        made["endTimeUnixNano"] = span("", self._now, {})["startTimeUnixNano"]
        path = "trace.jsonl" if self.plain else f"steps/{self.input}/otel.jsonl"
        self.lines.append((path, otlp([made], scope), tells))

    # agents and model calls

    def _agent(self, name: str, parent: str | None, depth: int) -> None:
        told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        me = self._open(told, parent)
        history: list[dict[str, Any]] = [{"role": "user", "content": f"{name} {self._next()}"}]
        loop = self._open(_chat("m-1", None, [], f"loop of {name}"), me["spanId"]) if self._maybe(0.15) else None
        counted, inside = 0, []
        for turn in range(self.rng.randint(1, 3)):
            asked = [self._asked(n, counted) for n in range(self.rng.choice((0, 1, 1, 2)) if turn < 2 else 0)]
            counted += len(asked)
            inside.append(self._model(history, asked, (loop or me)["spanId"], me["spanId"]))
            history = [*history, *self._answered(asked, loop or me, depth)]
        if loop is not None:
            self._close(loop, frozenset(inside))
        self._close(me, frozenset())

    def _asked(self, position: int, counted: int) -> Asked:
        key = f"k{self._next()}"
        call_id = {
            "numbered": f"call_{position}",
            "counted": f"call_{counted + position}",
            "unique": f"toolu_{self.rng.getrandbits(64):016x}",
            "again": self.rng.choice(self._used) if self._maybe(0.3) else f"toolu_{self.rng.getrandbits(64):016x}",
        }[self.ids]
        self._used.append(call_id)
        given = {"all": True} if self._maybe(self.alike) else {"key": key, "deep": self._maybe(0.5)}
        return Asked(call_id, self.rng.choice(NAMES), given, key)

    def _answered(self, asked: list[Asked], around: dict[str, Any], depth: int) -> list[dict[str, Any]]:
        """Executes the calls; what the conversation holds of them afterwards."""
        if not asked:
            return [{"role": "assistant", "content": f"said {self._count}"}]
        began, ended, parallel = self._now, self._now, self._maybe(0.4)
        for one in self.rng.sample(asked, len(asked)):
            self._now = began if parallel else ended
            self._execute(one, around["spanId"], depth)
            ended = max(ended, self._now)
        self._now = ended
        told = [_called(one) for one in asked]
        results = [
            {"role": "tool", "tool_call_id": one.id, "content": self.results.get(one.key, "lost")} for one in asked
        ]
        return [{"role": "assistant", "content": None, "tool_calls": told}, *results]

    def _model(self, history: list[dict[str, Any]], asked: list[Asked], parent: str, agent: str) -> str:
        me = f"m{self._next()}"
        self.emits[me] = asked
        tells = frozenset((me,))
        text = None if asked else f"answer {me}"
        answer = f"resp-{'c' if self.response_ids == 'cached' and self._maybe(0.3) else me}"
        known = answer if self.response_ids in ("both", "cached") else None
        shown = None if self.blank and self._maybe(0.5) else asked
        above = self._open({"http.request.method": "POST"}, parent) if self._maybe(0.3) else None
        below = parent if above is None else above["spanId"]
        asks = history if self.history else None
        outer = self._open(_chat("m-1", asks, asked, text), below) if self.second == "around" else None
        first = self._open(_chat("m-1", asks, shown, text, known), below if outer is None else outer["spanId"])
        if self.second == "inside":
            self._close(self._open(_chat("m-1", None, asked, text, known), first["spanId"]), tells, OTHER)
        self._wire(me, history, asked, text, answer, {"call": first["spanId"], "around": below, "agent": agent})
        self._close(first, tells)
        if outer is not None:
            self._close(outer, tells, OTHER)
        if self.second == "beside":
            self._close(self._open(_chat("m-1", asks, asked, text, known), below), tells, OTHER)
        if above is not None:
            self._close(above, frozenset())
        return me

    def _wire(
        self, me: str, history: Any, asked: list[Asked], text: str | None, answer: str, spans: dict[str, str]
    ) -> None:
        if self.plain or self._maybe(0.1):
            return
        named: dict[str, Any] = {}
        if self.header == "call":
            named["span"] = spans["call"]
        elif self.header != "none":
            named["traceparent"] = f"00-{self._trace()}-{spans[self.header]}-01"
        for attempt in range(2 if self._maybe(0.1) else 1):
            self._now += 0.001
            made = AttemptFactory(Path())
            call = f"w{self._next()}"
            made.request(call, self._now, messages=history, **named)
            if attempt == 0 and self._maybe(0.1):
                made.error(call, self._now, "transport_error")
            else:
                given = [(one.id, one.name, json.dumps(one.arguments)) for one in asked]
                retried = answer if attempt == 0 else f"{answer}-again"
                made.response(call, self._now, chat_response(retried, text, given))
            for path, lines in made.records.items():
                self.lines.extend((path, line, frozenset((me,))) for line in lines)

    # executions

    def _execute(self, one: Asked, parent: str, depth: int) -> None:
        """One call's execution, and what may stand in it or around it."""
        if self._maybe(0.05):
            return
        self.results[one.key] = f"answers {one.key}"
        task = self._task(one, parent) if self._maybe(0.2) else None
        tells = frozenset((one.key,))
        shown = one.id if self._maybe(self.shown) else None
        result = self.results[one.key] if self._maybe(0.9) else None
        made = _tool(one.name, shown, one.arguments, result)
        around = parent if task is None else task["spanId"]
        outer = self._open(_tool(one.name, one.id, one.arguments, None), around) if self._maybe(0.1) else None
        me = self._open(made, around if outer is None else outer["spanId"])
        what = self.rng.choice(("", "", "", "agent", "recursion", "retry", "mcp", "helper", "summary", "told"))
        if what == "agent" and depth < 2:
            self._agent(f"sub{self._next()}", me["spanId"], depth + 1)
        elif what in ("recursion", "helper"):
            name = one.name if what == "recursion" else self.rng.choice(NAMES)
            self._inner(name, {"key": f"in{self._next()}"}, me["spanId"])
        elif what == "retry":
            for _ in range(2):
                self._inner(one.name, one.arguments, me["spanId"])
        elif what == "mcp":
            self._mcp(one, me["spanId"])
        elif what == "summary":
            asked = [self._asked(0, 0)] if self._maybe(0.3) else []
            self._model([{"role": "user", "content": "sum up"}], asked, me["spanId"], me["spanId"])
        elif what == "told":
            twin = self._open(_tool(one.name, one.id, one.arguments, result), me["spanId"])
            self._close(twin, tells, self.rng.choice((LIB, OTHER)))
        self._close(me, tells)
        if outer is not None:
            self._close(outer, tells, self.rng.choice((LIB, OTHER)))
        if task is not None:
            self._close(task, frozenset(), "openinference.instrumentation.langchain")

    def _task(self, one: Asked, parent: str) -> dict[str, Any]:
        """What LangGraph starts for each call: a chain whose input is the call."""
        given = {"args": one.arguments, "id": one.id, "type": "tool_call", "name": one.name}
        told = {"openinference.span.kind": "CHAIN", "input.value": given, "input.mime_type": "application/json"}
        return self._open(told, parent)

    def _inner(self, name: str, arguments: dict[str, Any], parent: str) -> None:
        key = f"inner{self._next()}"
        self.results[key] = f"answers {key}"
        inner = self._open(_tool(name, None, arguments, self.results[key]), parent)
        self._close(inner, frozenset((key,)), self.rng.choice((LIB, OTHER)))

    def _mcp(self, one: Asked, parent: str) -> None:
        key = f"mcp{self._next()}"
        self.results[key] = f"answers {key}"
        told = {"mcp.method.name": "tools/call", **_tool(one.name, None, one.arguments, self.results[key])}
        client = self._open(told, parent, kind=3)
        server = self._open(told, client["spanId"], kind=2)
        self._close(server, frozenset((key,)))
        self._close(client, frozenset((key,)))

    def alike_and_lost(
        self, asked: set[str], done: frozenset[str], truth: dict[tuple[str, int], frozenset[str]]
    ) -> bool:
        """Whether a call and an execution of another are alike in id, name and arguments, and all that could tell them
        apart (the execution of the one, the answers that asked for the other) is lost."""
        known = {one.key: (call, one) for call, emitted in self.emits.items() for one in emitted}
        if len(asked) != 1 or len(done) != 1 or asked == done or not done <= known.keys():
            return False
        (_, mine), (other, theirs) = known[next(iter(asked))], known[next(iter(done))]
        names = sorted((mine.name, theirs.name), key=len)
        alike = (mine.id, mine.arguments) == (theirs.id, theirs.arguments) and names[1].endswith(names[0])
        told = frozenset().union(*(tells for tells in truth.values() if len(tells) == 1))
        return alike and mine.key not in told and other not in told

    # files

    def write(self, root: Path, loss: float) -> dict[tuple[str, int], frozenset[str]]:
        """Writes what is not lost, in any order, and gives what each line (path, number from 1) tells of."""
        root.mkdir(parents=True)
        kept = [line for line in self.lines if not self._maybe(loss)]
        self.rng.shuffle(kept)
        made = AttemptFactory(root)
        truth: dict[tuple[str, int], frozenset[str]] = {}
        for number in range(0 if self.plain else int(self.input)):
            made.input(f"{number + 1:04d}")
        for path, data, tells in kept:
            made.line(path, data)
            truth[path, len(made.records[path])] = tells
        if self.plain:
            (root / "trace.jsonl").write_bytes(b"".join(x + b"\n" for x in made.records.get("trace.jsonl", ())))
        else:
            made.write()
        return truth


def _chat(
    model: str,
    history: list[dict[str, Any]] | None,
    asked: list[Asked] | None,
    text: str | None,
    response_id: str | None = None,
) -> dict[str, Any]:
    out: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": model,
    }
    if history is not None:
        out["gen_ai.input.messages"] = [_message(message) for message in history]
    if asked is not None:
        parts: list[dict[str, Any]] = [] if text is None else [{"type": "text", "content": text}]
        parts += [{"type": "tool_call", "id": x.id, "name": x.name, "arguments": x.arguments} for x in asked]
        out["gen_ai.output.messages"] = [{"role": "assistant", "parts": parts, "finish_reason": "stop"}]
    if response_id is not None:
        out["gen_ai.response.id"] = response_id
    return out


def _called(one: Asked) -> dict[str, Any]:
    return {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": json.dumps(one.arguments)}}


def _message(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] == "tool":
        part = {"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}
        return {"role": "tool", "parts": [part]}
    parts = [] if message["content"] is None else [{"type": "text", "content": message["content"]}]
    for call in message.get("tool_calls", ()):
        given = call["function"]
        parts.append({"type": "tool_call", "id": call["id"], "name": given["name"], "arguments": given["arguments"]})
    return {"role": message["role"], "parts": parts}


def _tool(name: str, call_id: str | None, arguments: Any, result: Any) -> dict[str, Any]:
    told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    for key, value in (("id", call_id), ("arguments", arguments), ("result", result)):
        if value is not None:
            told[f"gen_ai.tool.call.{key}"] = value
    return told
