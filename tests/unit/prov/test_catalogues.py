"""The shipped data: rule catalogues and vocabulary say the same as the code that reads them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from otel2traj.model.unknown import EvidenceClass, UnknownReason
from otel2traj.prov import rules
from otel2traj.prov.core import STATUS
from otel2traj.prov.document import CLASSES, ENDS, REASONS
from otel2traj.prov.records import cited
from otel2traj.prov.rules import CATALOGUES, catalogue, catalogue_bytes
from otel2traj.prov.versions import VOCABULARY
from otel2traj.prov.vocabulary import terms, vocabulary_bytes


@pytest.mark.parametrize("name", CATALOGUES)
def test_each_catalogue_is_versioned_and_digested(name: str) -> None:
    found = catalogue(name)
    assert found.digest == hashlib.sha256(catalogue_bytes(name)).hexdigest()
    assert found.version >= 1
    for rule in found.rules.values():
        assert rule.id == f"{name}.{rule.name}@{rule.version}"
        assert rule.meaning.endswith(".")


def test_a_rule_with_citations_has_a_twin_of_class_i() -> None:
    rules = catalogue("otel2traj").rules
    with_citations = [rule for rule in rules.values() if rule.cites]
    assert with_citations
    for rule in with_citations:
        assert rule.evidence is EvidenceClass.DERIVED
        assert rules[f"{rule.name}_unverified"].evidence is EvidenceClass.INFERRED
    assert cited("tool_call_id_unique", "acp") == "tool_call_id_unique"
    assert cited("tool_call_id_unique", None) == "tool_call_id_unique_unverified"


def test_a_rule_that_is_not_listed_does_not_exist() -> None:
    with pytest.raises(KeyError):
        catalogue("aprov")["use_by_order"]


def test_a_turtle_parser_reads_the_same_terms() -> None:
    rdflib = pytest.importorskip("rdflib")
    graph = rdflib.Graph().parse(data=vocabulary_bytes(), format="turtle")
    base = "https://w3id.org/agentprov/ns#"
    subjects = {str(one) for one in graph.subjects(rdflib.RDF.type) if str(one).startswith(base)}
    assert subjects == {base + term for term in terms()}
    for term in terms():
        assert graph.value(rdflib.URIRef(base + term), rdflib.RDFS.comment) is not None, term
    (version,) = graph.objects(None, rdflib.OWL.versionInfo)
    assert str(version) == VOCABULARY
    for named in graph.objects(None, rdflib.RDFS.subClassOf):
        assert not str(named).startswith(base) or str(named) in subjects


def test_the_vocabulary_has_every_term_of_the_code_and_the_catalogue() -> None:
    known = terms()
    for rule in catalogue("aprov").rules.values():
        assert rule.type is None or known[rule.type] == "owl:Class"
        assert rule.role is None or known[rule.role] == "apv:Role"
        assert rule.kind in (*ENDS, "entity", "activity", "agent")
    assert {known[name.removeprefix("apv:")] for name in CLASSES.values()} == {"apv:EvidenceClass"}
    assert {known[name.removeprefix("apv:")] for name in REASONS.values()} == {"apv:EpistemicStatus"}
    assert len(REASONS) == len(UnknownReason) == 7
    assert {known[f"{term}Status"] for term in STATUS.values()} == {"owl:ObjectProperty"}


def test_the_terms_that_others_know_are_kept() -> None:
    published = (
        "ModelInvocation ToolExecution AssistantMessage ToolCallRequest Fixture AgentSystem Attacker evidenceClass "
        "rule basisRule sourcePointer rulePointer toolName afterCausal vocabularyVersion startTimeStatus Observed "
        "Derived Inferred NotRecorded CallRequestInput"
    )
    assert set(published.split()) <= terms().keys()


def test_no_rule_of_the_adapter_or_the_profiles_is_dead() -> None:
    """Every name stands in the code of the room, whole or behind the prefix that the evidence completes."""
    room = Path(rules.__file__).parents[1]
    code = "".join(path.read_text("utf-8") for path in room.glob("*.py"))
    for name in ("otel2traj", "sem"):
        for rule in catalogue(name).rules.values():
            stem = rule.name.removesuffix("_unverified")
            prefixed = stem.startswith(("join_", "inferred_"))
            assert f'"{stem}"' in code or prefixed, rule.id
