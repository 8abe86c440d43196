"""Every export read back by the package of its own ecosystem, where that is installed."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from otel2traj.model.trajectory import SdkInput, StepStatus
from tests.factory import play, step, tool_log, trajectory
from tests.unit.writers.run import rich, written

pytestmark = pytest.mark.interop


def test_atif_validates() -> None:
    atif: Any = pytest.importorskip("atif", exc_type=ImportError)
    document = atif.Trajectory.model_validate_json(written("atif", rich()))
    agent = [one for one in document.steps if one.source == "agent"]
    assert [one.llm_call_count for one in agent] == [1, 1, 0, 1, 1]
    assert agent[0].observation.results[0].content == "found"
    assert document.extra["otel2traj"]["coverage"]["ambiguous_links"] == 1
    assert document.agent.tool_definitions[0]["function"]["name"] == "search"


def test_harbor_validates() -> None:
    """Harbor's own models; Harbor asks for Python 3.12."""
    harbor: Any = pytest.importorskip("harbor.models.trajectories", exc_type=ImportError)
    assert len(harbor.Trajectory.model_validate_json(written("atif", rich())).steps) == 8


def test_inspect_reads_the_log(tmp_path: Path) -> None:
    log_module: Any = pytest.importorskip("inspect_ai.log", exc_type=ImportError)
    file = tmp_path / "run.json"
    file.write_bytes(written("inspect", rich()))
    log = log_module.read_eval_log(str(file))
    assert log.status == "started"  # one Input of it has no recorded end
    head = log_module.read_eval_log(str(file), header_only=True)
    assert (head.status, head.eval.task, head.samples) == ("started", "case-1", None)
    (sample,) = log.samples
    assert [event.event for event in sample.events].count("model") == 4
    first = sample.events[0]
    assert first.call.request["messages"] == rich().steps[0].input["messages"]
    assert first.output.choices[0].message.tool_calls[0].arguments == {"q": "x"}
    tools = [event for event in sample.events if event.event == "tool"]
    assert [event.failed for event in tools] == [False, True, False]
    assert sample.messages[-1].text == "Liebe Grüße 🧮"


@pytest.fixture
def parquet() -> Any:
    return pytest.importorskip("pyarrow.parquet", exc_type=ImportError)


def table(parquet: Any, name: str, what: Any) -> list[dict[str, Any]]:
    rows = parquet.read_table(BytesIO(written(name, what))).to_pylist()
    assert isinstance(rows, list)
    return rows


def test_parquet_tables(parquet: Any) -> None:
    steps = table(parquet, "parquet-steps", rich())
    assert [row["step_id"] for row in steps] == [1, 2, 3, 4, 5]
    assert (steps[0]["input_tokens"], steps[3]["input_tokens"]) == (10, None)
    assert (steps[2]["tool_calls"], steps[3]["tool_calls"]) == (None, 0)
    assert steps[3]["text"] == "Liebe Grüße 🧮"
    logs = table(parquet, "parquet-tool-logs", rich())
    assert [(row["step_id"], row["link"], row["exit_code"]) for row in logs] == [
        (1, "exact", None),
        (2, "ambiguous", None),
        (2, "exact", 2),
        (2, "none", None),
        (3, "exact", None),
    ]
    links = table(parquet, "parquet-links", rich())
    assert [row["target"] for row in links if row["status"] == "ambiguous"] == ["b" * 24, "c" * 24]
    assert [row["rule"] for row in links if row["status"] == "inferred"] == ["name"]
    assert table(parquet, "parquet-sources", rich())[0]["path"] == "logs/network.jsonl"


def test_parquet_inputs_and_failures(parquet: Any) -> None:
    error = {"type": "TimeoutError", "message": "too slow"}
    change = {"path": "a.txt", "change_type": "created"}
    item = SdkInput("0001", "i", {"task": "x"}, [1, 2], {"status": "failed", "error": error}, [change])
    refused = step(1, status=StepStatus.FAILED, output={"http_status": 429, "error": {"message": "slow down"}})
    run = trajectory(refused, step(2), inputs=[item])
    (one,) = table(parquet, "parquet-inputs", run)
    assert (one["ended"], one["error_code"], one["error_message"]) == ("failed", "TimeoutError", "too slow")
    assert (one["first_step"], one["last_step"], one["file_changes"]) == (1, 2, 1)
    assert (one["prompt"], one["changed_paths"]) == ('{"task":"x"}', '["a.txt"]')
    rows = table(parquet, "parquet-failures", run)
    assert [(row["kind"], row["step_id"], row["http_status"], row["recovered"]) for row in rows] == [
        ("provider error", 1, 429, True),
        ("input failed", None, None, False),
    ]
    assert rows[0]["message"] == "slow down"


def test_otlp_is_read_by_the_protocols_own_messages() -> None:
    from google.protobuf.json_format import Parse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    failed = step(1, status=StepStatus.FAILED, output={"http_status": 429, "error": {"message": "slow down"}})
    spans = []
    for line in written("otlp-json", trajectory(failed, step(2, tool_log()))).splitlines():
        request = Parse(line, ExportTraceServiceRequest())
        spans += [span for one in request.resource_spans for scope in one.scope_spans for span in scope.spans]
    assert [span.status.code for span in spans] == [2, 0, 0, 1]  # the Input ended as succeeded
    assert spans[0].events[0].name == "exception"
    assert spans[0].status.message == "slow down"


def test_parquet_rows_leave_in_batches(parquet: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from otel2traj.writers import WRITERS, tables

    monkeypatch.setattr(tables, "_BATCH_ROWS", 3)
    out = BytesIO()
    play(trajectory(*(step(n, tool_log()) for n in range(1, 11))), WRITERS.get("parquet-steps").sink(out))
    assert parquet.ParquetFile(out).num_row_groups == 4


def test_duckdb_joins_the_tables(parquet: Any, tmp_path: Path) -> None:
    duckdb: Any = pytest.importorskip("duckdb", exc_type=ImportError)
    for name in ("steps", "tool-logs"):
        (tmp_path / f"{name}.parquet").write_bytes(written(f"parquet-{name}", rich()))
    query = (
        f"select agent_name, count(*) from '{tmp_path}/tool-logs.parquet' "
        f"join '{tmp_path}/steps.parquet' using (run_id, step_id) group by 1"
    )
    assert duckdb.sql(query).fetchall() == [("lead", 5)]


def test_rows_load_as_a_data_set(tmp_path: Path) -> None:
    datasets: Any = pytest.importorskip("datasets", exc_type=ImportError)
    file = tmp_path / "rows.jsonl"
    file.write_bytes(written("openai-chat", rich()))
    rows = datasets.load_dataset("json", data_files=str(file), split="train", cache_dir=str(tmp_path / "cache"))
    assert rows[0]["messages"][0]["content"] == "Be careful."
