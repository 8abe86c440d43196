"""A trajectory in the formats other tools read, whole or redacted."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ..canonical import JsonObject, dumps, dumps_pretty
from ..errors import UsageError
from ..files import is_stream, replacing, whole
from ..model.trajectory import Header, Step, StepSink, Summary
from ..writers import FOLDERS, WRITERS
from ..writers.base import Reject, Rejecting, Writer
from ..writers.redaction import Redacting, read_profile


@dataclass(slots=True)
class Exported:
    """What an export left behind. `rejects` are the steps that a row format could not take."""

    summary: Summary
    files: list[Path] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    redaction: JsonObject | None = None

    def remarks(self) -> list[str]:
        """One line each, for people."""
        lines = [f"wrote {path}" for path in self.files]
        for reason, count in sorted(Counter(reject.reason for reject in self.rejects).items()):
            lines.append(f"rejected {count} step{'s' if count > 1 else ''}: {reason}")
        for rule in [] if self.redaction is None else self.redaction["rules"]:
            lines.append(f"redacted {rule['replacements']} by rule {rule['name']}")
        return lines


def names() -> list[str]:
    """Every name that `export` takes: the writers, and the formats that are a folder of files."""
    return [*WRITERS.names(), *FOLDERS]


def export(
    path: Path,
    to: str,
    *,
    output: Path | None = None,
    stdout: BinaryIO | None = None,
    redact: Path | None = None,
    inference: bool = True,
    conversation: str | None = None,
) -> Exported:
    """Write an attempt directory, a trace file or a saved trajectory in the format `to`.

    To the file (or folder) `output`, whole or not at all, with `<output>.rejects.jsonl` and `<output>.redaction.json`
    beside it where there is something to say; else to `stdout`. Raises `UsageError` for an unknown format, a bad
    profile, or a folder format without `output`.
    """
    parts = FOLDERS.get(to)
    if parts is None:
        parts = {"": WRITERS.get(to).name} if to in WRITERS.names() else None
    if parts is None:
        raise UsageError(f"unknown format {to!r}", hint=f"one of: {', '.join(names())}")
    profile = None
    if redact is not None:
        try:
            profile = read_profile(redact.read_bytes())
        except OSError as err:
            raise UsageError(f"the redaction profile cannot be read: {err.strerror}", hint=str(redact)) from err
    if output is None and to in FOLDERS:
        raise UsageError(f"{to} is {len(parts)} files", hint="name a folder with -o")
    if output is not None and to in FOLDERS:
        output.mkdir(parents=True, exist_ok=True)
    from .source import drive

    with contextlib.ExitStack() as stack:
        targets: list[tuple[Writer, StepSink, BinaryIO, Path | None]] = []
        for name, writer_name in parts.items():
            writer = WRITERS.get(writer_name)
            target = None if output is None else output / name if name else output
            held = stack.enter_context(_held(target))
            targets.append((writer, writer.sink(held), held, target))
        inner: StepSink = _Fan([sink for _, sink, _, _ in targets])
        redacting = None if profile is None else Redacting(profile, inner)
        top: StepSink = inner if redacting is None else redacting
        result = Exported(drive(path, top, inference=inference, conversation=conversation))
        for _, sink, held, target in targets:
            if isinstance(sink, Rejecting):
                result.rejects += sink.rejects()
            if target is not None:
                result.files.append(target)
            elif stdout is not None:
                held.seek(0)
                shutil.copyfileobj(held, stdout)
    if redacting is not None:
        result.redaction = redacting.report()
    if output is not None and not is_stream(output):
        _beside(output, result)
    return result


def _beside(output: Path, result: Exported) -> None:
    rejects, redaction = Path(f"{output}.rejects.jsonl"), Path(f"{output}.redaction.json")
    if result.rejects:
        lines = [dumps({"step_id": r.step_id, "reason": r.reason, "detail": r.detail}) + b"\n" for r in result.rejects]
        with replacing(rejects) as out:
            out.write(b"".join(lines))
        result.files.append(rejects)
    if result.redaction is not None:
        with replacing(redaction) as out:
            out.write(dumps_pretty(result.redaction) + b"\n")
        result.files.append(redaction)


@contextlib.contextmanager
def _held(target: Path | None) -> Iterator[Any]:
    """A seekable file that becomes `target` by renaming, or vanishes; small results for stdout stay in memory."""
    if target is None:
        with tempfile.SpooledTemporaryFile(max_size=64 << 20) as spooled:
            yield spooled
        return
    with whole(target) as held:
        yield held


class _Fan:
    """One pass into several sinks."""

    def __init__(self, sinks: list[StepSink]) -> None:
        self._sinks = sinks

    def begin(self, header: Header) -> None:
        for sink in self._sinks:
            sink.begin(header)

    def step(self, step: Step) -> None:
        for sink in self._sinks:
            sink.step(step)

    def end(self, summary: Summary) -> None:
        for sink in self._sinks:
            sink.end(summary)


def reference_page() -> str:
    """docs/reference/exports.md, generated."""
    lines = [
        "# Export formats",
        "",
        "Generated from the writers; `tests/unit/api/test_export.py` says when it is stale.",
        "",
        "`otel2traj export PATH --to NAME [-o FILE]` writes an attempt directory, a trace file or a saved trajectory.",
        "Every format says what it cannot hold.",
        "",
    ]
    for writer in WRITERS:
        documented = getattr(writer, "title", None) or (type(writer).__doc__ or "").split("\n\n")[0].replace("\n", " ")
        lines += [f"## `{writer.name}`", "", " ".join(documented.split()), "", f"File suffix: `{writer.suffix}`.", ""]
        lines += ["Losses:", "", *(f"* {loss}" for loss in writer.losses)] if writer.losses else ["Loses nothing."]
        lines.append("")
    lines += ["## Folders", "", "| name | files |", "| --- | --- |"]
    for name, files in FOLDERS.items():
        listed = ", ".join(f"`{file}` (`{writer}`)" for file, writer in files.items())
        lines.append(f"| `{name}` | {listed} |")
    return "\n".join(lines) + "\n"
