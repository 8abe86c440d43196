"""Spans and log records of an SDK in the same process, into the same segment log as the receiver's.

https://opentelemetry.io/docs/specs/otel/trace/sdk/#span-exporter. A forked child opens a log file of its own. At
shutdown the log becomes attempts, and trajectories when asked.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from ..errors import RefusedError, UsageError
from .claims import ATTEMPT_KEYS
from .derive import Build, Deriver
from .layout import LOG
from .segments import Content, Encoding, Signal
from .spool import Busy, Spool

_DEFAULT_OUT: Final = "otel2traj-out"
_SHUTDOWN_WAIT: Final = 10.0
"""Seconds to wait for another process that derives in the same directory."""
_log = logging.getLogger("otel2traj.exporter")


@dataclass(frozen=True, slots=True)
class ExporterSettings:
    """`out`: the output directory. `sync`: force bodies to the disk before an export returns. `build`: build
    trajectories at shutdown. `attempt_id`: the attempt that everything of this process belongs to."""

    out: Path = Path(_DEFAULT_OUT)
    sync: bool = True
    build: bool = False
    attempt_id: str | None = None


def read_settings(given: Mapping[str, Any], environ: Mapping[str, str]) -> ExporterSettings:
    """Settings of a declarative configuration, each else from `OTEL2TRAJ_OUT`, `_SYNC`, `_BUILD`, `_ATTEMPT_ID`.

    Raises `UsageError` for a name or value it does not know.
    """
    names = ("out", "sync", "build", "attempt_id")
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise UsageError(f"unknown exporter setting {unknown[0]!r}", hint=f"one of: {', '.join(names)}")

    def value(name: str) -> Any:
        found = given.get(name)
        return environ.get(f"OTEL2TRAJ_{name.upper()}") if found is None else found

    out, attempt = value("out"), value("attempt_id")
    return ExporterSettings(
        out=Path(_DEFAULT_OUT if out is None or out == "" else str(out)).absolute(),
        sync=_flag("sync", value("sync"), default=True),
        build=_flag("build", value("build"), default=False),
        attempt_id=None if attempt is None or attempt == "" else str(attempt),
    )


def _flag(name: str, value: Any, *, default: bool) -> bool:
    if value is None or value == "":
        return default
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    raise UsageError(f"exporter setting {name} is {value!r}", hint="true or false")


class Journal:
    """The log of one process, opened at the first export and again after a fork."""

    def __init__(self, settings: ExporterSettings, signal: Signal, build: Build | None) -> None:
        self._settings = settings
        self._signal = signal
        self._build = build
        self._lock = threading.Lock()
        self._spool: Spool | None = None
        self._pid = os.getpid()
        self._closed = False
        _JOURNALS.add(self)

    def write(self, request: Any, items: int) -> bool:
        """Append one Export request; False when it could not be stored, or after `close`."""
        if self._closed:
            return False
        if self._settings.attempt_id is not None:
            _name_attempt(request, self._settings.attempt_id)
        body = request.SerializeToString()
        try:
            self._opened().append_and_wait(self._signal, Content.PROTOBUF, Encoding.IDENTITY, items, body)
        except (Busy, OSError) as err:
            _log.warning("a batch of %d items could not be stored: %s", items, err)
            return False
        return True

    def close(self) -> None:
        """Close the log, then derive what is in it. Another process that is deriving right now does it instead."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            spool, self._spool = self._spool, None
        if spool is None:
            return
        spool.close()
        self._derive()

    def after_fork(self) -> None:
        """In the child: leave the parent's file to the parent."""
        self._lock = threading.Lock()
        spool, self._spool = self._spool, None
        self._pid = os.getpid()
        if spool is not None:
            spool.close_inherited()

    def _opened(self) -> Spool:
        with self._lock:
            if self._pid != os.getpid() and self._spool is not None:  # forked where no hook runs
                self._spool.close_inherited()
                self._spool = None
                self._pid = os.getpid()
            if self._spool is None:
                self._settings.out.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._spool = Spool(self._settings.out / LOG, sync=self._settings.sync, min_free=0)
            return self._spool

    def _derive(self) -> None:
        end = time.monotonic() + _SHUTDOWN_WAIT
        while True:
            try:
                build = self._build if self._settings.build else None
                deriver = Deriver(self._settings.out, build, None, tell=_told)
                break
            except RefusedError:
                if time.monotonic() > end:
                    _log.warning("another process derives in %s; it will take up what is new", self._settings.out)
                    return
                time.sleep(0.05)
            except (OSError, sqlite3.Error) as err:
                _log.warning("attempts cannot be written: %s", err)
                return
        try:
            deriver.router.drain()
            deriver.build_all()
        except (OSError, sqlite3.Error) as err:
            _log.warning("attempts cannot be written: %s", err)
        finally:
            deriver.close()


def _told(event: str, what: dict[str, Any]) -> None:
    """What went wrong while deriving, as warnings: a program that exports in process has no other place for them."""
    if event == "failed":
        _log.warning("attempts/%s: build failed: %s", what["folder"], what["message"])
    elif event == "aside":
        _log.warning("the state was set aside (%s); everything is derived again from the log", what["message"])


_JOURNALS: weakref.WeakSet[Journal] = weakref.WeakSet()


def _after_fork() -> None:
    for journal in list(_JOURNALS):
        journal.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _name_attempt(request: Any, attempt_id: str) -> None:
    entries = request.resource_spans if hasattr(request, "resource_spans") else request.resource_logs
    for entry in entries:
        pair = entry.resource.attributes.add()
        pair.key = ATTEMPT_KEYS[0]
        pair.value.string_value = attempt_id


class JournalSpanExporter(SpanExporter):
    """A span exporter that writes the segment log."""

    build: Callable[[Path], object] | None = None

    def __init__(self, **settings: Any) -> None:
        self._journal = Journal(read_settings(settings, os.environ), Signal.TRACES, type(self).build)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if not spans:
            return SpanExportResult.SUCCESS
        stored = self._journal.write(encode_spans(spans), len(spans))
        return SpanExportResult.SUCCESS if stored else SpanExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Every export is stored when it returns, so there is nothing to flush."""
        return True

    def shutdown(self) -> None:
        self._journal.close()


class JournalLogExporter(LogRecordExporter):
    """A log record exporter that writes the segment log."""

    build: Callable[[Path], object] | None = None

    def __init__(self, **settings: Any) -> None:
        self._journal = Journal(read_settings(settings, os.environ), Signal.LOGS, type(self).build)

    def export(self, batch: Sequence[Any]) -> LogRecordExportResult:
        if not batch:
            return LogRecordExportResult.SUCCESS
        stored = self._journal.write(encode_logs(batch), len(batch))
        return LogRecordExportResult.SUCCESS if stored else LogRecordExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 10000) -> bool:
        """Every export is stored when it returns, so there is nothing to flush."""
        return True

    def shutdown(self) -> None:
        self._journal.close()
