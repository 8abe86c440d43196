"""What `gemini -o json` prints into a session record: the answer, and counts of what was done for it."""

from __future__ import annotations

from collections.abc import Iterator

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef
from ..model.reading import Role
from ..model.session import SessionRecord, Told
from .documents import as_dict
from .otlp_dict import text
from .outline import Head, Path
from .sessions import Placed, SessionForm, State, count


class _State(State):
    def __init__(self) -> None:
        self._stats: JsonObject = {}

    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        self._stats = as_dict(data.get("stats"))
        session = text(data.get("session_id")) or None
        return Placed("answer", ("answer",), conversation_id=session, turn="answer", agent_name="gemini-cli")

    def remarks(self) -> Iterator[str]:
        models = as_dict(self._stats.get("models"))
        asked = sum(count(as_dict(as_dict(one).get("api")).get("totalRequests")) or 0 for one in models.values())
        ran = count(as_dict(self._stats.get("tools")).get("totalCalls")) or 0
        yield f"{asked} model calls and {ran} tool executions are counted and none of them is told"


class GeminiOutput(SessionForm):
    name = "gemini-output"
    writer = "Gemini CLI"
    obtain = "`gemini -p PROMPT --output-format json`"
    tried = "Gemini CLI 0.61.0"
    loses = "no calls, no executions, no prompt, no times; counts and the answer alone"

    def recognises(self, head: Head) -> bool:
        return head.has("session_id", "response", "stats") and head.has("models", "tools", under=("stats",))

    def state(self) -> State:
        return _State()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        record = placed.record(ref, self.name, None)
        failed = as_dict(data.get("error")).get("message")
        facts: JsonObject = {"output_text": data.get("response"), "error": failed}
        facts["extra"] = {"stats": data.get("stats")}
        if failed is not None:
            facts["is_error"] = True
        record.told = (Told(placed.keys[0], Role.AGENT, facts),)
        return record


GEMINI_OUTPUT = GeminiOutput()
