"""Tasks around executions that bear no id: the call that a task was started with, or the one that it answered.

docs/reference/links.md holds what must be recorded and what contradicts it.
"""

from __future__ import annotations

from ..canonical import sha256_canonical
from ..dialects.enclosing import answered_with, enclosed_answer, enclosed_call, started_with
from ..evidence import Index
from ..messages import Part, ToolCall
from ..model.evidence import SpanRecord
from ..model.heads import SpanHead
from ..model.ids import is_numbered
from ..model.link import Word, compare
from ..model.reading import Role
from ..pairing.witness import arguments, arguments_of, names
from .archive import Archive


class Tasks:
    """The chain spans of an index that hold a tool call or its answer, each asked once."""

    def __init__(self, archive: Archive, index: Index) -> None:
        self._archive, self._index = archive, index
        self._started: dict[SpanHead, ToolCall | None] = {}
        """The tool call of the nearest task that was started with one, by every chain span below it."""
        self._answered: dict[SpanHead, tuple[SpanHead, Part] | None] = {}
        """The nearest task that ended with one tool message, and that message, by every chain span below it."""

    def lend(self, executions: list[SpanHead]) -> None:
        """Ids for the executions that have none, and how many tasks were started with one numbered id."""
        bare = [head for head in executions if head.tool_call_id is None]
        for head in bare:
            self._from_input(head)
        self._from_outputs([head for head in bare if head.tool_call_id is None], executions)
        self._count(executions)

    def _from_input(self, head: SpanHead) -> None:
        """A task that was started with exactly one tool call: of the execution's name, with its arguments. The nearest
        such task decides."""
        call = self._call_around(head)
        if call is None or call.id is None or call.name is None or call.name != head.tool_name:
            return
        if arguments(arguments_of(call.arguments), head.arguments) is not Word.CONTRADICTS:
            head.tool_call_id, head.id_rule = call.id, "enclosing_task"

    def _call_around(self, head: SpanHead) -> ToolCall | None:
        way: list[SpanHead] = []
        call: ToolCall | None = None
        above = head.parent
        while above is not None and above.role is Role.CHAIN and call is None:
            if above in self._started:
                call = self._started[above]
                break
            way.append(above)
            call = self._call(above)
            above = above.parent
        for node in way:
            self._started[node] = call
        return call

    def _from_outputs(self, bare: list[SpanHead], executions: list[SpanHead]) -> None:
        """A task that ended with exactly one tool message and holds exactly one execution: of the message's name, or
        with its result where the message has none. One that was started with a call is that call's."""
        if not any(self._answer_around(head) and self._call_around(head) is None for head in bare):
            return
        below: dict[SpanHead, list[SpanHead]] = {}
        for head in executions:
            found = self._answer_around(head)
            if found is not None:
                below.setdefault(found[0], []).append(head)
        for head in bare:
            found = self._answer_around(head)
            if found is None or below[found[0]] != [head] or self._call_around(head) is not None:
                continue
            told = found[1]
            name = names(told.name, head.tool_name)
            result = compare(sha256_canonical(told.answer), head.result_sha256)
            if Word.CONTRADICTS not in (name, result) and Word.AGREES in (name, result):
                head.tool_call_id, head.id_rule = told.id, "task_output"

    def _answer_around(self, head: SpanHead) -> tuple[SpanHead, Part] | None:
        way: list[SpanHead] = []
        found: tuple[SpanHead, Part] | None = None
        above = head.parent
        while above is not None and above.role is Role.CHAIN and found is None:
            if above in self._answered:
                found = self._answered[above]
                break
            way.append(above)
            told = self._answer(above)
            found = None if told is None or told.id is None else (above, told)
            above = above.parent
        for node in way:
            self._answered[node] = found
        return found

    def _count(self, executions: list[SpanHead]) -> None:
        """How many tasks beside each other were started with one numbered id: the tasks around executions of such an
        id, and those around which the execution was lost."""
        around = {e.parent for e in executions if is_numbered(e.tool_call_id or "") and e.parent is not None}
        nodes = {task.parent for task in around if task.role is Role.CHAIN and task.parent is not None}
        for head in self._index.span_heads() if nodes else ():
            if head.role is Role.CHAIN and head.parent in nodes:
                call = self._call(head)
                if call is not None and call.id is not None:
                    key = head.source, head.trace_id, call.id
                    self._index.tasks[key] = self._index.tasks.get(key, 0) + 1

    def _call(self, head: SpanHead) -> ToolCall | None:
        """The one tool call that a chain span was started with, as it recorded its input."""
        for part in head.parts:
            if part.what == "span_start":
                return started_with(self._archive.fetch_abb(part.ref).data.get("input"))
        span = self._archive.fetch(head.parts[0].ref) if head.parts else None
        if not isinstance(span, SpanRecord):
            return None
        reference = span.attributes.get("abb.input_ref")
        if isinstance(reference, str):
            return started_with(self._archive.payload(head.source.rpartition("/")[0], reference))
        return enclosed_call(span)

    def _answer(self, head: SpanHead) -> Part | None:
        """The one tool result that a chain span ended with, as it recorded its output."""
        for part in head.parts:
            if part.what == "span_end":
                return answered_with(self._archive.fetch_abb(part.ref).data.get("output"))
        span = self._archive.fetch(head.parts[0].ref) if head.parts else None
        if not isinstance(span, SpanRecord):
            return None
        reference = span.attributes.get("abb.output_ref")
        if isinstance(reference, str):
            return answered_with(self._archive.payload(head.source.rpartition("/")[0], reference))
        return enclosed_answer(span)
