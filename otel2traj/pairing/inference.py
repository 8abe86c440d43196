"""Calls and executions that no identifier ties: a class-I inference beside them, never a link.

One to one within one Input, after all exact pairs are taken; the first rule that gives exactly one partner on both
sides. Equal twins stay unpaired: order is no evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from ..model.heads import Execution, Recorder, ToolLink
from ..model.link import InferenceRule, LinkStatus, Word
from .witness import names

Key = Hashable | None


def infer(links: Iterable[ToolLink], unlinked: Iterable[Execution]) -> int:
    """Set `inferred` on the links that have exactly one partner; returns how many.

    Two recorded ids that differ say that the two are not one, unless the run's executions never bear an id that a
    model emitted: then their ids are of another numbering, and say nothing.
    """
    links = list(links)
    one_numbering = any(link.candidates for link in links)
    open_links = [link for link in links if link.status is LinkStatus.NONE and link.call.ordinal is not None]
    open_executions = [execution for execution in unlinked if execution.ordinal is not None]
    rules: list[tuple[InferenceRule, Callable[[ToolLink], Key], Callable[[Execution], Key]]] = [
        (InferenceRule.REPORTED_RESULT, lambda link: link.reported_sha256, lambda e: e.head.result_sha256),
        (InferenceRule.NAME_ARGUMENTS, _call_arguments, _execution_arguments),
        (InferenceRule.NAME, lambda link: link.emitted.name, lambda e: e.tool_name()),
    ]
    count = 0
    for rule, of_link, of_execution in rules:
        pairs = [
            (link, execution)
            for link, execution in _unique_pairs(open_links, open_executions, of_link, of_execution)
            if not _contradicted(link, execution, one_numbering)
        ]
        for link, execution in pairs:
            link.inferred, link.inferred_rule = execution, rule
        count += len(pairs)
        taken = {id(link) for link, _ in pairs} | {id(execution) for _, execution in pairs}
        open_links = [link for link in open_links if id(link) not in taken]
        open_executions = [execution for execution in open_executions if id(execution) not in taken]
    return count


def _contradicted(link: ToolLink, execution: Execution, one_numbering: bool) -> bool:
    mine, theirs = link.emitted.id, execution.tool_call_id()
    if one_numbering and mine is not None and theirs is not None:
        return True
    name = names(link.emitted.name, execution.tool_name())
    if all(head.recorder is Recorder.ACP for head in execution.heads()):
        name = Word.SILENT  # an ACP title is for people
    return name is Word.CONTRADICTS


def _call_arguments(link: ToolLink) -> Key:
    name, given = link.emitted.name, link.emitted.arguments
    return None if name is None or given is None else (name, given.sha256)


def _execution_arguments(execution: Execution) -> Key:
    name, given = execution.tool_name(), execution.head.arguments
    return None if name is None or given is None else (name, given.sha256)


def _unique_pairs(
    links: list[ToolLink],
    executions: list[Execution],
    of_link: Callable[[ToolLink], Key],
    of_execution: Callable[[Execution], Key],
) -> list[tuple[ToolLink, Execution]]:
    by_link: dict[Hashable, list[ToolLink]] = {}
    for link in links:
        key = of_link(link)
        if key is not None:
            by_link.setdefault((link.call.ordinal, key), []).append(link)
    by_execution: dict[Hashable, list[Execution]] = {}
    for execution in executions:
        key = of_execution(execution)
        if key is not None:
            by_execution.setdefault((execution.ordinal, key), []).append(execution)
    return [
        (found[0], by_execution[key][0])
        for key, found in by_link.items()
        if len(found) == 1 and len(by_execution.get(key, ())) == 1
    ]
