"""Pages about the receiver: figures that are right, and no word of a client that becomes markup."""

from __future__ import annotations

import json
import re
from pathlib import Path

from otel2traj.capture.page import backlog
from otel2traj.capture.router import Router

from .requests import as_json, span, traces
from .serving import serving


def test_metrics_count_what_happened(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.post(as_json(traces(span(), span("0" * 32))))
        served.post(as_json(traces(span())).replace(b"resourceSpans", b"resource_spans"))
        served.post(b"{")
        text = served.send("GET", "/metrics")
    assert text.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = text.body.decode().splitlines()
    assert 'otel2traj_receiver_requests_total{transport="http",signal="traces",status="200"} 2' in lines
    assert 'otel2traj_receiver_requests_total{transport="http",signal="traces",status="400"} 1' in lines
    assert 'otel2traj_receiver_items_total{signal="traces"} 3' in lines
    assert 'otel2traj_receiver_rejected_items_total{signal="traces"} 1' in lines
    assert 'otel2traj_receiver_repairs_total{repair="snake-case-keys"} 1' in lines
    assert "otel2traj_receiver_log_records_total 2" in lines
    sample = re.compile(r'otel2traj_receiver_[a-z_]+(\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\})? \d+')
    for line in lines:
        assert line.startswith("# ") or sample.fullmatch(line), line


def test_the_backlog_goes_down_when_the_log_is_routed(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.post(as_json(traces(span(session__id="s"))))
        assert backlog(tmp_path) > 100
        router = Router(tmp_path)
        router.drain()
        assert backlog(tmp_path) == 0
        assert b"otel2traj_receiver_attempts 1" in served.send("GET", "/metrics").body
        router.close()


def test_the_status_page_shows_attempts_and_escapes_them(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.post(as_json(traces(span(session__id='<script>alert("x")</script>'))))
        router = Router(tmp_path)
        router.drain()
        router.state.set_built('<script>alert("x")</script>', 1, 5, "failed: <img src=x>")
        router.close()
        page = served.send("GET", "/")
    html = page.body.decode()
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert "&lt;img src=x&gt;" in html
    assert "http" not in re.sub(r"http-equiv", "", html)  # self-contained: nothing is fetched


def test_health_is_json(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        assert json.loads(served.send("GET", "/healthz").body) == {"status": "ok"}
