"""Evidence to trajectory files, written whole or not at all."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from ..auditors.trajectory import TrajectoryInvariants
from ..auditors.trajectory_schema import document_findings, step_findings
from ..canonical import JsonObject, sha256_hex
from ..errors import EvidenceError, NothingRecordedError, Otel2TrajError, RefusedError, UsageError, WriteError
from ..files import is_stream, replacing
from ..model.trajectory import Header, StepSink, Summary, TrajectoryStatus
from ..renderers.safe import inline
from ..writers.trajectory import TrajectoryWriter
from .runs import find_attempts
from .source import drive, value_limit

if TYPE_CHECKING:
    from ..assembly import BuildSession, Conversation

Progress = Callable[[str, int], None]
Sinks = Callable[[str | None], list[StepSink]]
"""Makes the sinks for the trajectory of a conversation, by its name."""
Share = Callable[[int, int], AbstractContextManager[Sinks]]
"""What makes the sinks for one share of the conversations, by its number and how many shares there are; entered and
left in the process that builds the share."""
_LONGEST_NAME = 200
_Task = tuple[Path, Path, bool, Path | None, bool]


@dataclass(frozen=True, slots=True)
class Built:
    """One trajectory that was built. `file` is None where nothing was to be written."""

    conversation: str | None
    summary: Summary
    file: Path | None
    bug: Exception | None = None
    """What a failed build ended in, where the evidence is not to blame."""

    @property
    def failed(self) -> bool:
        return self.summary.status is TrajectoryStatus.FAILED

    def describe(self) -> str:
        """One line for people: what came out."""
        name = "" if self.conversation is None else f"{inline(self.conversation)}: "
        if self.summary.error is not None:
            return f"{name}failed: {inline(str(self.summary.error['message']))}"
        coverage = self.summary.coverage
        steps = coverage.model_calls + coverage.unlinked_tool_calls
        return (
            f"{name}{self.summary.status}: {steps} steps, {coverage.model_calls} model calls,"
            f" {coverage.tool_calls} tool calls, {len(self.summary.warnings)} warnings"
        )


@dataclass(frozen=True, slots=True)
class Line:
    """What became of one attempt of many."""

    text: str
    failed: bool
    bug: bool = False


def build_path(
    path: Path,
    *,
    write: bool = False,
    output: Path | None = None,
    inference: bool = True,
    progress: Progress | None = None,
    jobs: int = 1,
    share: Share | None = None,
    share_size: int = 0,
) -> list[Built]:
    """Build an attempt directory, a folder of traces or a trace file.

    `write` saves `trajectory.json` beside the evidence; `output` names a file, or, where the evidence holds several
    conversations, a directory that gets one file each. A build that cannot be done is saved with `status: failed`
    and its error. `jobs` processes share the conversations, where the system can fork; the bytes are those of one.
    `share` makes further sinks for every `share_size` conversations.
    """
    limit = value_limit()
    if not path.exists() and not path.is_symlink():
        raise EvidenceError(f"there is no {path}", hint="give an attempt directory or a trace file")
    from ..assembly import BuildSession

    built: list[Built] = []
    try:
        with BuildSession(path, inference=inference, progress=progress) as session:
            several = len(session.conversations) > 1
            if several and output is not None and (output.is_file() or is_stream(output)):
                raise UsageError(
                    f"{len(session.conversations)} conversations are recorded here, and {output.name} is a file",
                    hint="give a directory to -o, or name one conversation",
                )
            tasks = [(one, _target(path, write, output, one.name, several)) for one in session.conversations]
            size = share_size or max(1, len(tasks) // (jobs * _SHARES))
            shares = [tasks[at : at + size] for at in range(0, len(tasks), size)]
            for done in _shared_out(_Job(session, path, limit, share or _no_share, shares), jobs):
                built.extend(done)
            if not built:
                raise NothingRecordedError(session.what_was_read())
    except (WriteError, UsageError, RefusedError):
        raise
    except Exception as err:
        given_up = err if isinstance(err, Otel2TrajError) else Otel2TrajError(str(err))
        file = _target(path, write, output, None, False)
        with (share or _no_share)(0, 1) as sinks:
            built.append(_failed(path, file, None, limit, err, given_up, sinks))
    return built


@contextmanager
def _no_share(number: int, shares: int) -> Iterator[Sinks]:
    yield lambda name: []


def _failed(
    path: Path,
    file: Path | None,
    name: str | None,
    limit: int,
    err: Exception,
    given_up: Otel2TrajError,
    sinks: Sinks,
) -> Built:
    """The trajectory of a build that could not be done."""
    summary = Summary(TrajectoryStatus.FAILED, error={"type": type(err).__name__, "message": _plain(err, path)})
    summary.sources, summary.warnings = list(given_up.sources), list(given_up.warnings)
    with _writing(file, limit) as writer:
        for sink in [*writer, *sinks(name)]:
            sink.begin(Header())
            sink.end(summary)
    return Built(name, summary, file, None if isinstance(err, (Otel2TrajError, OSError, MemoryError)) else err)


Task = tuple["Conversation", Path | None]


@dataclass(frozen=True, slots=True)
class _Job:
    """The conversations of one piece of evidence, to be built each into its file."""

    session: BuildSession
    path: Path
    limit: int
    share: Share
    shares: list[list[Task]]

    def build(self, number: int) -> list[Built]:
        """One share."""
        with self.share(number, len(self.shares)) as sinks:
            return [self._conversation(*task, sinks) for task in self.shares[number]]

    def _conversation(self, conversation: Conversation, file: Path | None, sinks: Sinks) -> Built:
        """A conversation that cannot be built is a file that says so; a file that cannot be written is raised."""
        try:
            with _writing(file, self.limit) as writer:
                summary = self.session.build(conversation, _Checked(), *writer, *sinks(conversation.name))
            return Built(conversation.name, summary, file)
        except WriteError:
            raise
        except Exception as err:
            given_up = err if isinstance(err, Otel2TrajError) else Otel2TrajError(str(err))
            self.session.read_so_far(given_up)
            return _failed(self.path, file, conversation.name, self.limit, err, given_up, sinks)


class _Checked:
    """A sink before all others: what the invariants of a trajectory forbid does not leave, it is a bug of the build."""

    def __init__(self) -> None:
        from ..assembly.warnings import CODES, LOSSY

        self._auditor = TrajectoryInvariants(CODES, LOSSY, saved=False)
        self.begin, self.step = self._auditor.begin, self._auditor.step

    def end(self, summary: Summary) -> None:
        self._auditor.end(summary)
        found = self._auditor.findings()
        if found:
            told = "; ".join(f"{one.rule} at {one.pointer}: {one.message}" for one in found[:5])
            raise AssertionError(f"the trajectory breaks {len(found)} of its own invariants: {told}")


def _check(written: JsonObject, number: int | None) -> None:
    """What the schema forbids does not leave either."""
    found = list(document_findings(written) if number is None else step_findings(written, number))
    if found:
        told = "; ".join(f"{one.pointer}: {one.message}" for one in found[:5])
        raise AssertionError(f"the trajectory breaks its own schema in {len(found)} places: {told}")


_inherited: list[_Job] = []
"""What forked workers find in their memory: the evidence is read and indexed once, by their parent."""
_SHARES: Final = 8
"""Into how many shares the work of each process is cut, so that none waits long for the last."""


def _shared_out(job: _Job, jobs: int) -> Iterator[list[Built]]:
    """Build the shares, in worker processes where there are several, the results in their order."""
    from multiprocessing import get_all_start_methods, get_context

    numbers = range(len(job.shares))
    if jobs == 1 or len(numbers) < 2 or "fork" not in get_all_start_methods():
        yield from map(job.build, numbers)
        return
    from concurrent.futures import ProcessPoolExecutor  # not before: it cannot be imported while Python ends

    _inherited.append(job)
    try:
        with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
            yield from pool.map(_build_inherited, numbers)
    finally:
        _inherited.pop()


def _build_inherited(number: int) -> list[Built]:
    return _inherited[-1].build(number)


def _plain(err: Exception, path: Path) -> str:
    """The message without the place of the evidence on this machine."""
    text = str(err)
    for place in (str(path.absolute()), str(path)):
        if place not in ("", "."):
            text = text.replace(place, path.name)
    return text


def _target(path: Path, write: bool, output: Path | None, name: str | None, several: bool) -> Path | None:
    if output is not None:
        if several or output.is_dir():
            return output / f"{safe_name(name or path.name)}.json"
        return output
    if not write:
        return None
    folder = path if path.is_dir() else path.parent
    if several:
        return folder / f"trajectory-{safe_name(name or '')}.json"
    return folder / ("trajectory.json" if path.is_dir() else f"{path.name}.trajectory.json")


def safe_name(name: str) -> str:
    """A file name from a recorded id: what is not plain is written as its code, and a long id ends in its digest, so
    that no two ids meet."""
    whole = re.sub(r"[^A-Za-z0-9._-]|^\.", lambda m: f"%{ord(m.group()):02X}", name)
    if len(whole) > _LONGEST_NAME:
        whole = f"{whole[: _LONGEST_NAME - 17]}-{sha256_hex(name.encode('utf-8', 'surrogatepass'))[:16]}"
    return whole or "unnamed"


@contextmanager
def _writing(file: Path | None, limit: int) -> Iterator[list[StepSink]]:
    """A sink that saves the trajectory under `file` once it is whole; an existing file is never left half-written."""
    if file is None:
        yield []
        return
    with replacing(file) as stream:
        yield [TrajectoryWriter(limit, _check).sink(stream)]


def print_bytes(
    path: Path, out: BinaryIO, *, inference: bool = True, progress: Progress | None = None, jobs: int = 1
) -> list[Built]:
    """Build and write the documents to a stream, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        built = build_path(path, output=Path(folder), inference=inference, progress=progress, jobs=jobs)
        for item in built:
            assert item.file is not None
            with item.file.open("rb") as stream:
                shutil.copyfileobj(stream, out)
        out.flush()
    return [Built(item.conversation, item.summary, None, item.bug) for item in built]


def build_many(
    root: Path, *, jobs: int = 1, write: bool = False, output: Path | None = None, inference: bool = True
) -> Iterator[Line]:
    """Build every attempt below `root`, in sorted order whatever the number of worker processes.

    Raises `UsageError` where nothing would be written, or where there is no attempt.
    """
    if not write and output is None:
        raise UsageError("--recursive needs --write or -o DIR", hint="say where the trajectories go")
    attempts = find_attempts(root)
    if not attempts:
        raise EvidenceError(
            f"there is no attempt below {root}", hint="an attempt has steps/, evaluation/, run.json or otel.jsonl"
        )
    tasks = [(path, root, write, output, inference) for path in attempts]
    if jobs == 1:
        yield from map(_build_one, tasks)
        return
    yield from _in_processes(tasks, jobs)


def _in_processes(tasks: list[_Task], jobs: int) -> Iterator[Line]:
    """In order. A worker that dies takes along what was under way beside it: each of that is tried once more, alone."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    spawn = get_context("spawn")
    waiting = deque(tasks)
    while waiting:
        with ProcessPoolExecutor(jobs, mp_context=spawn) as pool:
            try:
                for line in pool.map(_build_one, tuple(waiting)):
                    waiting.popleft()
                    yield line
                return
            except BrokenProcessPool:
                pass
        task = waiting.popleft()
        with ProcessPoolExecutor(1, mp_context=spawn) as pool:
            try:
                yield pool.submit(_build_one, task).result()
            except BrokenProcessPool:
                yield Line(f"{inline(_name(task))}: error: the process that built it died", True)


def _name(task: _Task) -> str:
    path, root = task[:2]
    return path.relative_to(root).as_posix() if path != root else path.name


def _build_one(task: _Task) -> Line:
    path, _, write, output, inference = task
    name = _name(task)
    target = None if output is None else output / f"{safe_name(name)}.json"
    try:
        built = build_path(path, write=write, output=target, inference=inference)
    except Otel2TrajError as err:
        return Line(f"{inline(name)}: error: {inline(str(err))}", True)
    except Exception as err:  # one attempt never costs the others
        return Line(f"{inline(name)}: error: {inline(f'{type(err).__name__}: {err}')}", True, True)
    told = "\n".join(f"{inline(name)}: {item.describe()}" for item in built)
    return Line(told, any(item.failed for item in built), any(item.bug is not None for item in built))


def build_bytes(path: Path, *, inference: bool = True) -> bytes:
    """The trajectory file of evidence that holds one conversation, as bytes."""
    with tempfile.TemporaryFile() as stream:
        drive(path, TrajectoryWriter(value_limit()).sink(stream), inference=inference)
        stream.seek(0)
        return stream.read()
