"""Makes the generated pages of docs/reference: `python -m tests.reference` writes them, a test tells stale ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from otel2traj.readers.base import Described

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"


def warnings_page() -> str:
    from otel2traj.assembly.warnings import CODES

    lines = [
        "# Warnings",
        "",
        "A warning of a trajectory reads `code: message (path:line)`. The list of codes is closed.",
        "",
        "| code | what it says |",
        "| --- | --- |",
    ]
    lines += [f"| `{code}` | {text} |" for code, text in sorted(CODES.items())]
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """Every command with its help, as the command line prints it at 100 columns without colour."""
    import typer

    from otel2traj.cli.app import COMMANDS, app
    from otel2traj.cli.verbosity import talk

    if not app.registered_commands and not app.registered_groups:
        for name in COMMANDS:
            import_module(f"otel2traj.cli.{name}").register(app)
        talk(app)
    root = typer.main.get_command(app)
    lines = ["# Commands", "", "Exit codes: 0 clean, 1 findings or a failed build, 2 usage, 3 unreadable evidence,"]
    lines += ["4 refused, 5 a bug. Results go to stdout, remarks to stderr.", ""]

    def walk(command: Any, path: str) -> None:
        below = getattr(command, "commands", None)
        if below is not None:
            for name in sorted(below):
                walk(below[name], f"{path} {name}")
            return
        lines.append(f"## {path}")
        lines.append("")
        lines.append((command.help or "").strip())
        lines.append("")
        rows = []
        for parameter in command.params:
            names = ", ".join([*parameter.opts, *parameter.secondary_opts])
            kind = parameter.param_type_name
            text = getattr(parameter, "help", None) or ""
            rows.append(f"| `{names}` | {kind} | {text.replace('|', chr(92) + '|')} |")
        if rows:
            lines.extend(["| name | | |", "| --- | --- | --- |", *rows, ""])

    walk(root, "otel2traj")
    return "\n".join(lines).rstrip() + "\n"


def left_out_page() -> str:
    from otel2traj.assembly.unsaid import LEFT_OUT as RECORDS_LEFT_OUT
    from otel2traj.providers.rest import FRAMES_LEFT_OUT, LEFT_OUT

    def cell(text: str) -> str:
        return text.replace("|", chr(92) + "|")

    lines = [
        "# What is left out",
        "",
        "## Of a model API's body",
        "",
        "Every other member of a body stands in the step's `output`: by its own name, in `other_parts`, or in `extra`",
        "by its JSON pointer. `tests/properties/test_no_member_vanishes.py` changes each member of each recorded",
        "body and demands that the output changes, but for these.",
        "",
        "In bodies and streams: null, `[]` and `{}`, and",
        "",
        "| member | values | why |",
        "| --- | --- | --- |",
    ]
    for key, (values, why) in LEFT_OUT.items():
        lines.append(f"| `{key}` | {', '.join(f'`{value}`' for value in sorted(values)) or 'any'} | {why} |")
    lines += [
        "",
        "A member of a response that repeats the one of its request, value for value, stands in the input alone.",
        "",
    ]
    lines += ["In streams, by a pattern for the place of the member in its frame:", ""]
    lines += ["| provider | members | why |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | `{cell(pattern)}` | {why} |" for name, pattern, why in FRAMES_LEFT_OUT]
    lines += [
        "",
        "## Of the harness's records and files",
        "",
        "Every other member stands in the trajectory: as a fact of a step, tool log or Input, in `evidence.recorded`,",
        "in `metadata.recorded`, under `evidence.events` of its Input, or in a warning.",
        "`tests/properties/test_no_record_vanishes.py` changes each member of each record and demands that the",
        "trajectory changes, but for these. The bytes of every record behind a step are pointed at all the same.",
        "",
        "| file | event and member | why |",
        "| --- | --- | --- |",
    ]
    lines += [f"| `{cell(file)}` | `{cell(pattern)}` | {why} |" for file, pattern, why in RECORDS_LEFT_OUT]
    return "\n".join(lines) + "\n"


def file_forms_page() -> str:
    """What the readers say of their forms."""
    from otel2traj.readers import READERS
    from otel2traj.readers.wire_files import WIRE_READERS

    def table(readers: Iterable[Described]) -> list[str]:
        rows = [
            "| form | who writes it | how to get it | what it cannot tell | tried |",
            "| --- | --- | --- | --- | --- |",
        ]
        for one in readers:
            told = (f"`{one.name}`", one.writer, one.obtain, one.loses or "", one.tried)
            rows.append(f"| {' | '.join(part.replace('|', chr(92) + '|') for part in told)} |")
        return rows

    return "\n".join([_FORMS_HEAD, *table(READERS), _FORMS_WIRE, *table(WIRE_READERS), _FORMS_TAIL])


_FORMS_HEAD = """# File forms

A file may be in any of these forms, plain, gzip or zstd. The form is told by content, never by name, and the first of
the list that fits is taken. `otel2traj info --forms` prints the list of the installed version, `otel2traj info FILE`
the form of a file; `+gzip` or `+zstd` after its name says that it was inflated first. What a file cannot tell stays
unknown in the trajectory, and a warning `lossy_form` says so.

## Spans, log records, session files
"""
_FORMS_WIRE = """
## Exchanges with a model, as wire records

These stand beside the interceptor's own lines (`network.jsonl`).
"""
_FORMS_TAIL = """
Compression: gzip (any number of members), zstd (a stream, or the Collector's form with a 4-byte length before each
frame). A compressed file may become 4 GiB. Of an Inspect log (zip), the samples are one stream (ADR 122).

## Notices

`unreadable_line`, `unreadable_record`: skipped, with line or byte. `repaired_record`: read with the named repair.
`missing_id`: a span without trace or span id, kept. `truncated_container`: a compressed file that ends early; what came
before was read. `source_grew`, `source_shrank`: read to the size it had when it was opened. `skipped_records`: metrics.
`lossy_form`: what the form could not hold.

## Speed

`pytest tests/bench/test_reading.py -m bench` prints the ratios of one run.
"""


PAGES: dict[str, Callable[[], str]] = {
    "warnings.md": warnings_page,
    "commands.md": commands_page,
    "left-out.md": left_out_page,
    "file-forms.md": file_forms_page,
}


if __name__ == "__main__":
    for file_name, make in PAGES.items():
        (REFERENCE / file_name).write_text(make(), encoding="utf-8")
