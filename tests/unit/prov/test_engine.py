"""What the engine states, and every attempt to make it state what the contract forbids."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from otel2traj.canonical import JsonObject, canonical_bytes, jcs, loads
from otel2traj.errors import EvidenceError
from otel2traj.model.unknown import EvidenceClass
from otel2traj.prov.constraints.statements import RELATIONS
from otel2traj.prov.document import Basis, Builder, Node, RuleViolation
from otel2traj.prov.engine import Options, derive_prov
from otel2traj.prov.rules import catalogue, catalogue_bytes, parse
from otel2traj.prov.spool import Differs, Spool
from otel2traj.prov.validate import validate
from otel2traj.prov.validate.profile import names, statements
from tests.factory import not_observed, step, tool_log, trajectory

from .made import INJECTION, RAW, aer, bundle, changed, digest_of, prov, read, records, rich_aer, sems

Records = dict[str, JsonObject]


def used(document: JsonObject, name: str = "core") -> set[tuple[str, str]]:
    return {(one["prov:activity"], one["prov:entity"]) for one in bundle(document, name).get("used", {}).values()}


def test_the_document_is_clean_in_every_tier() -> None:
    lines = rich_aer()
    document = derive_prov(lines, sems(lines))
    results = validate(prov=document, aer=lines, sems=sems(lines), read=read, digest_of=digest_of)
    assert {one.tier: (one.status, one.findings) for one in results} == {
        tier: ("passed", []) for tier in ("1", "2", "3a", "3b", "3c", "3d", "4", "5", "6")
    }


def test_the_seeds_example_word_for_word() -> None:
    document = prov(rich_aer())
    call = records(rich_aer())["te0"]["call"]
    node = bundle(document)["activity"]["x:te0"]
    assert node["prov:type"] == {"$": "apv:ToolExecution", "type": "prov:QUALIFIED_NAME"}
    assert node["apv:rule"] == "aprov.n_tool_execution@1"
    assert node["apv:sourcePointer"] == "te0"
    assert node["apv:toolName"] == "search"
    assert names(node["apv:afterCausal"]) == [f"x:{call.partition('-')[0]}"]
    found = {k: v for k, v in bundle(document)["used"].items() if v["prov:activity"] == "x:te0"}
    assert list(found.values()) == [
        {
            "prov:activity": "x:te0",
            "prov:entity": f"x:{call}",
            "prov:role": {"$": "apv:CallRequestInput", "type": "prov:QUALIFIED_NAME"},
            "apv:evidenceClass": {"$": "apv:Derived", "type": "prov:QUALIFIED_NAME"},
            "apv:rule": "aprov.use_request@1",
            "apv:basisRule": "otel2traj.tool_call_id_unique@1",
            "apv:sourcePointer": "te0/call",
        }
    ]
    assert next(iter(found)).startswith("x:use_request.")


def test_the_top_level_records_the_conversion() -> None:
    document = prov(rich_aer())
    assert set(document["activity"]) == {
        "xd:mapping",
        "xd:annotation.default",
        "xd:annotation.injection",
        "xd:derivation",
    }
    assert document["activity"]["xd:derivation"]["apv:vocabularyVersion"] == "0.2.0"
    assert document["activity"]["xd:derivation"]["apv:specification"] == "agentprov-prov/0.1"
    plans = {one["prov:plan"] for one in document["wasAssociatedWith"].values()}
    assert plans == {f"rules:{name}-{catalogue(name).version}" for name in ("otel2traj", "sem", "aprov")}
    assert document["entity"]["xd:aer"]["apv:digest"] == records(rich_aer())["seal"]["digest"]
    raw = [key for key in document["entity"] if key.startswith("raw:")]
    assert len(raw) == len(RAW)


# -- what must never be asserted ------------------------------------------------------------------------------------


def test_no_dependency_from_the_order_of_time() -> None:
    """Ten calls one after the other by the clock, and nothing that relates them."""
    document = prov(aer(trajectory(*(step(n, input={"messages": [f"m{n}"]}) for n in range(1, 11)))))
    core = bundle(document)
    assert not core.keys() & {"wasDerivedFrom", "wasInformedBy", "wasInfluencedBy"}
    calls = {f"x:mc{n}" for n in range(10)}
    made = {one["prov:entity"]: one["prov:activity"] for one in core["wasGeneratedBy"].values()}
    assert not [pair for pair in used(document) if pair[0] in calls and made.get(pair[1]) in calls]
    assert all("apv:afterCausal" not in core["activity"][one] for one in calls)


def test_no_dependency_from_shared_context() -> None:
    """The same text in a tool's result and in a later request, without an identifier, relates nothing."""
    log = tool_log("c1", outputs="secret", evidence={"said_by": {"tool_call_id": "acp"}})
    document = prov(aer(trajectory(step(1, log), step(2, input={"messages": [{"role": "user", "content": "secret"}]}))))
    result = records(aer(trajectory(step(1, log))))["te0"]["result"]
    assert not [pair for pair in used(document) if pair[1] == f"x:{result}"]
    assert not [name for name in document["bundle"] if name.startswith("xd:inference")]


def test_no_dependency_from_taint() -> None:
    calls = tool_log("c2", evidence={"said_by": {"tool_call_id": "acp"}})
    history = [{"role": "tool", "tool_call_id": "c1", "content": INJECTION}]
    document = prov(aer(trajectory(step(1, calls, input={"messages": history}))))
    assessment = bundle(document, "assessment.injection")
    assert set(assessment) == {"entity"}
    tainted = [v for v in assessment["entity"].values() if "apv:Taint" in names(v["prov:type"])]
    assert [names(one["apv:about"]) for one in tainted] == [["x:te0"]]
    assert [pair for pair in used(document) if pair[0] == "x:te0"] == [("x:te0", "x:m1-0")]


def test_a_tool_uses_its_request_and_nothing_else() -> None:
    def more(found: Records) -> None:
        for name in ("inputs", "messages", "files", "used"):
            found["te0"][name] = ["m0", "m1"]
            found["te0"]["fields"][name] = {"class": "O", "by": "source"}

    document = prov(changed(more))
    assert [pair for pair in used(document) if pair[0] == "x:te0"] == [
        ("x:te0", "x:" + records(rich_aer())["te0"]["call"])
    ]


def test_no_time_that_was_not_recorded() -> None:
    document = prov(rich_aer())
    for key, item in bundle(document)["activity"].items():
        record = records(rich_aer())[key.removeprefix("x:")]
        for field, time in (("started", "prov:startTime"), ("ended", "prov:endTime")):
            assert (time in item) == (field in record)

    def both(found: Records) -> None:
        found["mc0"]["unknown"]["started"] = "not_recorded"

    node = bundle(prov(changed(both)))["activity"]["x:mc0"]
    assert "prov:startTime" not in node
    assert names(node["apv:startTimeStatus"]) == ["apv:NotRecorded"]


def test_an_unreadable_time_is_lost_and_kept_in_words() -> None:
    node = bundle(
        prov(aer(trajectory(step(1, started_at="yesterday", ended_at="2026-01-02T03:04:05.123456789+01:00"))))
    )
    call = node["activity"]["x:mc0"]
    assert "prov:startTime" not in call
    assert names(call["apv:startTimeStatus"]) == ["apv:Lost"]
    assert call["apv:startTimeRecorded"] == "yesterday"
    assert call["prov:endTime"] == "2026-01-02T02:04:05.123456Z"
    assert call["apv:endTimeRecorded"] == "2026-01-02T03:04:05.123456789+01:00"


def test_an_ambiguous_link_stays_out_of_core() -> None:
    document = prov(rich_aer())
    call = records(rich_aer())["te0"]["call"].partition("-")[0]
    assert f"x:{call}-1" not in {entity for _, entity in used(document)}
    assert names(bundle(document)["entity"][f"x:{call}-1"]["apv:executionStatus"]) == ["apv:Ambiguous"]
    (pair,) = used(document, "inference.ambiguous_call")
    assert pair[1] == f"x:{call}-1"
    for one in bundle(document, "inference.ambiguous_call")["used"].values():
        assert names(one["apv:evidenceClass"]) == ["apv:Inferred"]


def test_each_method_of_inference_has_a_bundle_of_its_own() -> None:
    document = prov(rich_aer())
    found = {name.removeprefix("xd:inference.") for name in document["bundle"] if name.startswith("xd:inference.")}
    assert found == {"ambiguous_call", "name", "agent_path", "reported_message"}
    (derived,) = bundle(document, "inference.reported_message")["wasDerivedFrom"].values()
    assert derived["prov:usedEntity"] == "x:" + records(rich_aer())["te0"]["result"]
    (acted,) = bundle(document, "inference.agent_path")["actedOnBehalfOf"].values()
    assert acted["prov:delegate"] != acted["prov:responsible"]


def test_an_unverified_link_is_an_inference() -> None:
    log = tool_log(evidence={"said_by": {"tool_call_id": "somebodys_fork"}})
    document = prov(aer(trajectory(step(1, log))))
    assert not [pair for pair in used(document) if pair[0] == "x:te0"]
    assert used(document, "inference.unverified_call") == {("x:te0", "x:m1-0")}


def test_a_call_that_nobody_executed_is_used_by_nothing() -> None:
    document = prov(aer(trajectory(step(1, not_observed("c1")))))
    assert not [entity for _, entity in used(document) if entity == "x:m1-0"]
    assert names(bundle(document)["entity"]["x:m1-0"]["apv:executionStatus"]) == ["apv:NotRecorded"]


def test_class_i_never_reaches_core_whatever_the_record_says() -> None:
    """A field whose class was lowered by hand takes its statements out of core, or stops the engine."""

    def lower(found: Records) -> None:
        found["te0"]["fields"]["call"]["class"] = "I"

    assert not [pair for pair in used(prov(changed(lower))) if pair[0] == "x:te0"]

    def lower_request(found: Records) -> None:
        found["mc0"]["fields"]["request"]["class"] = "I"

    with pytest.raises(RuleViolation, match="inferred statement into core"):
        prov(changed(lower_request))


def test_an_annotation_cannot_become_a_relation() -> None:
    lines = rich_aer()
    sem = [dict(loads(line)) for line in sems(lines)[0]]  # type: ignore[arg-type]
    for edit in ({"type": "used"}, {"value": {"prov:used": "x:m1"}}):
        forged = [jcs({**one, **edit} if one["id"] == "an0" else one) + b"\n" for one in sem]
        with pytest.raises(EvidenceError):
            derive_prov(lines, [forged])


def test_a_sem_of_another_execution_is_refused() -> None:
    other = aer(trajectory(step(1), header={"run_id": "another"}))
    with pytest.raises(EvidenceError, match="is about"):
        derive_prov(rich_aer(), sems(other))


@pytest.mark.parametrize("cut", [slice(0, -1), slice(1, None), slice(0, 0)])
def test_an_aer_without_head_or_seal_is_refused(cut: slice) -> None:
    with pytest.raises(EvidenceError):
        derive_prov(rich_aer()[cut])


# -- requests --------------------------------------------------------------------------------------------------------


def growing(length: int) -> list[JsonObject]:
    return [{"role": "user", "content": f"{number} {'x' * 800}"} for number in range(length)]


def test_a_request_has_its_new_messages_and_sameness_is_inferred() -> None:
    said = growing(3)
    steps = [step(n, input={"system": "s", "messages": said[:n], "tools": [{"name": "t"}]}) for n in (1, 3)]
    document = prov(aer(trajectory(*steps)))
    core = bundle(document)
    members = [(one["prov:collection"], one["prov:entity"]) for one in core["hadMember"].values()]
    found = records(aer(trajectory(*steps)))
    first, second = found["rq0"], found["rq1"]
    assert sorted(members) == sorted(
        [("x:rq0", f"x:{one}") for one in (first["system"], first["tools"], *first["messages"])]
        + [("x:rq1", f"x:{one}") for one in second["messages"]]
    )
    assert len(second["messages"]) == 2
    assert {("x:mc0", "x:rq0"), ("x:mc1", "x:rq1")} <= used(document)
    assert "wasDerivedFrom" not in core
    (sameness,) = bundle(document, "inference.equal_content")["wasDerivedFrom"].values()
    assert (sameness["prov:generatedEntity"], sameness["prov:usedEntity"]) == ("x:rq1", "x:rq0")
    assert sameness["apv:keptMessages"]["$"] == "1"
    assert (sameness["apv:keptSystem"], sameness["apv:keptTools"]) == (True, True)
    assert "prov:Collection" in names(core["entity"]["x:rq0"]["prov:type"])


def test_a_document_is_linear_in_new_messages() -> None:
    """Each of n requests holds all messages before it; twice the calls are twice the bytes, not four times."""
    sizes = []
    for count in (40, 80):
        said = growing(count)
        lines = aer(trajectory(*(step(n, input={"messages": said[:n]}) for n in range(1, count + 1))))
        document = derive_prov(lines, sems(lines)[:1])
        sizes.append(len(document))
        assert len(document) < 1.5 * sum(map(len, lines))
    assert sizes[1] < 2.1 * sizes[0]


def test_what_does_not_fit_in_memory_gives_the_same_bytes() -> None:
    document = derive_prov(rich_aer(), sems(rich_aer()))
    spool = Spool(limit=2_000)
    decoded = loads(document)
    for section, items in decoded.items():  # type: ignore[union-attr]
        for key, item in items.items():
            if section != "bundle":
                spool.put((section, key), canonical_bytes(item), once=True)
                continue
            for inner, table in item.items():
                for name, value in table.items():
                    spool.put(("bundle", key, inner, name), canonical_bytes(value), once=True)
    out = io.BytesIO()
    spool.write(out)
    assert out.getvalue() + b"\n" == document
    spool.put(("entity", "x:late"), b"1", once=True)
    spool.put(("entity", "y:fills"), b'"' + b"x" * 3_000 + b'"', once=True)
    spool.put(("entity", "x:late"), b"2", once=True)
    with pytest.raises(Differs):
        spool.write(io.BytesIO(), frozenset({"entity"}))


# -- the catalogue rules ----------------------------------------------------------------------------------------------


def test_the_engine_can_state_no_more_than_the_catalogue_lists() -> None:
    shipped = catalogue_bytes("aprov").decode()
    name = 'name = "use_request"'
    assert name in shipped
    smaller = parse(shipped.replace(name, 'name = "use_nothing"').encode())
    with pytest.raises(RuleViolation, match="no rule 'use_request'"):
        derive_prov(rich_aer(), options=Options(rules=smaller))


def test_every_rule_of_the_engine_can_be_used() -> None:
    """A rule that no statement of the rich document follows is dead, or missing from the rich document."""
    other = prov(aer(trajectory(step(1, tool_log(evidence={"said_by": {"tool_call_id": "somebodys_fork"}})))))
    taint = tool_log("c2", evidence={"said_by": {"tool_call_id": "acp"}})
    tainted = step(1, taint, input={"messages": [{"role": "tool", "tool_call_id": "c1", "content": "x"}]})
    again = prov(aer(trajectory(step(1), step(2))))
    documents = [prov(rich_aer()), other, prov(aer(trajectory(tainted))), again]
    seen = {
        item["apv:rule"]
        for document in documents
        for instance in (document, *document["bundle"].values())
        for _, _, item in statements(instance)
    }
    unused = catalogue("aprov").ids() - seen
    assert unused == {"aprov.inf_use_name_arguments@1", "aprov.inf_use_reported_result@1"}


_ON = Basis(EvidenceClass.OBSERVED, "te0/call")
_EXECUTION, _PART, _MESSAGE = Node("x:te0", "tool_execution"), Node("x:m1-0", "part"), Node("x:m0", "message")


@pytest.mark.parametrize(
    ("rule", "subject", "target", "basis"),
    [
        ("use_request", _EXECUTION, _MESSAGE, _ON),
        ("use_input", _EXECUTION, _MESSAGE, _ON),
        ("n_tool_execution", _EXECUTION, _PART, _ON),
        ("as_taint", _EXECUTION, _MESSAGE, _ON),
        ("use_request", _EXECUTION, _PART, Basis(EvidenceClass.INFERRED, "te0/call")),
        ("wasDerivedFrom", _MESSAGE, _PART, _ON),
    ],
)
def test_the_builder_refuses_what_no_rule_allows(rule: str, subject: Node, target: Node, basis: Basis) -> None:
    with pytest.raises(RuleViolation):
        Builder("ex_x", catalogue("aprov")).relation(rule, subject, target, basis)


def test_a_statement_is_no_better_than_its_rule_and_its_basis() -> None:
    builder = Builder("ex_x", catalogue("aprov"))
    builder.relation("use_request", _EXECUTION, _PART, _ON)
    out = io.BytesIO()
    builder.write(out)
    document = loads(out.getvalue())
    assert isinstance(document, dict)
    (item,) = bundle(document)["used"].values()
    assert names(item["apv:evidenceClass"]) == ["apv:Derived"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (('class = "D"\nkind = "used"\nbundle = "core"', 'class = "I"\nkind = "used"\nbundle = "core"'), "no place"),
        (('kind = "entity"\nbundle = "assessment"', 'kind = "used"\nbundle = "assessment"'), "no relation"),
        (('method = "agent_path"\n', ""), "has a method"),
        (('name = "n_judge"', 'name = "n_judgement"'), "listed twice"),
    ],
)
def test_a_catalogue_that_contradicts_the_contract_cannot_be_read(edit: tuple[str, str], message: str) -> None:
    text = catalogue_bytes("aprov").decode()
    assert edit[0] in text
    with pytest.raises(ValueError, match=message):
        parse(text.replace(*edit, 1).encode())


# -- content and bytes ------------------------------------------------------------------------------------------------


def test_no_content_unless_it_is_asked_for() -> None:
    silent = derive_prov(rich_aer(), sems(rich_aer()))
    for text in (b"Do it.", b"Be good.", INJECTION.encode(), b"found"):
        assert text not in silent
    loud = derive_prov(rich_aer(), options=Options(emit_content=True))
    assert INJECTION.encode() in loud
    assert b"Be good." in loud
    results = validate(prov=loud, aer=rich_aer(), read=read)
    assert not [one for one in results if one.status == "failed"]


def test_the_same_bytes_under_another_hash_seed_and_locale(tmp_path: Path) -> None:
    file = tmp_path / "a.aer.jsonl"
    file.write_bytes(b"".join(rich_aer()))
    code = (
        "import sys;from pathlib import Path;from otel2traj.prov.engine import derive_prov;"
        "from otel2traj.prov.sem import derive_sem;"
        "a=Path(sys.argv[1]).read_bytes().splitlines(True);"
        "sys.stdout.buffer.write(derive_prov(a,[derive_sem(a,p) for p in ('default','injection')]))"
    )
    expected = derive_prov(rich_aer(), sems(rich_aer()))
    for seed, locale in (("1", "C"), ("77", "de_DE.UTF-8")):
        env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale}
        done = subprocess.run([sys.executable, "-c", code, str(file)], env=env, capture_output=True, check=True)
        assert done.stdout == expected


def test_relations_of_core_are_those_of_the_catalogue() -> None:
    kinds = {rule.kind for rule in catalogue("aprov").rules.values() if rule.bundle == "core"} & RELATIONS.keys()
    assert kinds == {"used", "wasGeneratedBy", "wasAssociatedWith", "wasAttributedTo", "hadMember"}
