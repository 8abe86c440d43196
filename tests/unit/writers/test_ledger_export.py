"""What the export writes, and what it must not write."""

from __future__ import annotations

import io
from typing import Any

import pytest

from otel2traj.auditors.ledger import replay
from otel2traj.auditors.ledger.schema import check
from otel2traj.model.link import ExecutionStatus, LinkStatus
from otel2traj.model.trajectory import SdkInput, Step, StepKind, StepStatus, Trajectory, TrajectoryStatus
from otel2traj.writers.ledger import LedgerSink
from tests.factory import not_observed, play, step, tool_log, trajectory
from tests.ledgers import events, export, good, good_trajectory, judge

SUCCESS = {"status": "succeeded"}
RESULT = {"path": "steps/0001/result.json", "sha256": "a" * 64}


def one(result: dict[str, Any] | None, sources: list[dict[str, Any]] | None = None, **fields: Any) -> Any:
    """The last event of a ledger of one step whose Input ended in `result`."""
    item = SdkInput("0001", "input-1", "Do it.", [1, 1], result, [])
    sources = [RESULT] if sources is None else sources
    return events(export(trajectory(step(1), inputs=[item], sources=sources, **fields)))[-1]


def of_type(what: Trajectory, kind: str) -> list[Any]:
    return [event for event in events(export(what)) if event["type"] == kind]


def test_the_order_of_events() -> None:
    kinds = [(event["type"], event.get("outcome")) for event in good()]
    assert kinds == [
        ("observe", "pending"),
        ("observe", "running"),
        ("think", None),
        ("tool", None),
        ("observe", None),
        ("think", None),
        ("observe", None),
        ("observe", "succeeded"),
    ]
    assert [event["step"] for event in good()] == list(range(8))


def test_the_header_pins_schema_run_rates_and_sources() -> None:
    first = events(export(good_trajectory()))[0]
    assert first["schema"] == "trajectory-ledger-v1"
    assert first["run_id"] == "run-1"
    assert first["rates"]["gpt-4o"]["input"] == "2.5"
    assert first["rate_source"]["package"] == "genai-prices"
    assert first["sources"] == [RESULT]
    assert first["state_rule"] == "otel2traj.state.v1"


def test_two_exports_of_one_trajectory_are_the_same_bytes() -> None:
    assert export(good_trajectory()) == export(good_trajectory())


def test_success_stands_on_the_result_file_and_its_digest() -> None:
    last = one(SUCCESS)
    assert last["outcome"] == "succeeded"
    assert last["evidence"] == {"results": [{"input_ordinal": "0001", **RESULT}]}


@pytest.mark.parametrize(
    ("result", "sources", "outcome", "field", "says"),
    [
        (SUCCESS, [], "blocked", "blocker", "no result file of Input 0001 was recorded"),
        (SUCCESS, [{"path": "steps/0002/result.json", "sha256": "b" * 64}] * 2, "blocked", "blocker", "no result file"),
        (SUCCESS, [{"path": "steps/0001/result.json"}], "blocked", "blocker", "no result file"),
        (None, None, "blocked", "blocker", "no result of Input 0001 was recorded"),
        ({"output": "x"}, None, "blocked", "blocker", "no result of Input 0001 was recorded"),
        ({"status": "cancelled"}, None, "blocked", "blocker", "Input 0001 ended in cancelled"),
        ({"status": "failed", "error": "out of disk"}, None, "failed", "reason", "Input 0001 failed: out of disk"),
        ({"status": "failed"}, None, "failed", "reason", "no reason was recorded"),
        ({"status": "failed", "error": {"type": "E"}}, None, "failed", "reason", '{"type":"E"}'),
        ({"status": "timeout"}, None, "timeout", "reason", "Input 0001 ended in timeout"),
    ],
)
def test_the_last_outcome(
    result: dict[str, Any] | None, sources: list[dict[str, Any]] | None, outcome: str, field: str, says: str
) -> None:
    last = one(result, sources)
    assert last["outcome"] == outcome
    assert says in last[field]
    assert "evidence" not in last


def test_a_timeout_needs_recorded_times() -> None:
    timed_out = SdkInput("0001", None, "Do it.", [1, 1], {"status": "timeout"}, [])
    assert one({"status": "timeout"})["elapsed_seconds"] == 0.5
    timeless = trajectory(step(1, started_at=None, ended_at=None), inputs=[timed_out])
    last = events(export(timeless))[-1]
    assert (last["outcome"], "elapsed_seconds" in last) == ("blocked", False)
    assert judge(export(timeless))[0].clean


def test_a_failed_build_is_a_failed_run() -> None:
    what = trajectory(status=TrajectoryStatus.FAILED, error={"type": "EvidenceError", "message": "no file"}, inputs=[])
    last = events(export(what))[-1]
    assert (last["outcome"], last["reason"]) == ("failed", "no trajectory: no file")
    assert judge(export(what))[0].clean


def test_no_input_is_no_success() -> None:
    assert events(export(trajectory(step(1), inputs=[])))[-1]["outcome"] == "blocked"


def test_one_failed_input_among_good_ones_fails_the_run() -> None:
    inputs = [
        SdkInput("0001", None, "a", [1, 1], SUCCESS, []),
        SdkInput("0002", None, "b", [2, 2], {"status": "failed", "error": "no"}, []),
    ]
    last = events(export(trajectory(step(1), step(2), inputs=inputs, sources=[RESULT])))[-1]
    assert last["outcome"] == "failed"


@pytest.mark.parametrize(
    ("log", "blocker"),
    [
        (not_observed("c", "search"), "execution of search was not observed"),
        (not_observed("c", None), "execution of a tool without a recorded name was not observed"),
        (
            tool_log("c", link=LinkStatus.AMBIGUOUS, evidence={"candidates": ["a", "b"]}),
            "execution of search is ambiguous: 2 candidates, none attached",
        ),
        (tool_log("c", None), "the name of the executed tool was not recorded"),
        (tool_log("c", input_arguments=None), "the arguments of search were not recorded"),
    ],
)
def test_nothing_is_written_as_grounded_that_is_not(log: Any, blocker: str) -> None:
    ledger = export(trajectory(step(1, log)))
    assert not [event for event in events(ledger) if event["type"] == "tool"]
    (event,) = [event for event in events(ledger) if "call" in event]
    assert event["type"] == "observe"
    assert event["blocker"] == blocker
    assert "outcome" not in event
    assert judge(ledger)[0].clean


def test_an_inference_grounds_nothing() -> None:
    log = not_observed("c", evidence={"inferred": {"rule": "name", "step_id": 2, "interaction_id": "x"}})
    assert not of_type(trajectory(step(1, log)), "tool")


@pytest.mark.parametrize(
    ("status", "exit_status", "code", "source"),
    [
        (ExecutionStatus.SUCCEEDED, {"exitCode": 0, "signal": None}, 0, "recorded"),
        (ExecutionStatus.ERROR, {"exitCode": 137, "signal": None}, 137, "recorded"),
        (ExecutionStatus.SUCCEEDED, {"exitCode": 2, "signal": None}, 2, "recorded"),
        (ExecutionStatus.ERROR, {"exitCode": -9, "signal": None}, -9, "recorded"),
        (ExecutionStatus.SUCCEEDED, None, 0, "derived"),
        (ExecutionStatus.ERROR, None, 1, "derived"),
        (ExecutionStatus.ERROR, {"exitCode": None, "signal": "SIGKILL"}, 1, "derived"),
        (ExecutionStatus.SUCCEEDED, {"exitCode": True, "signal": None}, 0, "derived"),
    ],
)
def test_exit_codes_are_recorded_or_say_that_they_are_derived(
    status: ExecutionStatus, exit_status: dict[str, Any] | None, code: int, source: str
) -> None:
    log = tool_log("c", execution_status=status, exit_status=exit_status, outputs=["x"])
    (event,) = of_type(trajectory(step(1, log)), "tool")
    assert event["result"]["exit_code"] == code
    assert event["result"]["exit_code_source"] == source
    assert event["result"]["output"] == ["x"]


def test_empty_arguments_are_an_answer() -> None:
    (event,) = of_type(trajectory(step(1, tool_log("c", input_arguments={}))), "tool")
    assert event["args"] == {}


def test_usage_that_was_not_recorded_is_unknown_and_never_zero() -> None:
    silent = step(1, model="gpt-4o")
    zero = step(2, model="gpt-4o", output={"text": "", "usage": {"input_tokens": 0, "output_tokens": 0}})
    first, second = of_type(trajectory(silent, zero), "think")
    assert first["cost"] == {"tokens_in": None, "tokens_out": None, "seconds": 0.5, "usd": None}
    assert first["usd_unknown"] == "usage not recorded"
    assert second["cost"] == {"tokens_in": 0, "tokens_out": 0, "seconds": 0.5, "usd": 0}


def priced(model: str | None, **usage: Any) -> Step:
    return step(1, model=model, output={"text": "x", "usage": {"input_tokens": 10, "output_tokens": 1, **usage}})


@pytest.mark.parametrize(
    ("what", "why"),
    [
        (priced("lab-model-1"), "model not in the price table"),
        (priced(None), "model not recorded"),
        (priced("gpt-4o", raw={"completion_tokens_details": {"audio_tokens": 4}}), "audio tokens"),
        (priced("gpt-4o", raw={"service_tier": "flex"}), "service tier flex"),
        (priced("gpt-4o", cache_read_input_tokens=11), "more cached tokens than input tokens"),
    ],
)
def test_a_price_that_is_not_known_is_null_warned_of_and_fails_strict(what: Step, why: str) -> None:
    out = io.BytesIO()
    sink = LedgerSink(out)
    play(trajectory(what), sink)
    (event,) = [event for event in events(out.getvalue()) if event["type"] == "think"]
    assert event["cost"]["usd"] is None
    assert event["usd_unknown"] == why
    assert any(why in warning for warning in sink.warnings)
    assert events(out.getvalue())[-1]["totals"]["usd"] is None
    assert judge(out.getvalue())[0].clean
    _, found = judge(out.getvalue(), strict=True)
    assert [finding.message for finding in found] == ["event 2 cost 'usd' is unknown"]


def test_a_call_again_in_the_span_of_a_failed_one_is_a_retry() -> None:
    span = {"interaction_id": "x", "framework_span_id": "span-1"}
    failed = step(1, status=StepStatus.FAILED, evidence=span, output={"wire_error": {"code": "429"}})
    again = step(2, evidence=span)
    other = step(3, evidence={"interaction_id": "y", "framework_span_id": "span-2"})
    thinks = of_type(trajectory(failed, again, other), "think")
    assert [think["cost"].get("retries") for think in thinks] == [None, 1, None]
    assert thinks[0]["error"] == {"code": "429"}


def test_a_step_without_a_model_call_has_no_think_event_and_its_own_time() -> None:
    alone = step(1, tool_log("c"), kind=StepKind.TOOL_ONLY, model=None)
    ledger = trajectory(alone)
    assert not of_type(ledger, "think")
    (event,) = of_type(ledger, "tool")
    assert event["cost"]["seconds"] == 0.5
    assert event["timestamp"] == "2026-01-02T03:04:01.750Z"


def test_inputs_stand_around_their_steps_and_file_changes_after_them() -> None:
    change = {"path": "a", "change_type": "created", "after_hash": "sha256:" + "1" * 64}
    inputs = [
        SdkInput("0001", None, "first", [1, 2], SUCCESS, [change]),
        SdkInput("0002", None, "nothing happened", None, SUCCESS, []),
        SdkInput("0003", None, "third", [3, 3], SUCCESS, [{**change, "path": "b"}]),
        SdkInput("0004", None, "never reached", None, None, []),
    ]
    sources = [{"path": f"steps/000{n}/result.json", "sha256": str(n) * 64} for n in (1, 2, 3)]
    ledger = export(trajectory(step(1), step(2), step(3, input_ordinal="0003"), inputs=inputs, sources=sources))
    order = []
    for event in events(ledger)[1:-1]:
        told = event.get("input") or event.get("input_result")
        order.append(event["trajectory"]["step_id"] if told is None else told["ordinal"])
    assert order == ["0001", 1, 2, "0001", "0002", "0002", "0003", 3, "0003", "0004"]
    files = [sorted(event["state"]["files"]) for event in events(ledger)]
    assert files == [[]] * 4 + [["a"]] * 5 + [["a", "b"]] * 3
    assert events(ledger)[-1]["blocker"] == "no result of Input 0004 was recorded"
    assert judge(ledger)[0].clean


def test_times_that_were_not_recorded_are_said_to_be_another_events() -> None:
    timeless = trajectory(step(1, started_at=None, ended_at=None), step(2))
    told = [(event["timestamp"], event.get("timestamp_source")) for event in events(export(timeless))]
    assert told[0] == ("2026-01-02T03:04:02.250Z", "first_step")
    assert told[2] == ("2026-01-02T03:04:02.250Z", "event_before")
    assert told[3] == ("2026-01-02T03:04:02.750Z", None)
    nothing = trajectory(step(1, started_at=None, ended_at="?"))
    assert events(export(nothing))[2]["timestamp_source"] == "not_recorded"
    assert judge(export(nothing))[0].clean


def test_offsets_become_utc() -> None:
    local = step(1, started_at="2026-01-02T05:04:01+02:00", ended_at="2026-01-02T05:04:01.123456+02:00")
    assert of_type(trajectory(local), "think")[0]["timestamp"] == "2026-01-02T03:04:01.123456Z"


def test_lone_surrogates_become_a_replacement_character_and_other_text_stays() -> None:
    odd = 'cut \ud83e and \\ud83e and \\\ud83e and "\udd84"'
    item = SdkInput("0001", None, odd, [1, 1], SUCCESS, [])
    ledger = export(trajectory(step(1, tool_log("c", outputs={odd: [odd]})), inputs=[item]))
    expected = 'cut \ufffd and \\ud83e and \\\ufffd and "\ufffd"'
    assert events(ledger)[1]["input"]["prompt"] == expected
    assert events(ledger)[3]["result"]["output"] == {expected: [expected]}
    assert judge(ledger)[0].clean


def test_integers_of_any_size_and_deep_values_survive() -> None:
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    ledger = export(trajectory(step(1, tool_log("c", input_arguments={"n": 2**80}, outputs=deep))))
    (event,) = [event for event in events(ledger) if event["type"] == "tool"]
    assert event["args"] == {"n": 2**80}
    assert event["result"]["output"] == deep
    assert judge(ledger)[0].clean


def test_every_line_conforms_to_the_published_schema() -> None:
    found: list[Any] = []
    assert check(io.BytesIO(export(good_trajectory())), found.append) == 0
    assert found == []


def test_a_run_against_a_changed_workspace_diverges_where_the_tool_saw_it() -> None:
    changed = good_trajectory()
    changed.steps[0].tool_logs[0].outputs = "a.txt\nb.txt\n"
    result = replay(io.BytesIO(export(good_trajectory())), io.BytesIO(export(changed)))
    assert result.line() == "FAIL: replay diverges at step 3"
    assert result.first is not None
    assert result.first.type == "tool"


def test_other_times_identifiers_and_prices_of_the_same_doing_replay() -> None:
    again = good_trajectory()
    again.header.run_id = "run-2"
    for one_step in again.steps:
        one_step.started_at = one_step.ended_at = "2027-05-05T05:05:05Z"
        one_step.model = "gpt-4o-mini"
        one_step.evidence = {"interaction_id": "f" * 24}
        for call in one_step.output.get("tool_calls", []):
            call["id"] = "new_" + call["id"]
        for log in one_step.tool_logs:
            log.tool_call_id = f"new_{log.tool_call_id}"
    result = replay(io.BytesIO(export(good_trajectory())), io.BytesIO(export(again)))
    assert result.line() == "PASS: replay reproduces all 8 hashes"


def test_the_spool_leaves_memory_when_it_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = export(good_trajectory())
    monkeypatch.setattr("otel2traj.writers.ledger._IN_MEMORY", 10)
    assert export(good_trajectory()) == whole
