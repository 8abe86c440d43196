"""One recording from begin to end: servers up, variables set, file changes taken, documents written."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ..canonical import JsonObject, dumps_pretty
from ..errors import RefusedError, UsageError, WriteError
from ..files import PREFIX, replacing
from ..timestamps import format_ns
from .child import End
from .environment import telemetry
from .intercept import Intercept, find_mitmdump
from .otlp import OtlpLog
from .secrets import Masker, from_environment
from .servers import Servers
from .upstreams import routes
from .wire import WireLog
from .workspace import Workspace

STEP: Final = "steps/0001"
SCHEMA: Final = "otel2traj.recording.v1"
_RESERVES: Final = (1 << 20, 1 << 16)
"""Bytes kept back, the most that there is room for, so that a full disk still takes how the run ended."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to record. `out` becomes the attempt directory; `limit` bounds each recorded body, in bytes."""

    out: Path
    input: str | None = None
    workspace: Path | None = None
    files: bool = True
    upstreams: Mapping[str, str] = field(default_factory=dict)
    limit: int = 64 << 20
    agent: str | None = None
    instrument: bool = False
    proxy: bool = False


class Recorder:
    """Started when it is made; `env` is what the command needs on top of the user's own. Raises `RefusedError` where
    `out` holds something, `UsageError` for a bad setting or where it cannot be written."""

    def __init__(self, options: Options, env: Mapping[str, str], command: Sequence[str]) -> None:
        self.options = options
        self.run_id = f"run-{secrets.token_hex(6)}"
        self.masker = Masker(from_environment(env))
        self.command = self.masker.command(command)
        self.agent = options.agent or (Path(command[0]).name if command else "python")
        self.remarks: list[str] = []
        found = routes(env, options.upstreams)
        mitmdump = find_mitmdump() if options.proxy else None
        step = self._step
        try:
            if options.out.exists() and any(options.out.iterdir()):
                raise RefusedError(f"{options.out} is not empty", hint="give another --out")
            step.mkdir(mode=0o700, parents=True)
            self._wire = WireLog(
                options.out / "logs/network.jsonl", self.run_id, self.agent, self.masker, options.limit
            )
            self._otlp = OtlpLog(options.out)
            self._write_begin()
            self._reserve = options.out / f"{PREFIX}reserve.tmp"
            self._keep_back()
        except OSError as err:
            raise UsageError(f"{options.out} cannot be written: {err.strerror}", hint="give another --out") from err
        self._workspace = None
        if options.files:
            self._workspace = Workspace(options.workspace or Path.cwd(), options.out)
        self._servers = Servers(self._otlp, found, self._wire, self.masker, limit=options.limit)
        self.otlp = self._servers.otlp
        self.ports = {route.name: route.local(self._servers.ports[route.name]) for route in found}
        self.env = telemetry(self.otlp, self.run_id, env)
        for route in found:
            self.env |= dict.fromkeys(route.variables, self.ports[route.name])
        for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_EXPORTER"):
            if env.get(name):
                self.remarks.append(f"{name} is set and was left as it is: spans may go elsewhere")
        self._intercept: Intercept | None = None
        local = "127.0.0.1,localhost"
        if mitmdump is not None:
            try:
                self._intercept = Intercept(mitmdump, self._servers.any_port, self._servers.token, env)
            except UsageError:
                self._servers.close()
                raise
            self.env |= self._intercept.env
            local = "127.0.0.1"
        both = {**env, **self.env}
        for name in ("NO_PROXY", "no_proxy"):
            if any(both.get(proxy) for proxy in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")):
                self.env[name] = f"{env[name]},{local}" if env.get(name) else local
        if options.instrument:
            folder = str(Path(__file__).parent / "instrument")
            path = env.get("PYTHONPATH")
            self.env["PYTHONPATH"] = folder if not path else f"{folder}{os.pathsep}{path}"
            self.env["OTEL2TRAJ_INSTRUMENT_REPORT"] = str(options.out.absolute() / "instrument.txt")
        self.started_ns = time.time_ns()

    @property
    def _step(self) -> Path:
        return self.options.out / STEP

    @property
    def sessions(self) -> list[str]:
        """The agent's own ids of its sessions, as its calls named them."""
        return list(self._wire.sessions)

    def keep(self, files: Mapping[str, Path | bytes]) -> None:
        """The agent's own session files into the attempt, without credentials."""
        for name, file in files.items():
            try:
                data = file if isinstance(file, bytes) else file.read_bytes()
                (self._step / f"session-{name}").write_bytes(self.masker.data(data))
            except OSError as err:
                self.remarks.append(f"{name} could not be kept: {err.strerror}")

    def finish(self, end: End) -> None:
        """Stop the servers and write what is known of the end. Everything that can be kept is kept: a step that fails
        becomes a remark."""
        ended = end.time_ns
        if self._intercept is not None:
            self._intercept.close()
        self._servers.close()
        self._wire.close()
        self._reserve.unlink(missing_ok=True)
        if self._wire.lost:
            self.remarks.append(f"{self._wire.lost} wire records could not be written")
        if not self._wire.calls:
            self.remarks.append("no model call was seen on the wire")
        if self._wire.passed:
            hosts = ", ".join(f"{host} ({count})" for host, count in sorted(self._wire.passed.items()))
            self.remarks.append(f"--proxy: passed and not kept, no model calls: {hosts}")
        report = self.options.out / "instrument.txt"
        if report.is_file():
            self.remarks.append(f"--instrument: {report.read_text('utf-8', 'replace')}")
            report.unlink()
        if self._otlp.refused:
            self.remarks.append(f"{self._otlp.refused} messages of telemetry could not be written")
        result = self._result(end, ended)
        self._try("result.json", result)
        if self._workspace is not None:
            self._try("file-evidence.json", self._workspace.evidence(self.masker))
        run: JsonObject = {
            "schema": "abb.observe.run.v1",
            "run_id": self.run_id,
            "agent_id": self.agent,
            "status": "interrupted" if end.interrupted else result["status"],
        }
        if self.options.input is not None:
            run["input"] = {"payload": self.masker.text(self.options.input)}
        self._try("../../run.json", run)
        counts: dict[str, int] = {}
        try:
            counts = self._otlp.lay_out(self._step, self.masker)
        except OSError as err:
            self.remarks.append(f"the telemetry log could not be laid out: {err.strerror}")
        recording: JsonObject = {
            "schema": SCHEMA,
            "run_id": self.run_id,
            "command": self.command,
            "started_at": format_ns(self.started_ns),
            "ended_at": format_ns(ended),
            "exit_status": result["exit_status"],
            "variables": sorted(self.env),
            "upstreams": sorted(self.ports),
            "wire_calls": self._wire.calls,
            "telemetry": counts,
            "remarks": self.remarks,
        }
        self._try("../../recording.json", recording)

    def _result(self, end: End, ended: int) -> JsonObject:
        failed = end.error is not None or end.signal is not None or end.code not in (0, None)
        error = end.error
        if error is None and end.signal is not None:
            error = f"the command was ended by {end.signal}"
        if error is None and failed:
            error = f"the command exited with {end.code}"
        return {
            "status": "cancelled" if end.interrupted else "failed" if failed else "succeeded",
            "output": None,
            "error": error,
            "exit_status": {"exitCode": end.code, "signal": end.signal},
            "command": self.command,
            "started_at": format_ns(self.started_ns),
            "ended_at": format_ns(ended),
        }

    def _keep_back(self) -> None:
        for size in _RESERVES:
            try:
                self._reserve.write_bytes(bytes(size))
                return
            except OSError:
                self._reserve.unlink(missing_ok=True)

    def _write_begin(self) -> None:
        """The Input, before anything runs: it stands whatever becomes of us."""
        input_id = f"{self.run_id}-0001"
        given: JsonObject = {"run_id": self.run_id, "input_id": input_id, "index": 0, "payload_type": "text"}
        request: JsonObject = {
            "schema": "abb.invocation.v1",
            "run_id": self.run_id,
            "session_id": self.run_id,
            "agent_id": self.agent,
            "observation_context": {"input_id": input_id},
        }
        if self.options.input is not None:
            given["payload"] = request["input"] = self.masker.text(self.options.input)
        given |= {"schema_version": "defuzex.input.v1", "extensions": {}}
        (self._step / "input.json").write_bytes(dumps_pretty(given))
        (self._step / "request.json").write_bytes(dumps_pretty(request))

    def _try(self, name: str, value: JsonObject) -> None:
        file = Path(os.path.normpath(self._step / name))
        try:
            with replacing(file) as out:
                out.write(self.masker.data(dumps_pretty(value)))
        except WriteError as err:
            self.remarks.append(str(err))
