"""Runs when a recorded Python starts: OpenTelemetry's own auto-instrumentation, where this Python has it."""

import contextlib
import importlib
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_report = os.environ.pop("OTEL2TRAJ_INSTRUMENT_REPORT", None)


def _step_aside() -> None:
    """Take this folder out, so that programs which the command starts are not instrumented, and run the user's own."""
    parts = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != _here]
    if parts:
        os.environ["PYTHONPATH"] = os.pathsep.join(parts)
    else:
        os.environ.pop("PYTHONPATH", None)
    sys.path[:] = [part for part in sys.path if os.path.abspath(part or ".") != _here]
    own = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ImportError:
        if own is not None:
            sys.modules["sitecustomize"] = own


def _start() -> str:
    try:
        auto = importlib.import_module("opentelemetry.instrumentation.auto_instrumentation")
    except ImportError:
        return "this Python has no opentelemetry-instrumentation: pip install opentelemetry-distro"
    auto.initialize()
    from opentelemetry import trace

    if not hasattr(trace.get_tracer_provider(), "add_span_processor"):
        return "no SDK was configured in this Python: pip install opentelemetry-distro opentelemetry-exporter-otlp"
    return ""


_step_aside()
try:
    _said = _start()
except Exception as err:
    _said = f"{type(err).__name__}: {err}"
if _report is not None and _said:
    with contextlib.suppress(OSError), open(_report, "w", encoding="utf-8") as _out:
        _out.write(_said)
