"""An attempt directory to its layout: which file holds what, and in which SDK Input.

Current layout first (`steps/NNNN/`, `logs/network.jsonl`), else the historical one (`evaluation/inputs/NNNN/`,
`network.jsonl`), else `invocation-*/output/`, else a bare folder or file of traces.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from ..errors import EvidenceError, some_of
from ..model.evidence import Notice, Source, SourceKind
from .lines import open_source
from .wire_files import holds_exchanges

_ORDINAL = re.compile(r"[0-9]{4}")
_INVOCATION = re.compile(r"invocation-.+")
_TRACE_SUFFIXES = (
    ".jsonl", ".json", ".ndjson", ".binpb", ".pb", ".proto", ".log", ".har", ".mitm", ".flow", ".flows", ".eval"
)  # fmt: skip
_PACKED = (".zst", ".gz")
_OTEL_LOGS = re.compile(r"otel.*logs?.*\.jsonl")
_OTEL_METRICS = re.compile(r"otel.*metrics?.*\.jsonl")
_RECORDED = re.compile(r"(?:network|framework|acp-events|otel(?!-status\.json)[a-z-]*)\b.*\.jsonl?\b.*")
_ROTATED = re.compile(r"[.-][0-9]+$")
_SAVED = re.compile(rb'\s*\{\s*"schema"\s*:\s*"abb\.agent-trajectory\.')
_RECORDER = re.compile(rb'"source"\s*:\s*"([a-z-]+)"')
_LOOK = 4096
_RECORDERS = {
    b"interceptor": SourceKind.WIRE,
    b"framework": SourceKind.FRAMEWORK,
    b"acp": SourceKind.ACP,
    b"otel": SourceKind.OTLP_TRACES,
}
_NAMED = {
    "network.jsonl": SourceKind.WIRE,
    "framework.jsonl": SourceKind.FRAMEWORK,
    "acp-events.jsonl": SourceKind.ACP,
}


class Layout(StrEnum):
    CURRENT = "current"
    HISTORICAL = "historical"
    INVOCATION = "invocation"
    BARE = "bare"


@dataclass(slots=True)
class InputFolder:
    """One SDK Input: `steps/NNNN/` or what stands for it."""

    ordinal: str
    path: str
    """Relative to the attempt, without a slash at the end."""


@dataclass(slots=True)
class Attempt:
    """What is to be read. Sources are sorted by path, so the order the system lists files in does not matter."""

    root: Path
    layout: Layout
    inputs: list[InputFolder] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    alone: bool = False
    """One file was given: what lies beside it is not part of it."""

    def of(self, *kinds: SourceKind) -> list[Source]:
        return [source for source in self.sources if source.kind in kinds]

    def document(self, path: str) -> Source | None:
        """A small JSON file of the attempt as a source, or None where there is none."""
        for candidate in self.sources:
            if candidate.path == path:
                return candidate
        if self.alone:
            return None
        file = safe_join(self.root, path)
        if file is None:
            return None
        return Source(path, SourceKind.DOCUMENT, file)


def safe_join(root: Path, path: str) -> Path | None:
    """`root/path` where it is a regular file inside `root` reached without a symbolic link; None where nothing is
    there. Raises `EvidenceError` for a link or a path that leaves the attempt."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts:
        raise EvidenceError(f"{path} leaves the attempt directory", hint="evidence must lie inside the attempt")
    current = root
    for part in parts:
        current = current / part
        try:
            mode = os.lstat(current).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as err:
            raise EvidenceError(f"cannot look at {path}: {err.strerror}") from err
        except ValueError as err:  # a NUL or a lone surrogate: no file can have that name
            raise EvidenceError(f"{path!r} is no file name") from err
        if stat.S_ISLNK(mode):
            raise EvidenceError(
                f"{path} goes through a symbolic link",
                hint="copy the evidence into the attempt; links are not followed",
            )
    if not stat.S_ISREG(os.lstat(current).st_mode):
        raise EvidenceError(f"{path} is not a regular file")
    return current


def _folders(root: Path, path: str, pattern: re.Pattern[str]) -> list[str]:
    """Names of the matching folders below `root/path`, sorted. Links among them are refused."""
    folder = root / path if path else root
    if _is_link(root, path):
        raise EvidenceError(
            f"{path} is a symbolic link", hint="copy the evidence into the attempt; links are not followed"
        )
    if not folder.is_dir():
        if folder.exists():
            raise EvidenceError(f"{path} is not a directory", hint="expected one folder for each SDK Input in it")
        return []
    names = []
    for entry in sorted(os.scandir(folder), key=lambda item: item.name):
        if pattern.fullmatch(entry.name) is None:
            continue
        if entry.is_symlink():
            raise EvidenceError(f"{path}/{entry.name} is a symbolic link", hint="links are not followed")
        if entry.is_dir():
            names.append(entry.name)
    return names


def _is_link(root: Path, path: str) -> bool:
    current = root
    for part in path.split("/"):
        current = current / part
        if current.is_symlink():
            return True
    return False


def open_attempt(path: Path) -> Attempt:
    """The layout of an attempt directory, a folder of traces, or one trace file. Raises `EvidenceError`."""
    if path.is_symlink():
        raise EvidenceError(f"{path.name} is a symbolic link", hint="give the directory itself")
    if path.is_file():
        kind = _kind(path) or SourceKind.OTLP_TRACES
        return Attempt(path.parent, Layout.BARE, [], [Source(path.name, kind, path)], alone=True)
    if not path.is_dir():
        raise EvidenceError(f"there is no {path}", hint="give an attempt directory or a trace file")
    for layout, base in _bases(path):
        attempt = _laid_out(path, layout, base)
        if attempt is not None:
            return attempt
    return _bare(path)


def _bases(root: Path) -> list[tuple[Layout, str]]:
    return [
        (Layout.CURRENT, "steps"),
        (Layout.HISTORICAL, "evaluation/inputs"),
        (Layout.HISTORICAL, "inputs"),
    ]


def _laid_out(root: Path, layout: Layout, base: str) -> Attempt | None:
    if base == "inputs" and root.name != "evaluation":
        return None
    ordinals = _folders(root, base, _ORDINAL)
    if not ordinals and layout is Layout.CURRENT:
        ordinals = []
        if not (root / "steps").is_dir() and not _has_wire(root):
            return _invocations(root)
    if not ordinals and not (layout is Layout.CURRENT and (root / "steps").is_dir()):
        return None
    attempt = Attempt(root, layout, [InputFolder(name, f"{base}/{name}") for name in ordinals])
    for entry in sorted(os.scandir(root / base), key=lambda item: item.name) if (root / base).is_dir() else ():
        if entry.is_dir(follow_symlinks=False) and entry.name not in ordinals:
            message = "the folder's name is no four digits of an Input; what is in it was not read"
            attempt.notices.append(Notice("unread_folder", message, f"{base}/{entry.name}"))
    for folder in attempt.inputs:
        _input_sources(attempt, folder)
    _wire_sources(attempt)
    _tell_unread(attempt, "", "logs", base)
    _finish(attempt)
    return attempt


def _has_wire(root: Path) -> bool:
    return any((root / "logs" / f"network.jsonl{suffix}").exists() for suffix in ("", *_PACKED))


def _invocations(root: Path) -> Attempt | None:
    names = _folders(root, "", _INVOCATION)
    if not names or (root / "evaluation" / "inputs").exists():
        return None
    attempt = Attempt(root, Layout.INVOCATION)
    for number, name in enumerate(names, 1):
        folder = InputFolder(f"{number:04d}", f"{name}/output")
        attempt.inputs.append(folder)
        _input_sources(attempt, folder)
        _recorder(attempt, (f"{name}/output/network.jsonl",), SourceKind.WIRE)
    _wire_sources(attempt)
    _tell_unread(attempt, "", "logs")
    _finish(attempt)
    return attempt


def _tell_unread(attempt: Attempt, *folders: str) -> None:
    """Files that bear a recorder's name, and that it rotated, packed or left behind in a form that is not read."""
    told = {notice.path for notice in attempt.notices} | {source.path for source in attempt.sources}
    for folder in (*folders, *(one.path for one in attempt.inputs)):
        there = attempt.root / folder
        for name in sorted(os.listdir(there)) if there.is_dir() else ():
            path = f"{folder}/{name}" if folder else name
            if _RECORDED.fullmatch(name) is None or _OTEL_METRICS.fullmatch(name) or path in told:
                continue
            if not (there / name).is_dir():
                message = "a file with the name of a recorder's was not read: nothing tells what it is"
                attempt.notices.append(Notice("second_source", message, path))


def _wire_sources(attempt: Attempt) -> None:
    """The interceptor's file of the whole attempt; it must be there where a recorder beside it wrote one."""
    found = _recorder(attempt, ("logs/network.jsonl", "network.jsonl"), SourceKind.WIRE)
    if not found and not attempt.of(SourceKind.WIRE) and attempt.of(SourceKind.FRAMEWORK, SourceKind.ACP):
        attempt.notices.append(Notice("missing_source", "no file of the interceptor is there", "logs/network.jsonl"))


def _recorder(attempt: Attempt, paths: tuple[str, ...], kind: SourceKind, ordinal: str | None = None) -> bool:
    """The first of a recorder's files, plain or packed; one more of them is not read, and that is told."""
    found = False
    for path in [path + suffix for path in paths for suffix in ("", *_PACKED)]:
        if not found:
            found = _add(attempt, path, kind, ordinal)
        elif (attempt.root / path).exists():
            message = "a second file of this recorder was not read: nothing tells how the two go together"
            attempt.notices.append(Notice("second_source", message, path))
    return found


def _input_sources(attempt: Attempt, folder: InputFolder) -> None:
    _recorder(attempt, (f"{folder.path}/framework.jsonl",), SourceKind.FRAMEWORK, folder.ordinal)
    _recorder(attempt, (f"{folder.path}/acp-events.jsonl",), SourceKind.ACP, folder.ordinal)
    directory = attempt.root / folder.path
    for entry in sorted(os.scandir(directory), key=lambda item: item.name):
        name = entry.name
        if entry.is_dir(follow_symlinks=False) or _OTEL_METRICS.fullmatch(name):
            continue
        if name.startswith("session-") and _plain(name).endswith(_TRACE_SUFFIXES):
            _add(attempt, f"{folder.path}/{name}", SourceKind.OTLP_TRACES, folder.ordinal)
            continue
        if not name.startswith("otel"):
            continue
        if _plain(name) == "otel-live.jsonl":
            kind = SourceKind.ABB_OTEL_LIVE
        elif _OTEL_LOGS.fullmatch(name):
            kind = SourceKind.OTLP_LOGS
        elif _plain(name).endswith(_TRACE_SUFFIXES) and name != "otel-status.json":
            kind = SourceKind.OTLP_TRACES
        else:
            continue
        _add(attempt, f"{folder.path}/{name}", kind, folder.ordinal)


def _plain(name: str) -> str:
    """The name without what packing and rotation add: `otel.jsonl` of `otel.jsonl.2.gz`."""
    for _ in range(2):
        for suffix in _PACKED:
            name = name.removesuffix(suffix)
        name = _ROTATED.sub("", name)
    return name


def _kind(file: Path) -> SourceKind | None:
    """What a file of a folder of traces holds, by its first bytes, else by its name; None for a saved trajectory and
    for records of a recorder that tells of no step. Raises `EvidenceError` where it cannot be read."""
    descriptor = open_source(file)
    try:
        head = os.read(descriptor, _LOOK)
    finally:
        os.close(descriptor)
    if _SAVED.match(head) is not None:
        return None
    if b'"abb.observe.event.v1"' in head.split(b"\n", 1)[0]:
        said = _RECORDER.search(head.split(b'"data"', 1)[0])
        if said is not None:
            return _RECORDERS.get(said[1])
    if holds_exchanges(file, head):
        return SourceKind.WIRE
    return _NAMED.get(_plain(file.name), SourceKind.OTLP_TRACES)


def _bare(root: Path) -> Attempt:
    attempt = Attempt(root, Layout.BARE)
    passed_over = 0
    unopened: list[str] = []
    for folder, names, files in os.walk(root, followlinks=False):
        names.sort()
        _refuse_attempts_below(root, Path(folder), names)
        for name in sorted([*names, *files]):
            file = Path(folder) / name
            relative = file.relative_to(root).as_posix()
            if file.is_symlink():
                if name in names or _plain(name).endswith(_TRACE_SUFFIXES):
                    attempt.notices.append(Notice("symlink_refused", "a symbolic link is not followed", relative))
                continue
            if name in names:
                continue
            if not _plain(name).endswith(_TRACE_SUFFIXES):
                if not name.startswith("."):
                    unopened.append(relative)
                continue
            if _OTEL_METRICS.fullmatch(name):
                continue
            try:
                kind = _kind(file)
            except EvidenceError as err:
                attempt.notices.append(Notice("unreadable_source", str(err), relative))
                continue
            if kind is not None:
                attempt.sources.append(Source(relative, kind, file))
            else:
                passed_over += 1
    if not attempt.sources:
        if attempt.notices:
            raise EvidenceError(f"{attempt.notices[0].path}: {attempt.notices[0].message}", hint="copy the files here")
        if passed_over:
            what = "saved trajectories, or records that tell of no step"
            raise EvidenceError(
                f"no evidence in {root.name}: {passed_over} files are {what}",
                hint="`show`, `view`, `compare` and `export` read what is saved",
            )
        what = f"no file of {root.name} has a name of a form that is read: {some_of(unopened, 3)}"
        raise EvidenceError(
            what if unopened else f"no file is in {root.name}",
            hint="expected steps/NNNN/, evaluation/inputs/NNNN/, invocation-*/output/, or files of OTLP traces;"
            " a file that is given by itself is read whatever its name, and `otel2traj info --forms` lists the forms",
        )
    if unopened:
        message = (
            f"{len(unopened)} files were not opened, since no form that is read has such a name: {some_of(unopened, 3)}"
        )
        packed = any(_plain(name.rpartition(".")[0]).endswith(_TRACE_SUFFIXES) for name in unopened)
        attempt.notices.append(Notice("unopened_file", message, lossy=packed))
    _finish(attempt)
    return attempt


def _refuse_attempts_below(root: Path, folder: Path, names: list[str]) -> None:
    """Several attempts read as one heap of traces would be tied to each other by nothing that was recorded."""
    for base in ("steps", "evaluation"):
        inner = folder / base if base == "steps" else folder / base / "inputs"
        if folder != root and base in names and inner.is_dir() and any(map(_ORDINAL.fullmatch, os.listdir(inner))):
            raise EvidenceError(
                f"{folder.relative_to(root).as_posix()} is an attempt of its own",
                hint="build the attempts below a folder with --recursive, or give one of them",
            )


def _add(attempt: Attempt, path: str, kind: SourceKind, ordinal: str | None = None) -> bool:
    file = safe_join(attempt.root, path)
    if file is None:
        return False
    attempt.sources.append(Source(path, kind, file, ordinal))
    return True


def _finish(attempt: Attempt) -> None:
    attempt.sources.sort(key=lambda source: source.path)
