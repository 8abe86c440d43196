"""Each rule of each tier has a change of good data that breaks it, and is named when it does."""

from __future__ import annotations

import contextlib
import copy
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

from otel2traj.canonical import JsonObject, canonical_bytes, jcs, loads
from otel2traj.errors import Otel2TrajError
from otel2traj.model.finding import Severity
from otel2traj.prov.engine import derive_prov
from otel2traj.prov.validate import (
    RULES,
    AerIndex,
    NotRun,
    validate,
    validate_aer,
    validate_clock,
    validate_linkage,
    validate_profile,
    validate_roundtrip,
    validate_sem,
    validate_structure,
)
from otel2traj.prov.validate.places import validate_places

from .made import bundle, changed, digest_of, prov, read, records, resealed, rich_aer, sems

Records = dict[str, JsonObject]
CALL = "x:" + records(rich_aer())["te0"]["call"]
AMBIGUOUS = CALL.removeprefix("x:").partition("-")[0] + "-1"


def edited(edit: Callable[[Records], Any]) -> list[bytes]:
    def run(found: Records) -> None:
        edit(found)

    return changed(run)


def put(identifier: str, **values: Any) -> Callable[[Records], Any]:
    return lambda found: found[identifier].update(values)


def drop(identifier: str, *names: str) -> Callable[[Records], Any]:
    return lambda found: [found[identifier].pop(name) for name in names]


def field(identifier: str, name: str, **how: Any) -> Callable[[Records], Any]:
    return lambda found: found[identifier]["fields"][name].update(how)


def nowhere(found: Records) -> None:
    found["mc0"]["source"] = [{**found["mc0"]["source"][0], "path": "other.jsonl"}]


_SEEN = {"class": "O", "by": "interceptor", "at": [0, ""]}
AER: dict[str, tuple[str, list[bytes]]] = {
    "not JSON": ("aer.json", [*rich_aer()[:3], b"{\n", *rich_aer()[3:]]),
    "not an object": ("aer.json", [*rich_aer()[:3], b"[]\n", *rich_aer()[3:]]),
    "a number for a name": ("aer.form", edited(put("te0", call=7))),
    "spaces": ("aer.canonical", [rich_aer()[0].replace(b":", b": ", 1), *rich_aer()[1:]]),
    "no line feed": ("aer.canonical", [*rich_aer()[:-1], rich_aer()[-1].rstrip(b"\n")]),
    "another schema": ("aer.first", edited(put("ex", schema="aer/9"))),
    "no head": ("aer.first", resealed(list(records(rich_aer()).values())[1:])),
    "another run": ("aer.identity", edited(put("ex", run_id="other"))),
    "no such kind": ("aer.kind", edited(put("m0", kind="thought"))),
    "wrong prefix": ("aer.id", edited(put("d0", id="te99"))),
    "twice": ("aer.id", resealed([*records(rich_aer()).values(), records(rich_aer())["m0"]])),
    "no class": ("aer.class", edited(drop("m0", "class"))),
    "field without class": ("aer.class", edited(field("m0", "role", **{"class": "X"}))),
    "by nobody": ("aer.by", edited(put("m0", by="someone"))),
    "observed by a rule": ("aer.rule", edited(put("m0", rule="otel2traj.seal@1"))),
    "derived by none": ("aer.rule", edited(field("te0", "call", rule=None))),
    "rule of another class": ("aer.rule", edited(field("te0", "call", rule="otel2traj.inferred_name@1"))),
    "unlisted field": ("aer.fields", edited(put("m0", colour="red"))),
    "listed and not there": (
        "aer.fields",
        edited(lambda f: f["m0"]["fields"].update(colour=f["m0"]["fields"]["role"])),
    ),
    "says nothing of its call": (
        "aer.required",
        edited(lambda f: (f["te0"].pop("call"), f["te0"]["fields"].pop("call"))),
    ),
    "another reason": ("aer.unknown", edited(lambda f: f["te0"]["unknown"].update(started="forgotten"))),
    "there and unknown": ("aer.unknown", edited(lambda f: f["te0"]["unknown"].update(name="lost"))),
    "to nowhere": ("aer.reference", edited(put("mc0", response="m999"))),
    "to another kind": ("aer.reference", edited(put("te0", call="m0"))),
    "after itself": ("aer.after", edited(lambda f: f[f["te0"]["after"][0]].update(after=["te0"]))),
    "ambiguous and linked": ("aer.link", edited(put("te0", call=AMBIGUOUS))),
    "observed nowhere": ("aer.place", edited(lambda f: f["te0"]["fields"]["arguments"].pop("at"))),
    "observed in no source": ("aer.place", edited(field("te0", "arguments", at=[7, "/arguments"]))),
    "by another than wrote it": ("aer.by", edited(field("te0", "arguments", by="interceptor"))),
    "a call without execution": ("aer.link", edited(lambda f: f["te0"].update(call="m2-1"))),
    "ids that differ": ("aer.link", edited(put("te0", tool_call_id="c9"))),
    "linked twice": ("aer.link", edited(lambda f: f["te1"].update(call=f["te0"]["call"]))),
    "no such source": ("aer.pointer", edited(nowhere)),
    "half a pointer": ("aer.pointer", edited(put("mc0", source=[{"path": "logs/network.jsonl"}]))),
    "a changed field": ("aer.seal", [rich_aer()[0], rich_aer()[1].replace(b"case", b"cast", 1), *rich_aer()[2:]]),
    "a line less": ("aer.seal", [*rich_aer()[:5], *rich_aer()[6:]]),
    "ordered by no rule": ("aer.made", edited(field("mc0", "order", rule="otel2traj.put_together@1"))),
    "an order that was recorded": ("aer.made", edited(lambda f: f["mc0"]["fields"].update(order=dict(_SEEN)))),
    "no such direction": ("aer.word", edited(put("m0", direction="sideways"))),
    "a status of no word": ("aer.word", edited(put("seal", status="fine"))),
    "a request without its length": ("aer.agree", edited(put("rq0", length=9))),
    "a decision of nothing": ("aer.agree", edited(put("d0", outcome="answer"))),
    "a response without a decision": ("aer.agree", edited(lambda f: f.pop("d0"))),
    "a step that is gone": ("aer.order", edited(lambda f: f["mc0"].update(order=7))),
    "an Input of other steps": ("aer.order", edited(put("s0001", steps=[1, 9]))),
    "a message of nobody": ("aer.orphan", edited(lambda f: f["rq0"]["messages"].pop())),
    "issues that are gone": ("aer.seal", [*rich_aer()[:-1], rich_aer()[-1].replace(b'"issues":[]', b'"issues":["x"]')]),
    "no seal": ("aer.seal", list(rich_aer()[:-1])),
    "more after the seal": ("aer.seal", [*rich_aer(), rich_aer()[-1]]),
    "two lines swapped": ("aer.seal", [*rich_aer()[:5], rich_aer()[6], rich_aer()[5], *rich_aer()[7:]]),
}


@pytest.mark.parametrize("name", sorted(AER))
def test_tier_1_names_what_was_changed(name: str) -> None:
    rule, lines = AER[name]
    assert rule in {one.rule for one in validate_aer(lines)}


def sem_with(edit: Callable[[list[JsonObject]], Any], profile: int = 0) -> list[bytes]:
    found = [dict(loads(line)) for line in sems(rich_aer())[profile]]  # type: ignore[arg-type]
    edit(found)
    return resealed(found)


def note(number: int, profile: int = 0, **values: Any) -> list[bytes]:
    return sem_with(lambda found: found[number + 1].update(values), profile)


def of_type(kind: str, **values: Any) -> list[bytes]:
    return sem_with(lambda found: next(one for one in found if one.get("type") == kind).update(values), 1)


GOOD = sems(rich_aer())[0]
SEM: dict[str, tuple[str, list[bytes]]] = {
    "not JSON": ("sem.json", [GOOD[0], b"{\n", *GOOD[1:]]),
    "no such line": ("sem.json", note(0, kind="thought")),
    "a number for a target": ("sem.form", note(0, target=7)),
    "spaces": ("sem.canonical", [GOOD[0].replace(b":", b": ", 1), *GOOD[1:]]),
    "another profile": ("sem.head", sem_with(lambda f: f[0].update(profile="mine"))),
    "another execution": ("sem.head", sem_with(lambda f: f[0].update(execution="ex_other"))),
    "another catalogue": ("sem.head", sem_with(lambda f: f[0]["catalogue"].update(sha256="0" * 64))),
    "twice": ("sem.id", note(1, id="an0")),
    "no such rule": ("sem.rule", note(0, rule="sem.guess@1")),
    "rule of another type": ("sem.rule", note(0, rule="sem.taint_policy@1")),
    "no such role": ("sem.value", note(0, value="king")),
    "no such outcome": (
        "sem.value",
        sem_with(lambda f: next(o for o in f if o.get("type") == "outcome").update(value={})),
    ),
    "no such label": ("sem.value", of_type("integrity", value="pure")),
    "no injection": ("sem.value", of_type("marker", value={})),
    "exposed to nothing": ("sem.value", of_type("exposure", value={"to": ["m999"]})),
    "of nothing": ("sem.target", note(0, target="m999")),
    "from nothing": ("sem.target", note(0, source=["m0/colour"])),
    "better than it is": ("sem.class", note(0, **{"class": "O"})),
    "no seal": ("sem.seal", GOOD[:-1]),
    "another AER": ("sem.seal", sem_with(lambda f: f[-1].update(aer="sha256:" + "0" * 64))),
    "changed": ("sem.seal", [*GOOD[:1], *GOOD[2:]]),
}


@pytest.mark.parametrize("name", sorted(SEM))
def test_tier_2_names_what_was_changed(name: str) -> None:
    rule, lines = SEM[name]
    assert rule in {one.rule for one in validate_sem(lines, AerIndex(rich_aer()))}


def document() -> JsonObject:
    return copy.deepcopy(prov(rich_aer()))


def doc(edit: Callable[[JsonObject], Any]) -> JsonObject:
    made = document()
    edit(made)
    return made


def encoded(made: JsonObject) -> bytes:
    return canonical_bytes(made) + b"\n"


def first(made: JsonObject, section: str, name: str = "core") -> JsonObject:
    item = next(iter(bundle(made, name)[section].values()))
    assert isinstance(item, dict)
    return item


def node(made: JsonObject, section: str, key: str) -> JsonObject:
    item = bundle(made)[section][key]
    assert isinstance(item, dict)
    return item


def text(old: str, new: str) -> bytes:
    data = encoded(document()).decode()
    assert old in data
    return data.replace(old, new, 1).encode()


NOW = "2026-01-02T03:04:05Z"
STRUCTURE: dict[str, tuple[str, bytes]] = {
    "not JSON": ("structure.json", b"{"),
    "not an object": ("structure.json", b"[]"),
    "a key twice": ("structure.repeated-key", text('{"activity":', '{"agent":{},"activity":')),
    "no such section": ("structure.section", encoded(doc(lambda d: d.update(wasThoughtBy={})))),
    "a bundle in a bundle": ("structure.section", encoded(doc(lambda d: bundle(d).update(bundle={})))),
    "no IRI": ("structure.prefix", encoded(doc(lambda d: d["prefix"].update(ex="nowhere")))),
    "misspelt": ("structure.key", encoded(doc(lambda d: first(d, "used").update({"prov:activty": "x:te0"})))),
    "no activity": ("structure.mandatory", encoded(doc(lambda d: first(d, "used").pop("prov:activity")))),
    "no such prefix": ("structure.name", encoded(doc(lambda d: first(d, "used").update({"prov:entity": "y:e"})))),
    "a name that breaks": ("structure.name", encoded(doc(lambda d: bundle(d)["entity"].update({"x:a b": {}})))),
    "noon": ("structure.time", encoded(doc(lambda d: node(d, "activity", "x:mc0").update({"prov:startTime": "noon"})))),
    "null": ("structure.value", encoded(doc(lambda d: first(d, "used").update({"apv:rule": None})))),
    "a number as literal": (
        "structure.value",
        encoded(doc(lambda d: first(d, "used").update({"apv:rule": {"$": 1, "type": "xsd:int"}}))),
    ),
    "a bare number": ("structure.form", encoded(doc(lambda d: first(d, "used").update({"apv:rule": 1})))),
    "two under one id": (
        "structure.form",
        encoded(doc(lambda d: bundle(d)["used"].update({"x:u": [first(d, "used"), first(d, "used")]}))),
    ),
    "no id": ("structure.form", encoded(doc(lambda d: bundle(d)["used"].update({"_:u": first(d, "used")})))),
    "nothing in it": ("structure.form", encoded(doc(lambda d: bundle(d).update(wasInformedBy={})))),
    "indented": ("structure.canonical", encoded(document()).replace(b",", b", ", 1)),
    "no line feed": ("structure.canonical", encoded(document()).rstrip(b"\n")),
    "not sorted": (
        "structure.canonical",
        encoded(doc(lambda d: node(d, "agent", "x:a0").update({"prov:label": ["b", "a"]}))),
    ),
}


@pytest.mark.parametrize("name", sorted(STRUCTURE))
def test_tier_3a_names_what_was_changed(name: str) -> None:
    rule, data = STRUCTURE[name]
    assert rule in {one.rule for one in validate_structure(data)}


def relation(section: str, key: str, **values: str) -> Callable[[JsonObject], Any]:
    made = {f"prov:{name}": value for name, value in values.items()}
    return lambda d: bundle(d).setdefault(section, {}).update({key: {**first(d, "used"), **made}})


PROFILE: dict[str, tuple[str, JsonObject]] = {
    "no class": ("profile.class", doc(lambda d: first(d, "used").pop("apv:evidenceClass"))),
    "no such rule": ("profile.rule", doc(lambda d: first(d, "used").update({"apv:rule": "aprov.guess@1"}))),
    "another rule": ("profile.rule", doc(lambda d: first(d, "used").update({"apv:rule": "aprov.gen_result@1"}))),
    "another role": ("profile.rule", doc(lambda d: first(d, "used").pop("prov:role"))),
    "another type": ("profile.rule", doc(lambda d: node(d, "activity", "x:mc0").pop("prov:type"))),
    "no pointer": ("profile.pointer", doc(lambda d: first(d, "used").pop("apv:sourcePointer"))),
    "a guess in core": (
        "profile.core-class",
        doc(lambda d: first(d, "used")["apv:evidenceClass"].update({"$": "apv:Inferred"})),
    ),
    "no core": ("profile.bundle", doc(lambda d: d["bundle"].pop("xd:core"))),
    "another bundle": ("profile.bundle", doc(lambda d: d["bundle"].update({"xd:rumours": {}}))),
    "not described": ("profile.bundle", doc(lambda d: d["entity"].pop("xd:core"))),
    "a fact among guesses": (
        "profile.method",
        doc(lambda d: first(d, "used", "inference.name")["apv:evidenceClass"].update({"$": "apv:Observed"})),
    ),
    "another method": (
        "profile.method",
        doc(lambda d: d["bundle"]["xd:inference.name"].update(used=bundle(d, "inference.ambiguous_call")["used"])),
    ),
    "a relation as a claim": (
        "profile.assessment",
        doc(lambda d: bundle(d, "assessment.injection").update(used={"x:u": first(d, "used")})),
    ),
    "a derivation by order": (
        "profile.dependency",
        doc(relation("wasDerivedFrom", "x:d", generatedEntity="x:m1", usedEntity="x:m0")),
    ),
    "a communication": (
        "profile.dependency",
        doc(relation("wasInformedBy", "x:i", informed="x:mc1", informant="x:mc0")),
    ),
    "a tool that knows more": ("profile.tool-input", doc(relation("used", "x:u2", activity="x:te0", entity="x:m0"))),
    "a tool with a forged role": (
        "profile.tool-input",
        doc(lambda d: [i.update({"prov:activity": "x:te0"}) for i in bundle(d)["used"].values()]),
    ),
    "a tool that used a message as its call": (
        "profile.tool-input",
        doc(
            lambda d: [
                i.update({"prov:entity": "x:m0"})
                for i in bundle(d)["used"].values()
                if i["apv:rule"] == "aprov.use_request@1"
            ]
        ),
    ),
    "a time and none": (
        "profile.time",
        doc(lambda d: node(d, "activity", "x:te0").update({"prov:startTime": NOW})),
    ),
    "neither time nor reason": ("profile.time", doc(lambda d: node(d, "activity", "x:te0").pop("apv:endTimeStatus"))),
    "a term of one's own": ("profile.term", doc(lambda d: first(d, "used").update({"apv:trustMe": "yes"}))),
    "a claim about nothing": (
        "profile.reference",
        doc(lambda d: first(d, "entity", "assessment.default")["apv:about"].update({"$": "x:m999"})),
    ),
    "no version": ("profile.version", doc(lambda d: d["activity"]["xd:derivation"].pop("apv:vocabularyVersion"))),
}


@pytest.mark.parametrize("name", sorted(PROFILE))
def test_tier_3c_names_what_was_changed(name: str) -> None:
    rule, made = PROFILE[name]
    assert rule in {one.rule for one in validate_profile(made)}


def at(made: JsonObject, key: str, start: str | None, end: str | None) -> None:
    item = node(made, "activity", key)
    for name, value in (("prov:startTime", start), ("prov:endTime", end)):
        item.pop(name, None)
        if value is not None:
            item[name] = value


EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-09T00:00:00Z"
CLOCK: dict[str, tuple[str, JsonObject]] = {
    "backwards": ("clock.backwards", doc(lambda d: at(d, "x:mc0", LATE, EARLY))),
    "used too early": (
        "clock.use-before-making",
        doc(lambda d: (at(d, "x:te0", None, EARLY), at(d, "x:mc0", LATE, None))),
    ),
    "after, and before": ("clock.order", doc(lambda d: (at(d, "x:te0", None, EARLY), at(d, "x:mc0", LATE, None)))),
}


@pytest.mark.parametrize("name", sorted(CLOCK))
def test_tier_3d_warns(name: str) -> None:
    rule, made = CLOCK[name]
    found = validate_clock(made)
    assert rule in {one.rule for one in found}
    assert {one.severity for one in found} == {Severity.WARNING}


ROUND: dict[str, tuple[str, JsonObject]] = {
    "a time it cannot read": (
        "roundtrip.read",
        doc(lambda d: node(d, "activity", "x:mc0").update({"prov:startTime": "noon"})),
    ),
    "a null": ("roundtrip.read", doc(lambda d: first(d, "used").update({"prov:time": None}))),
    "a value twice": ("roundtrip.count", doc(lambda d: first(d, "used").update({"apv:path": ["a", "a"]}))),
    "not a number": (
        "roundtrip.model",
        doc(lambda d: first(d, "used").update({"apv:order": {"$": "NaN", "type": "xsd:double"}})),
    ),
}


@pytest.mark.parametrize("name", sorted(ROUND))
def test_tier_4_names_what_was_changed(name: str) -> None:
    pytest.importorskip("prov.model")
    rule, made = ROUND[name]
    assert rule in {one.rule for one in validate_roundtrip(encoded(made), made)}


def test_tier_4_says_when_it_did_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prov.model", None)
    with pytest.raises(NotRun, match="not installed"):
        validate_roundtrip(encoded(document()), document())
    results = {one.tier: one for one in validate(prov=encoded(document()))}
    assert results["4"].status == "not_run"
    assert "otel2traj[prov]" in results["4"].remarks[0]
    assert results["1"].status == results["2"].status == results["5"].status == "not_run"


def other_digest(d: JsonObject) -> None:
    d["entity"]["xd:aer"]["apv:digest"] = "sha256:" + "0" * 64


LINKAGE: dict[str, tuple[str, JsonObject]] = {
    "another AER": ("linkage.record", doc(other_digest)),
    "another execution": (
        "linkage.record",
        doc(lambda d: d["prefix"].update(x="https://w3id.org/agentprov/exec/ex_o#")),
    ),
    "a pointer to nowhere": (
        "linkage.pointer",
        doc(lambda d: first(d, "used").update({"apv:sourcePointer": "te99/call"})),
    ),
    "a pointer to a declared unknown": (
        "linkage.pointer",
        doc(lambda d: first(d, "used").update({"apv:sourcePointer": "te0/started"})),
    ),
    "better than its field": (
        "linkage.class",
        doc(lambda d: [i["apv:evidenceClass"].update({"$": "apv:Observed"}) for i in bundle(d)["used"].values()]),
    ),
    "another basis": ("linkage.basis", doc(lambda d: node(d, "activity", "x:te0").update({"apv:basisRule": "x.y@1"}))),
    "another message": (
        "linkage.ends",
        doc(lambda d: [i.update({"prov:entity": "x:m3"}) for i in bundle(d)["used"].values()]),
    ),
    "a time that was not recorded": (
        "linkage.time",
        doc(lambda d: node(d, "activity", "x:te0").update({"prov:startTime": NOW})),
    ),
    "another time": ("linkage.time", doc(lambda d: node(d, "activity", "x:mc0").update({"prov:startTime": NOW}))),
    "another tool": ("linkage.value", doc(lambda d: node(d, "activity", "x:te0").update({"apv:toolName": "rm"}))),
    "another call": ("linkage.value", doc(lambda d: node(d, "entity", CALL).update({"apv:toolName": "rm"}))),
    "another order": (
        "linkage.value",
        doc(lambda d: node(d, "activity", "x:te0")["apv:afterCausal"].update({"$": "x:m0"})),
    ),
    "another type": (
        "linkage.value",
        doc(lambda d: node(d, "agent", "x:a0")["prov:type"].append({"$": "apv:Judge", "type": "prov:QUALIFIED_NAME"})),
    ),
    "another reason": (
        "linkage.unknown",
        doc(lambda d: node(d, "activity", "x:te0")["apv:startTimeStatus"].update({"$": "apv:Withheld"})),
    ),
    "a reason left out": ("linkage.unknown", doc(lambda d: node(d, "activity", "x:te0").pop("apv:endTimeStatus"))),
    "an ambiguous call in core": (
        "linkage.ambiguous",
        doc(lambda d: [i.update({"prov:entity": f"x:{AMBIGUOUS}"}) for i in bundle(d)["used"].values()]),
    ),
    "an execution left out": ("linkage.coverage", doc(lambda d: bundle(d)["activity"].pop("x:te0"))),
}


@pytest.mark.parametrize("name", sorted(LINKAGE))
def test_tier_5_names_what_was_changed(name: str) -> None:
    rule, made = LINKAGE[name]
    assert rule in {one.rule for one in validate_linkage(made, AerIndex(rich_aer()), read)}


RAW: dict[str, str] = {
    "a flipped byte": "linkage.raw",
    "a file that is gone": "linkage.raw",
    "more bytes": "linkage.object",
}


@pytest.mark.parametrize(
    "edit",
    [
        field("te0", "arguments", at=[0, "/output"]),
        field("te0", "arguments", at=[0, "/nowhere"]),
        field("m0", "content", at=[0, 1, 2]),
        put("m0", content="Be bad."),
        lambda found: found["m2"]["parts"][0].update(at=[0, "/payload/tool_calls/1"]),
    ],
)
def test_tier_5_opens_every_place(edit: Callable[[Records], None]) -> None:
    assert list(validate_places(rich_aer(), read)) == []
    assert {one.rule for one in validate_places(edited(edit), read)} == {"linkage.place"}


@pytest.mark.parametrize("name", sorted(RAW))
def test_tier_5_reads_the_raw_bytes(name: str) -> None:
    def wrong(path: str, offset: int, length: int) -> bytes | None:
        data = read(path, offset, length)
        if data is None or path != "logs/network.jsonl" or name == "more bytes":
            return data
        return None if name == "a file that is gone" else bytes([data[0] ^ 1]) + data[1:]

    digests = (lambda path: "0" * 64) if name == "more bytes" else digest_of
    found = validate_linkage(document(), AerIndex(rich_aer()), wrong, digests)
    assert {one.rule for one in found} == {RAW[name]}


JUNK: list[Any] = [None, 0, -1, "", [], {}, "x", [1], {"a": 1}, True, 1.5, "m0", ["m0"], {"$": 1}]


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(one for key, item in below for one in paths(item, (*path, key)))]


def spoilt(value: Any, chance: random.Random) -> Any:
    """A copy with one value replaced by junk, or one key left out."""
    out = copy.deepcopy(value)
    *way, last = chance.choice([one for one in paths(out) if one])
    target = out
    for key in way:
        target = target[key]
    if isinstance(target, dict) and chance.random() < 0.3:
        del target[last]
    else:
        target[last] = chance.choice(JUNK)
    return out


@pytest.mark.parametrize("seed", range(40))
def test_junk_is_a_finding_or_an_error_and_never_a_crash(seed: int) -> None:
    chance = random.Random(seed)
    lines = [jcs(one) + b"\n" for one in spoilt(list(records(rich_aer()).values()), chance)]
    sem = [[jcs(one) + b"\n" for one in spoilt([loads(x) for x in each], chance)] for each in sems(rich_aer())]
    made = encoded(spoilt(document(), chance))
    for aer, others, whole in ((lines, sems(rich_aer()), encoded(document())), (list(rich_aer()), sem, made)):
        results = validate(prov=whole, aer=aer, sems=others, read=read, roundtrip=False)
        assert len(results) == 9
        with contextlib.suppress(Otel2TrajError):
            derive_prov(aer, others)
    with contextlib.suppress(Otel2TrajError):
        sems(lines)


def _derived(**given: Any) -> set[str]:
    lines = rich_aer()
    usual: dict[str, Any] = {"prov": encoded(document()), "aer": lines, "sems": sems(lines)}
    results = validate(**{**usual, **given}, roundtrip=False)
    return {found.rule for one in results if one.tier in ("1", "6") for found in one.findings}


def _fewer(lines: list[bytes]) -> list[bytes]:
    return [*lines[:1], *lines[2:]]


DERIVED: dict[str, Callable[[], set[str]]] = {
    "derivation.aer": lambda: _derived(again=lambda aer: _fewer(list(aer))),
    "derivation.sem": lambda: _derived(sems=[_fewer(list(sems(rich_aer())[0]))]),
    "derivation.prov": lambda: _derived(prov=encoded({**document(), "bundle": {}})),
    "derivation.impossible": lambda: _derived(again=_refuse),
    "derivation.version": lambda: _derived(
        aer=changed(lambda found: found["ex"]["adapter"].update(software="otel2traj 0.0.1"))
    ),
    "aer.document": lambda: _derived(prov=encoded(document()).replace(b"agentprov/ns#", b"agentprow/ns#")),
}


def _refuse(aer: Any) -> list[bytes]:
    raise Otel2TrajError("the evidence is gone")


@pytest.mark.parametrize("rule", DERIVED)
def test_what_is_not_what_it_was_derived_from_is_named(rule: str) -> None:
    assert rule in DERIVED[rule]()


def test_every_rule_has_a_mutation() -> None:
    covered = {rule for table in (AER, SEM, STRUCTURE, PROFILE, CLOCK, ROUND, LINKAGE) for rule, _ in table.values()}
    covered |= set(RAW.values()) | set(DERIVED) | {"linkage.place"}
    assert covered == {rule for rules in RULES.values() for rule in rules}


def test_the_good_data_is_good() -> None:
    lines = rich_aer()
    made = encoded(document())
    assert made == derive_prov(lines, sems(lines))
    results = validate(prov=made, aer=lines, sems=sems(lines), read=read, digest_of=digest_of, roundtrip=False)
    assert [(one.tier, one.findings) for one in results if one.findings] == []
    assert jcs({"a": 1}) == b'{"a":1}'
