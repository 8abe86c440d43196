"""What the receiver knows about itself, as pages: health, Prometheus text, and HTML for people."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import parse_qs, quote, unquote

from .. import canonical
from .asgi import Page, Shown
from .intake import Intake
from .layout import ATTEMPTS, LOG, STATE
from .segments import segment_files
from .state import AttemptRow, State

_PREFIX: Final = "otel2traj_receiver_"
_STYLE: Final = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #ddd}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}code{font-size:.95em}.bad{color:#a00}.dim{color:#666}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}
th,td{border-color:#444}.bad{color:#f77}.dim{color:#999}}
"""


View = Callable[[Path], bytes | None]
"""Makes the page of the trajectory in an attempt directory; None where there is none."""


class Watched(Protocol):
    """What the pages ask of the deriving side."""

    lag_seconds: float
    restarts: int

    def trouble(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Facts:
    """What the pages are made from."""

    root: Path
    intake: Intake
    version: str
    derive: Watched | None = None
    stopping: Callable[[], bool] = lambda: False
    view: View | None = None

    def trouble(self) -> str | None:
        return None if self.derive is None else self.derive.trouble()


def pages(facts: Facts) -> dict[str, Page]:
    """GET paths of the receiver."""
    html, text = b"text/html; charset=utf-8", b"text/plain; version=0.0.4; charset=utf-8"
    return {
        "/": lambda query: Shown(html, status_page(facts, _asked(query))),
        "/attempts/": lambda rest: _attempt(facts, rest),
        "/healthz": lambda query: health(facts),
        "/readyz": lambda query: ready(facts),
        "/metrics": lambda query: Shown(text, metrics_text(facts)),
    }


def _asked(query: str) -> str:
    return parse_qs(query).get("q", [""])[0]


def health(facts: Facts) -> Shown:
    """200 `ok`, or 503 and why bodies are refused or nothing is derived at the moment."""
    failing, trouble = facts.intake.spool.failing, facts.trouble()
    if facts.stopping():
        return _state("stopping", None, 200)
    if failing is not None:
        return _state("refusing", failing, 503)
    return _state("ok", None, 200) if trouble is None else _state("not deriving", trouble, 503)


def ready(facts: Facts) -> Shown:
    """200 while bodies are taken, 503 while they are not: full or failing disk, or a stop under way."""
    failing = facts.intake.spool.failing
    if facts.stopping():
        return _state("stopping", None, 503)
    return _state("ready", None, 200) if failing is None else _state("refusing", failing, 503)


def _state(status: str, reason: str | None, code: int) -> Shown:
    out = {"status": status} if reason is None else {"status": status, "reason": reason}
    return Shown(b"application/json", canonical.dumps(out), code)


def backlog(root: Path) -> int:
    """Bytes of the log that are not routed yet."""
    try:
        with closing(State(root / STATE, read_only=True)) as state:
            finished = state.finished_segments()
            open_ones = [path for path in segment_files(root / LOG) if path.name not in finished]
            return sum(max(0, path.stat().st_size - state.position(path.name)[0]) for path in open_ones)
    except (sqlite3.Error, FileNotFoundError):
        return sum(path.stat().st_size for path in segment_files(root / LOG))


@dataclass(slots=True)
class _Derived:
    totals: dict[str, int] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    endings: dict[str, int] = field(default_factory=dict)
    attempts: list[AttemptRow] = field(default_factory=list)


def _derived(root: Path, find: str = "") -> _Derived:
    try:
        with closing(State(root / STATE, read_only=True)) as state:
            return _Derived(state.totals(), state.notes(), state.endings(), state.attempts(find=find))
    except sqlite3.Error:
        return _Derived()


def metrics_text(facts: Facts) -> bytes:
    """Prometheus text format 0.0.4. HTTP durations are `http.server.request.duration` of the semantic conventions
    (https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/http/http-metrics.md)."""
    root, intake = facts.root, facts.intake
    figures, spool = intake.figures, intake.spool
    derived = _derived(root)
    totals, notes = derived.totals, derived.notes
    out: list[str] = []

    def family(name: str, kind: str, text: str, samples: Iterable[tuple[dict[str, str], float]]) -> None:
        out.append(f"# HELP {_PREFIX}{name} {text}\n# TYPE {_PREFIX}{name} {kind}\n")
        for labels, value in samples:
            inside = ",".join(f'{key}="{_label(text)}"' for key, text in labels.items())
            out.append(f"{_PREFIX}{name}{{{inside}}} {value}\n" if inside else f"{_PREFIX}{name} {value}\n")

    requests = sorted(figures.requests.copy().items())
    family(
        "requests_total",
        "counter",
        "Requests answered.",
        [({"transport": how, "signal": what, "status": str(code)}, n) for (how, what, code), n in requests],
    )
    by_signal = [
        ("items_total", "Items acknowledged.", figures.items),
        ("rejected_items_total", "Items rejected.", figures.rejected),
    ]
    for name, text, counter in by_signal:
        family(name, "counter", text, [({"signal": key}, n) for key, n in sorted(counter.copy().items())])
    repairs = sorted(figures.repairs.copy().items())
    family("repairs_total", "counter", "Repairs seen on acceptance.", [({"repair": key}, n) for key, n in repairs])
    family("accepted_bytes_total", "counter", "Bytes acknowledged, as they came.", [({}, figures.wire_bytes)])
    family("log_records_total", "counter", "Records written to the log.", [({}, spool.records)])
    family("log_syncs_total", "counter", "Syncs of the log.", [({}, spool.syncs)])
    family("log_refused_total", "counter", "Bodies the log refused.", [({}, spool.refused)])
    family("log_waiting_bytes", "gauge", "Bytes waiting for the disk.", [({}, spool.waiting)])
    family("log_failing", "gauge", "1 while the log cannot be written.", [({}, int(spool.failing is not None))])
    family("receiving_bytes", "gauge", "Bytes of bodies on their way.", [({}, intake.budget.used)])
    family("backlog_bytes", "gauge", "Bytes of the log not routed yet.", [({}, backlog(root))])
    trouble = facts.trouble()
    family("derive_failing", "gauge", "1 while nothing is derived.", [({}, int(trouble is not None))])
    family(
        "derive_lag_seconds",
        "gauge",
        "Age of the record routed last.",
        [({}, 0 if not facts.derive else facts.derive.lag_seconds)],
    )
    family(
        "derive_restarts_total",
        "counter",
        "Starts of the deriving process after an end.",
        [({}, 0 if not facts.derive else facts.derive.restarts)],
    )
    family(
        "log_endings_total",
        "counter",
        "Log records by how they ended.",
        [({"ending": name}, n) for name, n in derived.endings.items()],
    )
    for key in ("attempts", "unbuilt", "failed", "no_agent"):
        family(
            f"attempts_{key}" if key != "attempts" else key, "gauge", f"Attempts: {key}.", [({}, totals.get(key, 0))]
        )
    family(
        "derive_notes_total",
        "counter",
        "Repairs and losses found on routing.",
        [({"note": k}, n) for k, n in notes.items()],
    )
    out.append(figures.durations.text())
    return "".join(out).encode()


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def status_page(facts: Facts, find: str = "") -> bytes:
    """One self-contained page; every word from outside is escaped."""
    figures, spool, trouble = facts.intake.figures, facts.intake.spool, facts.trouble()
    derived = _derived(facts.root, find)
    totals, notes, attempts = derived.totals, derived.notes, derived.attempts
    state = "taking bodies" if spool.failing is None else f"refusing bodies: {spool.failing}"
    lag = 0.0 if facts.derive is None else facts.derive.lag_seconds
    rows_of = [
        ("log", state),
        ("deriving", f"{lag:.1f} s behind when it last routed" if trouble is None else f"FAILING: {trouble}"),
        ("acknowledged", ", ".join(f"{n} {name}" for name, n in sorted(figures.items.items())) or "nothing yet"),
        ("rejected", ", ".join(f"{n} {name}" for name, n in sorted(figures.rejected.items())) or "none"),
        ("not routed yet", f"{backlog(facts.root)} bytes"),
        ("log records", ", ".join(f"{n} {name}" for name, n in derived.endings.items()) or "none read yet"),
        (
            "attempts",
            f"{totals.get('attempts', 0)}, {totals.get('unbuilt', 0)} not built, {totals.get('failed', 0)} failed, "
            f"{totals.get('no_agent', 0)} of no agent",
        ),
        ("repairs and losses", ", ".join(f"{name}: {n}" for name, n in notes.items()) or "none"),
    ]
    rows = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in rows_of)
    body = "".join(_row(attempt) for attempt in attempts)
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="10">'
        f"<title>otel2traj receiver</title><style>{_STYLE}</style></head><body><h1>otel2traj receiver</h1>"
        f'<p class="dim">version {escape(facts.version)}. Figures since the start of this process; '
        "attempts from the log. The newest 200 attempts are shown.</p>"
        f"<table>{rows}</table><h2>Attempts</h2>"
        f'<form><input name="q" value="{escape(find)}" aria-label="part of an id or folder"> '
        "<button>find</button></form>"
        "<table><thead><tr><th>id</th><th>folder</th>"
        '<th class="n">spans</th><th class="n">logs</th><th class="n">metrics</th><th>last arrival</th>'
        "<th>trajectory</th>"
        f"</tr></thead><tbody>{body}</tbody></table></body></html>"
    )
    return html.encode("utf-8", "replace")


def _built(attempt: AttemptRow) -> str:
    if attempt.no_agent:
        return '<span class="dim">nothing of an agent</span>'
    if attempt.build_error is not None:
        return f'<span class="bad">{escape(attempt.build_error[:200])}</span>'
    if attempt.build_ms is None:
        return '<span class="dim">not built</span>'
    return "built" if attempt.built >= attempt.changed else "built, more has come"


def _time(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _row(attempt: AttemptRow) -> str:
    numbers = "".join(f'<td class="n">{n}</td>' for n in (attempt.spans, attempt.logs, attempt.metrics))
    link = f"/attempts/{quote(attempt.folder)}"
    return (
        f'<tr><td><a href="{link}">{escape(attempt.id[:120])}</a></td>'
        f"<td><code>attempts/{escape(attempt.folder)}</code></td>{numbers}"
        f"<td>{_time(attempt.last_ns)}</td><td>{_built(attempt)}</td></tr>"
    )


def _attempt(facts: Facts, rest: str) -> Shown | None:
    """`/attempts/FOLDER` tells of one attempt, `/attempts/FOLDER/view` shows its trajectory."""
    folder, _, what = unquote(rest).partition("/")
    try:
        with closing(State(facts.root / STATE, read_only=True)) as state:
            row = state.in_folder(folder)
            lost = [] if row is None else state.lost_near(row.id)
    except sqlite3.Error:
        return None
    if row is None or what not in ("", "view"):
        return None
    place = facts.root / ATTEMPTS / row.folder
    if what == "view":
        body = None if facts.view is None else facts.view(place)
        return None if body is None else Shown(b"text/html; charset=utf-8", body, own_policy=True)
    files = sorted(path.name for path in place.iterdir() if path.is_file()) if place.is_dir() else []
    told = [
        ("id", row.id),
        ("folder", f"attempts/{row.folder}"),
        ("spans, logs, metrics", f"{row.spans}, {row.logs}, {row.metrics}"),
        ("first and last arrival", f"{_time(row.first_ns)}, {_time(row.last_ns)}"),
        ("files", ", ".join(files) or "none"),
        ("damage of the log that may touch it", ", ".join(f"{one.segment} @{one.offset}" for one in lost) or "none"),
    ]
    rows = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in told)
    link = f'<p><a href="/attempts/{quote(row.folder)}/view">read its trajectory</a></p>' if row.built else ""
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>attempt</title><style>{_STYLE}</style></head><body><p><a href="/">all attempts</a></p>'
        f"<h1>{escape(row.id[:200])}</h1>{link}<table>{rows}<tr><th>trajectory</th><td>{_built(row)}</td></tr></table>"
        "</body></html>"
    )
    return Shown(b"text/html; charset=utf-8", html.encode("utf-8", "replace"))
