"""Steps become records: observed, derived or declared unknown, and nothing in between."""

from __future__ import annotations

import hashlib
import io
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj.canonical import JsonObject, jcs, loads
from otel2traj.model.link import ExecutionStatus, LinkStatus
from otel2traj.model.trajectory import StepKind, StepSource, Summary, TrajectoryStatus
from otel2traj.prov.aer import AerProjector
from otel2traj.prov.engine import Options, derive_prov
from otel2traj.prov.identity import execution_id, shard, statement_id
from otel2traj.prov.plain import canonical, canonical_plain, plain
from otel2traj.prov.records import KINDS
from otel2traj.prov.redaction import Redactor
from otel2traj.prov.validate import validate_aer
from tests.factory import not_observed, step, tool_log, trajectory

from .made import Raw, aer, prov, records, rich_aer, wire


def test_every_kind_of_record_is_there() -> None:
    assert {record["kind"] for record in records(rich_aer()).values()} == set(KINDS)
    assert validate_aer(rich_aer()) == []


def test_the_worked_example_of_the_specification() -> None:
    found = records(rich_aer())
    execution = found["te0"]
    message = found[execution["call"].partition("-")[0]]
    assert execution["class"] == "O"
    assert execution["fields"]["call"] == {"class": "D", "by": "adapter", "rule": "otel2traj.tool_call_id_unique@1"}
    assert execution["after"] == [message["id"]]
    assert message["parts"][0] == {
        "id": execution["call"],
        "type": "tool_call",
        "call_id": "c1",
        "name": "search",
        "arguments": {"q": "x"},
        "class": "O",
        "by": "interceptor",
        "at": [0, "/payload/tool_calls/0"],
    }
    assert execution["unknown"]["started"] == "not_captured"


def test_the_seal_covers_every_byte_before_it() -> None:
    lines = rich_aer()
    seal = records(lines)["seal"]
    assert seal["digest"] == "sha256:" + hashlib.sha256(b"".join(lines[:-1])).hexdigest()
    assert seal["records"] == len(lines) - 1


def test_lines_are_rfc_8785() -> None:
    assert all(jcs(loads(line)) + b"\n" == line for line in rich_aer())


def test_an_ambiguous_link_is_no_fact() -> None:
    found = records(rich_aer())
    message = found["te0"]["call"].partition("-")[0]
    assert found[message]["unknown"] == {
        f"{message}-1/execution": "ambiguous",
        f"{message}-2/execution": "not_recorded",
    }
    assert found[message]["fields"]["candidates"]["class"] == "I"
    candidate = next(r for r in found.values() if r.get("interaction_id") == "c" * 24)
    assert candidate["unknown"]["call"] == "ambiguous"
    assert "name" not in candidate
    assert "result" not in candidate


def test_a_call_id_from_code_that_no_rule_vouches_for_is_inferred() -> None:
    def log(producer: str) -> list[bytes]:
        return aer(trajectory(step(1, tool_log(evidence={"said_by": {"tool_call_id": producer}}))))

    cited, other = records(log("otel_genai_1_37:span"))["te0"], records(log("somebodys_fork"))["te0"]
    assert cited["fields"]["call"]["class"] == "D"
    assert other["fields"]["call"] == {
        "class": "I",
        "by": "adapter",
        "rule": "otel2traj.tool_call_id_unique_unverified@1",
    }
    assert other["after"] == []


def test_histories_that_grow_are_recorded_once() -> None:
    said = [{"role": "user", "content": str(number)} for number in range(30)]
    found = records(aer(trajectory(*(step(n, input={"messages": said[:n]}) for n in range(1, 31)))))
    requests = [r for r in found.values() if r["kind"] == "message" and r["direction"] == "request"]
    assert [r["content"] for r in requests] == said
    last = found[found["mc29"]["request"]]
    assert (last["messages"], last["length"]) == ([requests[29]["id"]], 30)
    assert (last["extends"], last["kept"]) == ("rq28", {"messages": 29, "system": False, "tools": False})
    assert last["fields"]["kept"]["rule"] == "otel2traj.request_extends@1"


def test_a_request_extends_the_one_that_held_its_beginning_first() -> None:
    """A branch, a retry, and a history that begins anew with the same tools."""
    a, b, c, d = ({"role": "user", "content": text} for text in "abcd")
    tools = [{"name": "t"}]
    asked = [[a, b], [a, c], [a, b], [a, b, d], [d]]
    found = records(
        aer(trajectory(*(step(n, input={"messages": one, "tools": tools}) for n, one in enumerate(asked, 1))))
    )
    shared = [(found[f"rq{n}"].get("extends"), found[f"rq{n}"].get("kept", {}).get("messages")) for n in range(5)]
    assert shared == [(None, None), ("rq0", 1), ("rq0", 2), ("rq0", 2), ("rq3", 0)]
    assert ["tools" in found[f"rq{n}"] for n in range(5)] == [True, False, False, False, False]
    assert found["rq2"]["messages"] == []
    assert "tools" not in found["rq4"]["unknown"]


def test_two_agents_do_not_share_a_message() -> None:
    message = {"role": "system", "content": "Be good."}
    steps = [step(n, agent_name=name, input={"messages": [message]}) for n, name in enumerate(("a", "b"), 1)]
    found = records(aer(trajectory(*steps)))
    assert found["mc0"]["request"] != found["mc1"]["request"]


def test_a_response_time_is_the_start_of_nothing() -> None:
    evidence = {"records": wire(2)}
    found = records(aer(trajectory(step(1, evidence=evidence, source=StepSource.WIRE))))
    assert "started" not in found["mc0"]
    assert found["mc0"]["unknown"]["started"] == "not_recorded"
    assert found["mc0"]["ended"]


def test_the_arguments_of_a_call_are_not_those_of_its_execution() -> None:
    silent = records(aer(trajectory(step(1, tool_log(evidence={"said_by": {"tool_call_id": "acp"}})))))
    assert silent["te0"]["unknown"]["arguments"] == "not_recorded"
    evidence = {"said_by": {"tool_call_id": "acp"}, "recorded_arguments": {"q": "y"}, "recorded_name": "Search"}
    other = records(aer(trajectory(step(1, tool_log(evidence=evidence)))))
    assert (other["te0"]["arguments"], other["te0"]["name"]) == ({"q": "y"}, "Search")


def test_an_execution_that_never_ended_is_recorded_without_an_outcome() -> None:
    log = tool_log(
        execution_status=ExecutionStatus.NOT_OBSERVED,
        outputs=None,
        evidence={"records": wire(1), "said_by": {"tool_call_id": "framework"}},
    )
    found = records(aer(trajectory(step(1, log))))
    assert found["te0"]["unknown"]["status"] == "not_recorded"
    assert found["te0"]["call"]


def test_failed_builds_are_sealed_with_their_issues() -> None:
    out = io.BytesIO()
    projector = AerProjector(out, "o", "a")
    projector.begin(trajectory().header)
    error = {"type": "EvidenceError", "message": "no"}
    projector.end(Summary(TrajectoryStatus.FAILED, warnings=["w: x"], error=error))
    lines = out.getvalue().splitlines(keepends=True)
    assert validate_aer(lines) == []
    seal = loads(lines[-1])
    assert isinstance(seal, dict)
    assert (seal["status"], seal["issues"]) == ("failed", ["w: x", "EvidenceError: no"])
    assert projector.digest == seal["digest"]


def test_a_scope_that_no_summary_knows_is_still_a_record() -> None:
    found = records(aer(trajectory(step(1, input_ordinal="0009"))))
    assert found["s0009"]["unknown"]["prompt"] == "not_recorded"
    assert records(aer(trajectory(step(1, input_ordinal=None))))["mc0"]["unknown"]["scope"] == "not_recorded"


def test_zero_and_empty_are_answers() -> None:
    found = records(aer(trajectory(step(1, tool_log(outputs=""), output={"text": "", "tool_calls": []}))))
    assert [(one["id"], one["type"], one["content"]) for one in found["m1"]["parts"]] == [("m1-0", "text", "")]
    assert found["ga0"]["content"] == ""
    nothing = records(aer(trajectory(step(1, input={"messages": []}))))
    assert nothing["rq0"]["messages"] == []
    assert nothing["mc0"]["request"] == "rq0"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2**60, {"$integer": str(2**60)}),
        ("a\ud800b", {"$surrogates": "a\\ud800b"}),
        ({"\udfff": 1}, {"\\udfff": 1}),
        ([1.5, None, True, 2**53 - 1], [1.5, None, True, 2**53 - 1]),
    ],
)
def test_what_rfc_8785_cannot_write_is_said_in_words(value: object, written: object) -> None:
    assert plain(value) == written
    assert loads(jcs(plain(value))) == written


def test_nesting_ends_somewhere() -> None:
    value: list[object] = []
    for _ in range(400):
        value = [value]
    text = jcs(plain(value)).decode()
    assert '{"$json":"' in text
    assert text.count("[") == 401


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON)
@settings(max_examples=200, deadline=None)
def test_any_json_can_be_a_tool_result(value: object) -> None:
    lines = aer(trajectory(step(1, tool_log(outputs=value))))
    assert [one for one in validate_aer(lines) if one.rule != "aer.pointer"] == []


@given(_JSON)
@settings(max_examples=400, deadline=None)
def test_the_short_way_to_canonical_bytes_gives_the_same(value: object) -> None:
    assert canonical_plain(value) == jcs(plain(value))
    assert canonical(plain(value)) == jcs(plain(value))


def test_keys_sort_as_in_utf_16() -> None:
    value = {"\U00010000": 1, "\uffff": 2}
    assert canonical_plain(value) == jcs(value)
    assert jcs(value).startswith('{"\U00010000"'.encode())


def test_names_come_from_digests() -> None:
    one = execution_id("o", "a", "r", "c")
    assert one == execution_id("o", "a", "r", "c")
    assert (
        len(
            {
                one,
                execution_id("o", "a", "r", None),
                execution_id("o", "a", None, "c"),
                execution_id("oa", "", "r", "c"),
            }
        )
        == 4
    )
    assert one.startswith("ex_")
    assert len(one) == 29
    assert shard("ex_37evkqmflf2sqxvs7cc6sbgx6c") == "ef"
    name = statement_id("aprov.use_request@1", "x:te0", "x:m2-1", "apv:CallRequestInput")
    assert name.startswith("x:use_request.")
    assert len(name.partition(".")[2]) == 16
    assert name != statement_id("aprov.use_request@1", "x:te0", "x:m2-1", None)


def test_account_names_are_labels_everywhere_and_the_record_is_still_valid() -> None:
    redact = Redactor([r"/home/(?P<account>[^/\s]+)"], b"salt")
    what = trajectory(
        step(1, tool_log(outputs={"/home/mary/x": ["/home/mary/y /home/bob/z"]})), header={"run_id": "/home/mary/run"}
    )
    lines = aer(what, redact=redact)
    text = b"".join(lines).decode()
    assert "mary" not in text
    assert "bob" not in text
    assert text.count(redact.label("mary")) == 3
    assert redact.label("mary") != redact.label("bob") != Redactor([], b"other").label("bob")
    assert [one for one in validate_aer(lines) if one.rule != "aer.pointer"] == []
    assert Redactor(["[0-9]{4}"], b"s")("pin 1234 and 99") == f"pin {Redactor([], b's').label('1234')} and 99"


def test_memory_is_bounded_by_the_largest_step() -> None:
    class Sink(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            return len(data)  # type: ignore[arg-type]

    def peak(count: int) -> int:
        projector = AerProjector(Sink(), "o", "a")  # type: ignore[arg-type]
        made = trajectory()
        projector.begin(made.header)
        tracemalloc.start()
        for number in range(1, count + 1):
            output = {"text": f"{number} " + "x" * 100_000, "tool_calls": []}
            projector.step(step(number, output=output))
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        projector.end(made.summary)
        return top

    small, large = peak(20), peak(200)
    assert large < small * 1.5


def test_a_log_without_a_partner_makes_no_execution() -> None:
    found = records(aer(trajectory(step(1, not_observed("c9")))))
    assert not [r for r in found.values() if r["kind"] == "tool_execution"]
    only = step(1, tool_log(None, link=LinkStatus.NONE), kind=StepKind.TOOL_ONLY, input={}, output={}, model=None)
    assert records(aer(trajectory(only)))["te0"]["unknown"]["call"] == "not_recorded"


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ({"text": "Done.", "finish_reason": "stop"}, "answer"),
        ({"text": "Done.", "finish_reason": "end_turn"}, "answer"),
        ({"text": "Done.", "finish_reason": None}, "answer"),
        ({"text": "Don", "finish_reason": "length"}, None),
        ({"text": "Don", "finish_reason": "MAX_TOKENS"}, None),
        ({"text": "Don", "finish_reason": "content_filter"}, None),
        ({"text": "Don", "finish_reason": "RECITATION"}, None),
        ({"text": "Don", "finish_reason": "a_word_of_tomorrow"}, None),
        ({"text": "Found.", "finish_reason": "stop", "other_parts": [{"type": "web_search_call"}]}, None),
        ({"text": "Found.", "finish_reason": "end_turn", "other_parts": [{"type": "server_tool_use"}]}, None),
        ({"text": "Found.", "finish_reason": "STOP", "other_parts": [{"executableCode": {"code": "1"}}]}, None),
        ({"text": "Seen.", "finish_reason": "stop", "other_parts": [{"type": "image"}]}, "answer"),
        ({"refusal": "No.", "finish_reason": "stop"}, "refuse"),
    ],
)
def test_a_decision_is_read_off_a_whole_answer_only(output: JsonObject, outcome: str | None) -> None:
    found = records(aer(trajectory(step(1, output={"tool_calls": [], **output}))))["d0"]
    assert found.get("outcome") == outcome
    assert (outcome is None) == (found["unknown"].get("outcome") == "not_applicable")


def test_what_was_cut_is_lost_where_it_is() -> None:
    cut = tool_log(outputs="the beginn", evidence={"truncated": ["result"]})
    asked = {"interaction_id": "1" * 24, "truncated": ["text", "tools"]}
    lines = aer(trajectory(step(1, cut, evidence=asked), step(2, evidence={"truncated": ["messages"]}, input={})))
    found = records(lines)
    assert found["te0"]["unknown"]["rest"] == "lost"
    assert found["m1"]["unknown"]["rest"] == "lost"
    assert found["rq0"]["unknown"]["tools"] == "lost"
    assert found["mc1"]["unknown"]["request"] == "lost"
    assert validate_aer(lines) == []
    core = prov(lines)["bundle"]["xd:core"]
    assert core["activity"]["x:te0"]["apv:restStatus"]["$"] == "apv:Lost"
    assert core["activity"]["x:mc1"]["apv:requestStatus"]["$"] == "apv:Lost"


def test_an_execution_without_status_and_result_did_not_succeed() -> None:
    def status(source: bytes, **fields: Any) -> str | None:
        pointer = {"path": "x", "offset": 0, "length": len(source), "sha256": "0" * 64, "what": "span"}
        raw = Raw({"x": source})
        log = tool_log(evidence={"records": [pointer]}, **fields)
        out = records(aer(trajectory(step(1, log)), read=raw))["te0"].get("status")
        return None if out is None else str(out)

    assert status(b'{"name":"search"}', outputs=None) is None
    assert status(b'{"name":"search","status":{"code":0}}', outputs=None) is None
    assert status(b'{"name":"search","status":{"code":1}}', outputs=None) == "succeeded"
    assert status(b'{"status":"completed"}', outputs=None) == "succeeded"
    assert status(b'{"name":"search"}', outputs="") == "succeeded"
    assert status(b"{}", outputs=None, execution_status=ExecutionStatus.ERROR) == "error"


def test_a_title_of_the_protocol_is_no_name_and_does_not_leak() -> None:
    pointer = {"path": "x", "offset": 0, "length": 2, "sha256": "0" * 64, "what": "acp"}
    secret = "curl -H 'token: hunter2' example.org"
    told = tool_log(name=secret, link=LinkStatus.NONE, evidence={"records": [pointer], "interaction_id": "e" * 24})
    alone = step(1, told, kind=StepKind.TOOL_ONLY, input={}, output={}, model=None, evidence={"records": [pointer]})
    lines = aer(trajectory(alone))
    found = records(lines)["te0"]
    assert found["title"] == secret
    assert found["unknown"]["name"] == "not_recorded"
    assert "hunter2" not in derive_prov(lines).decode()
    assert "hunter2" in derive_prov(lines, options=Options(emit_content=True)).decode()


def test_an_id_that_no_cited_byte_holds_is_not_observed() -> None:
    source = b'{"name":"search","output":"found"}'
    pointer = {"path": "x", "offset": 0, "length": len(source), "sha256": "0" * 64, "what": "span"}
    log = tool_log("call_made_up", evidence={"records": [pointer], "said_by": {"tool_name": "generic"}})
    found = records(aer(trajectory(step(1, log)), read=Raw({"x": source})))["te0"]
    assert found["fields"]["tool_call_id"]["class"] == "D"
    assert found["fields"]["name"] == {"class": "O", "by": "source", "at": [0, "/name"]}
