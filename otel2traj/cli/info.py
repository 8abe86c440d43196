"""`otel2traj info`: what is recorded under a path, what is missing, and which switch would have recorded it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ..errors import some_of


def register(app: typer.Typer) -> None:
    app.command()(info)


def info(
    path: Annotated[
        Path | None,
        typer.Argument(help="An attempt directory, a folder of traces, or one trace file.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole survey as JSON.")] = False,
    forms: Annotated[
        bool, typer.Option("--forms", help="The forms of file that are read, instead of a survey.")
    ] = False,
) -> None:
    """Survey PATH: files and their forms, dialects, spans, model calls, tools, and what is missing.

    Example: otel2traj info attempt_dir
    """
    from ..api.info import forms as known
    from ..api.info import info as run
    from ..canonical import dumps_pretty
    from ..renderers.safe import inline

    if forms:
        if path is not None:
            raise typer.BadParameter("takes no PATH: it lists what can be read", param_hint="--forms")
        listed = known()
        if as_json:
            print(dumps_pretty(listed).decode())
            return
        for form in listed:
            lost = "" if form["cannot_hold"] is None else f"; cannot hold: {form['cannot_hold']}"
            print(f"{form['name']}: {form['written_by']}{lost}")
        return
    if path is None:
        raise typer.BadParameter("give a path, or --forms", param_hint="PATH")
    found = run(path)
    if as_json:
        print(dumps_pretty(found).decode())
        return
    for line in lines_of(found):
        print(inline(line))


def lines_of(found: dict[str, Any]) -> list[str]:
    out = [f"layout {found['layout']}, {len(found['files'])} files read"]
    for file in found["files"]:
        if file["kind"] not in ("document", "payload"):
            out.append(f"  {file['path']}  {file['form'] or file['kind']}, {file['bytes']:,} bytes")
    out.append(f"{found['wire_calls']} wire calls, {found['spans']} spans, {found['logs']} log records")
    for name, roles in found["dialects"].items():
        told = ", ".join(f"{count} {role}" for role, count in roles.items())
        out.append(f"  {name}: {told}")
    named = [part for part in found["conversations"] if part["name"] is not None]
    for part in named:
        spans = f"{part['model_spans']} model spans, {part['tool_spans']} tool spans"
        out.append(f"conversation {part['name']}: {part['inputs']} inputs, {spans}, {part['wire_calls']} wire calls")
    for what, counts in (("model calls by join", "joins"), ("tool calls by link", "links")):
        if found[counts]:
            out.append(f"{what}: " + ", ".join(f"{count} {rule}" for rule, count in found[counts].items()))
    if found["contradicted"]:
        told = ", ".join(f"{count} in {respect}" for respect, count in found["contradicted"].items())
        out.append(f"ambiguous links whose records contradict each other: {told}")
    for like, what in (("model", "model calls"), ("tool", "tool executions")):
        unread = found["counts"].get(f"spans.unread_{like}_like", 0)
        if unread:
            out.append(f"{unread} spans look like {what} and are given no role by any dialect")
    if found["missing"]:
        out.append("missing:")
    last = None
    for item in found["missing"]:
        out.append(f"  {item['dialect']}: {item['what']} of {item['count']} in {item['of']}")
        if item["switch_on"] and item["dialect"] != last:
            out.append(f"    content: {item['switch_on']}")
            out.append(f"    never recorded by it: {item['leaves_out']}")
        last = item["dialect"]
    if found["unmapped_attributes"]:
        keys = ", ".join(list(found["unmapped_attributes"])[:20])
        out.append(f"{len(found['unmapped_attributes'])} attribute names that no dialect reads: {keys}")
    for item in found["unknown_scopes"][:_MOST_SCOPES]:
        scope = " ".join(filter(None, (item["scope"], item["version"]))) or "without a name"
        out.append(
            f"no dialect knows {item['spans']} spans of the scope {scope}: {some_of(item['names'], _MOST_NAMES)}"
        )
        for what in ("attributes", "events"):
            if item[what]:
                out.append(f"  {what}: {some_of(item[what], _MOST_NAMES)}")
    more = len(found["unknown_scopes"]) - _MOST_SCOPES
    if more > 0:
        out.append(f"{more} more scopes that no dialect knows; --json lists them")
    out.extend(f"warning: {notice}" for notice in found["notices"])
    return out


_MOST_SCOPES: Final = 8
_MOST_NAMES: Final = 20
