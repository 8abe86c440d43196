"""What the receiver knows about itself, as pages: health, Prometheus text, and HTML for people."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Final

from .. import canonical
from .asgi import Page
from .intake import Intake
from .router import LOG, STATE
from .segments import segment_files
from .state import AttemptRow, State

_PREFIX: Final = "otel2traj_receiver_"
_TOTALS: Final = (("attempts", "in all"), ("unbuilt", "not built"), ("failed", "failed"))
_STYLE: Final = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #ddd}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}code{font-size:.95em}.bad{color:#a00}.dim{color:#666}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}
th,td{border-color:#444}.bad{color:#f77}.dim{color:#999}}
"""


def pages(root: Path, intake: Intake, version: str, stopping: Callable[[], bool] = lambda: False) -> dict[str, Page]:
    """GET paths of the receiver."""
    return {
        "/": lambda: (b"text/html; charset=utf-8", status_page(root, intake, version)),
        "/healthz": lambda: (b"application/json", health(intake, stopping())),
        "/metrics": lambda: (b"text/plain; version=0.0.4; charset=utf-8", metrics_text(root, intake)),
    }


def health(intake: Intake, stopping: bool) -> bytes:
    """`ok`, or why bodies are refused at the moment. The process lives either way."""
    failing = intake.spool.failing
    status = "stopping" if stopping else "ok" if failing is None else "refusing"
    out = {"status": status} if failing is None else {"status": status, "reason": failing}
    return canonical.dumps(out)


def backlog(root: Path) -> int:
    """Bytes of the log that are not routed yet."""
    try:
        with closing(State(root / STATE, read_only=True)) as state:
            finished = state.finished_segments()
            open_ones = [path for path in segment_files(root / LOG) if path.name not in finished]
            return sum(max(0, path.stat().st_size - state.position(path.name)[0]) for path in open_ones)
    except (sqlite3.Error, FileNotFoundError):
        return sum(path.stat().st_size for path in segment_files(root / LOG))


def _derived(root: Path) -> tuple[dict[str, int], dict[str, int], list[AttemptRow]]:
    try:
        with closing(State(root / STATE, read_only=True)) as state:
            return state.totals(), state.notes(), state.attempts()
    except sqlite3.Error:
        return {}, {}, []


def metrics_text(root: Path, intake: Intake) -> bytes:
    """Prometheus text format 0.0.4."""
    figures, spool = intake.figures, intake.spool
    totals, notes, _ = _derived(root)
    out: list[str] = []

    def family(name: str, kind: str, text: str, samples: Iterable[tuple[dict[str, str], int]]) -> None:
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
    for key in ("attempts", "unbuilt", "failed"):
        family(
            f"attempts_{key}" if key != "attempts" else key, "gauge", f"Attempts: {key}.", [({}, totals.get(key, 0))]
        )
    family(
        "derive_notes_total",
        "counter",
        "Repairs and losses found on routing.",
        [({"note": k}, n) for k, n in notes.items()],
    )
    return "".join(out).encode()


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def status_page(root: Path, intake: Intake, version: str) -> bytes:
    """One self-contained page; every word from outside is escaped."""
    figures, spool = intake.figures, intake.spool
    totals, notes, attempts = _derived(root)
    state = "taking bodies" if spool.failing is None else f"refusing bodies: {spool.failing}"
    facts = [
        ("log", state),
        ("acknowledged", ", ".join(f"{n} {name}" for name, n in sorted(figures.items.items())) or "nothing yet"),
        ("rejected", ", ".join(f"{n} {name}" for name, n in sorted(figures.rejected.items())) or "none"),
        ("not routed yet", f"{backlog(root)} bytes"),
        (
            "attempts",
            f"{totals.get('attempts', 0)}, {totals.get('unbuilt', 0)} not built, {totals.get('failed', 0)} failed",
        ),
        ("repairs and losses", ", ".join(f"{name}: {n}" for name, n in notes.items()) or "none"),
    ]
    rows = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in facts)
    body = "".join(_row(attempt) for attempt in attempts)
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="10">'
        f"<title>otel2traj receiver</title><style>{_STYLE}</style></head><body><h1>otel2traj receiver</h1>"
        f'<p class="dim">version {escape(version)}. Figures since the start of this process; attempts from the log. '
        "The newest 200 attempts are shown.</p>"
        f"<table>{rows}</table><h2>Attempts</h2><table><thead><tr><th>id</th><th>folder</th>"
        '<th class="n">spans</th><th class="n">logs</th><th class="n">metrics</th><th>last arrival</th>'
        "<th>trajectory</th>"
        f"</tr></thead><tbody>{body}</tbody></table></body></html>"
    )
    return html.encode("utf-8", "replace")


def _row(attempt: AttemptRow) -> str:
    if attempt.build_error is not None:
        built = f'<span class="bad">{escape(attempt.build_error[:200])}</span>'
    elif attempt.build_ms is None:
        built = '<span class="dim">not built</span>'
    else:
        built = "built" if attempt.built >= attempt.changed else "built, more has come"
    last = datetime.fromtimestamp(attempt.last_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    numbers = "".join(f'<td class="n">{n}</td>' for n in (attempt.spans, attempt.logs, attempt.metrics))
    return (
        f"<tr><td>{escape(attempt.id[:120])}</td><td><code>attempts/{escape(attempt.folder)}</code></td>{numbers}"
        f"<td>{last}</td><td>{built}</td></tr>"
    )
