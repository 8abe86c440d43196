"""One AER and its SEMs into one PROV-JSON document: core, inference and assessment bundles, and their making."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO, Final

from .. import __version__
from ..canonical import JsonObject
from ..errors import EvidenceError
from ..model.unknown import EvidenceClass
from . import versions
from .assessment import assess
from .core import Core, basis
from .document import Basis, Builder, Node
from .inference import Inference
from .rules import Catalogue, catalogue
from .sem import read_lines
from .shape import well_formed

_BUNDLE_TYPES: Final = {
    "core": "apv:CoreBundle",
    "inference": "apv:InferenceBundle",
    "assessment": "apv:AssessmentBundle",
}


@dataclass(frozen=True, slots=True)
class Options:
    """How to derive. With `emit_content` off, no message text and no tool output stands in the document."""

    emit_content: bool = False
    rules: Catalogue | None = None
    """Another catalogue than the shipped one; the engine can state no more than it lists."""


def derive_prov(aer: Iterable[bytes], sems: Iterable[Iterable[bytes]] = (), options: Options | None = None) -> bytes:
    """As `write_prov`, in memory."""
    out = BytesIO()
    write_prov(out, aer, sems, options)
    return out.getvalue()


def write_prov(
    out: BinaryIO, aer: Iterable[bytes], sems: Iterable[Iterable[bytes]] = (), options: Options | None = None
) -> None:
    """The PROV-JSON document of one execution. The same lines give the same bytes. Statements beyond a limit wait in a
    file without a name, so memory is bounded by the names of the nodes.

    Raises `EvidenceError` where the lines are no sealed AER, or a SEM belongs to another execution, and
    `document.RuleViolation` where a statement would not be covered by the catalogue.
    """
    try:
        _derive(out, aer, sems, options if options is not None else Options())
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        raise EvidenceError(
            f"AER or SEM is not valid ({type(err).__name__}: {err})",
            code="prov.aer",
            hint="otel2traj prov validate says what is wrong with it",
        ) from err


def _derive(out: BinaryIO, aer: Iterable[bytes], sems: Iterable[Iterable[bytes]], options: Options) -> None:
    rules = options.rules if options.rules is not None else catalogue("aprov")
    records = iter(read_lines(aer))
    first = next(records, None)
    if first is None or first.get("kind") != "execution" or first.get("schema") != versions.AER:
        raise EvidenceError(f"not an {versions.AER} record", code="prov.aer", hint="the first line is the execution")
    execution = str(first["execution"])
    builder = Builder(execution, rules)
    core, inference = Core(builder, options.emit_content), Inference(builder)
    raw: list[JsonObject] = []
    seal: JsonObject | None = None
    core.look(first)
    for record in records:
        if record.get("kind") == "seal":
            seal = record
        elif record.get("kind") == "generic_artefact" and record.get("role") == "raw":
            raw.append(record)
        else:
            core.look(record)
            inference.look(record)
    if seal is None:
        raise EvidenceError("the AER has no seal", code="prov.aer", hint="it was cut off; project it again")
    if not all(well_formed(one) for one in (first, *raw, seal)):
        raise EvidenceError("the AER is malformed", code="prov.aer", hint="otel2traj prov validate the AER")
    inference.finish()
    _conversion(builder, rules, first, raw, seal, [assess(builder, lines, execution) for lines in sems])
    builder.write(out)


class _Conversion:
    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self.on = Basis(EvidenceClass.DERIVED, "seal/digest")

    def software(self) -> Node:
        node = Node(f"sw:otel2traj-{__version__}", "software")
        attributes = {"apv:name": "otel2traj", "apv:version": __version__}
        self._builder.node("doc_software", node, self.on, attributes, types=("prov:SoftwareAgent",))
        return node

    def plan(self, rules: Catalogue) -> Node:
        node = Node(f"rules:{rules.name}-{rules.version}", "catalogue")
        attributes = {"apv:digest": f"sha256:{rules.digest}", "apv:version": str(rules.version)}
        self._builder.node("doc_catalogue", node, self.on, attributes, types=("prov:Plan",))
        return node

    def activity(
        self, rule: str, node: Node, rules: Catalogue, inputs: list[Node], outputs: list[Node], software: Node
    ) -> None:
        attributes: JsonObject = {}
        if node.kind == "derivation":
            attributes = {
                "apv:vocabularyVersion": versions.VOCABULARY,
                "apv:specification": versions.SPECIFICATION,
            }
        self._builder.node(rule, node, self.on, attributes)
        self._builder.relation("doc_associated", node, software, self.on, {"prov:plan": self.plan(rules).name})
        for one in inputs:
            self._builder.relation("doc_used", node, one, self.on)
        for one in outputs:
            self._builder.relation("doc_generated", one, node, self.on)
            for source in inputs:
                self._builder.relation("doc_derived", one, source, self.on)


def _conversion(
    builder: Builder,
    rules: Catalogue,
    head: JsonObject,
    raw: list[JsonObject],
    seal: JsonObject,
    sems: list[tuple[str, str]],
) -> None:
    """The document level: raw evidence to AER, AER to SEMs, both to bundles."""
    making = _Conversion(builder)
    software = making.software()
    sources = _raw(builder, raw)
    record = Node("xd:aer", "record")
    attributes = {"apv:format": versions.AER, "apv:digest": seal["digest"], "apv:adapter": head["adapter"]["name"]}
    builder.node("doc_record", record, making.on, attributes)
    making.activity("doc_mapping", Node("xd:mapping", "mapping"), catalogue("otel2traj"), sources, [record], software)
    semantics = []
    for profile, digest in sems:
        node = Node(f"xd:sem.{profile}", "semantics")
        builder.node("doc_semantics", node, making.on, {"apv:format": versions.SEM, "apv:digest": digest})
        activity = Node(f"xd:annotation.{profile}", "annotating")
        making.activity("doc_annotation", activity, catalogue("sem"), [record], [node], software)
        semantics.append(node)
    bundles = []
    for key in builder.bundles:
        kind, _, rest = key.removeprefix("xd:").partition(".")
        node = Node(key, "bundle")
        more = {} if kind == "core" else {"apv:method" if kind == "inference" else "apv:profile": rest}
        builder.node("doc_bundle", node, making.on, more, types=("prov:Bundle", _BUNDLE_TYPES[kind]))
        bundles.append(node)
    derivation = Node("xd:derivation", "derivation")
    making.activity("doc_derivation", derivation, rules, [record, *semantics], bundles, software)


def _raw(builder: Builder, records: list[JsonObject]) -> list[Node]:
    """One entity a digest: two files of the same bytes are one artefact with two paths."""
    paths: dict[str, list[JsonObject]] = {}
    for record in records:
        if isinstance(record.get("object"), str):
            paths.setdefault(record["object"], []).append(record)
    nodes = []
    for digest, same in sorted(paths.items()):
        node = Node(f"raw:sha256-{digest}", "raw")
        attributes = {"apv:path": [str(one["path"]) for one in same]}
        builder.node("doc_raw", node, basis(same[0], "object"), attributes)
        nodes.append(node)
    return nodes
