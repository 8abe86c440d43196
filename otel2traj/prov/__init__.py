"""Paired evidence into AER, SEM and W3C PROV, and the tiers that check them.

* `aer.AerProjector(out, origin, attempt_path, *, fixtures=(), redact=None)`: a `StepSink` that writes one AER
  (`aer/0.2`) to the binary stream `out`, one RFC 8785 record a line; after `begin` it has `.execution_id`, after `end`
  `.digest` and `.issues`. `fixtures` are `{"path", "declares"}` objects read from the attempt's own files.
* `sem.derive_sem(aer: Iterable[bytes], profile="default") -> Iterator[bytes]`: the lines of one SEM (`sem/0.1`);
  profiles: `sem.PROFILES`.
* `engine.derive_prov(aer: Iterable[bytes], sems: Iterable[Iterable[bytes]] = (), options=Options()) -> bytes`: one
  PROV-JSON document (`agentprov-prov/0.1`), sorted, with a final line feed. `Options(emit_content=False)`.
* `validate.validate_aer(lines)`, `validate_sem(sem, aer)`, `validate_structure(prov)`, `validate_constraints(prov)`,
  `validate_profile(prov)`, `validate_clock(prov)`, `validate_roundtrip(prov)`, `validate_linkage(prov, aer, read)`:
  each a `list[Finding]`; `validate_roundtrip` raises `NotRun` with the reason where it cannot.
  `read(path) -> BinaryIO | None` opens the (inflated) raw bytes of a source.
* `validate.validate(prov=, aer=, sems=, read=) -> list[TierResult]`: all tiers; a tier that did not run says so.
* `identity.execution_id(origin, attempt_path, run_id, case_id)`, `identity.shard(id)`, `identity.statement_id(...)`.
* `rules.catalogue(name)`, `rules.catalogue_bytes(name)` for name in `rules.CATALOGUES`: version and digest.
* `redaction.Redactor(patterns, salt)`: a `redact` callable that replaces what matches with `acct-<12 hex>`.
"""

from __future__ import annotations
