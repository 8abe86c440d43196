"""The same statements as RDF, read by rdflib: plain triples give rows, qualified ones carry class, rule and pointer."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from otel2traj.api import prov
from otel2traj.canonical import JsonObject, loads
from otel2traj.errors import EvidenceError
from otel2traj.prov.validate.profile import bundles, statements

ATTEMPT = Path(__file__).parents[3] / "fixtures" / "attempts" / "abb-02-parallel-tools" / "attempt"
PROV = "PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX apv: <https://w3id.org/agentprov/ns#> "


def test_plain_and_qualified_triples_agree_with_the_document(tmp_path: Path) -> None:
    rdflib = pytest.importorskip("rdflib")
    file = tmp_path / "p.json"
    prov.export_file(ATTEMPT, file)
    document: JsonObject = loads(file.read_bytes())  # type: ignore[assignment]
    graph = rdflib.Dataset(default_union=True)
    graph.parse(io.StringIO("".join(prov.rdf(file))), format="trig")
    stated = [one for instance in (document, *bundles(document).values()) for one in statements(instance)]
    for section in ("used", "wasGeneratedBy", "wasAssociatedWith", "wasDerivedFrom", "hadMember"):
        expected = sum(kind == section for kind, _, _ in stated)
        assert expected
        assert len(list(graph.query(f"{PROV} SELECT DISTINCT ?a ?b {{ ?a prov:{section} ?b }}"))) == expected
    qualified = f"""{PROV} SELECT ?a ?e ?rule ?class {{
        ?a prov:used ?e ; prov:qualifiedUsage ?u . ?u a prov:Usage ; prov:entity ?e ; prov:hadRole ?role ;
        apv:rule ?rule ; apv:evidenceClass ?class ; apv:sourcePointer ?pointer }}"""
    assert len(list(graph.query(qualified))) == sum(kind == "used" for kind, _, _ in stated)
    times = list(graph.query(f"{PROV} SELECT ?t {{ ?a prov:startedAtTime ?t }}"))
    assert len(times) == sum("prov:startTime" in item for _, _, item in stated)
    assert all(isinstance(one[0].toPython(), __import__("datetime").datetime) for one in times)


def test_what_is_not_ours_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"entity": {}}')
    with pytest.raises(EvidenceError, match="apv namespace"):
        list(prov.rdf(file))
