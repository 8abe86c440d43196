"""Paired evidence into AER, SEM and W3C PROV, and the tiers that check them.

* `aer.AerProjector(out, origin, attempt_path, *, fixtures=(), redact=None)`: a `StepSink` that writes one AER
  (`aer/0.2`) to the binary stream `out`, one RFC 8785 record a line; after `begin` it has `.execution_id`, after `end`
  `.digest` and `.issues`. `read` opens the cited ranges; without it nothing is observed. `refused` names evidence that
  was not taken, and stands among the issues. `fixtures` are `{"path", "declares"}` objects read from the attempt's own
  files.
* `sem.derive_sem(aer: Iterable[bytes], profile="default") -> Iterator[bytes]`: the lines of one SEM (`sem/0.1`);
  profiles: `sem.PROFILES`.
* `engine.derive_prov(aer: Iterable[bytes], sems: Iterable[Iterable[bytes]] = (), options=Options()) -> bytes`: one
  PROV-JSON document (`agentprov-prov/0.1`), sorted, with a final line feed. `Options(emit_content=False)`.
* `validate.validate_aer(lines)`, `validate_sem(sem, index)`, `validate_structure(prov)`, `validate_constraints(json)`,
  `validate_profile(json)`, `validate_clock(json)`, `validate_roundtrip(prov, json)` and
  `validate_linkage(json, index, read, digest_of)`: each gives a `list[Finding]`; `index` is `validate.AerIndex(lines)`.
  `validate_roundtrip` raises `NotRun` with the reason where it cannot. `read(path, offset, length) -> bytes | None`
  gives (inflated) bytes of a source, `digest_of(path) -> str | None` the SHA-256 of the file as it lies there.
* `validate.validate(prov=, aer=, sems=, read=, digest_of=, roundtrip=True) -> list[TierResult]`: all tiers; a tier that
  did not run says so.
* `identity.execution_id(origin, attempt_path, run_id, case_id)`, `identity.shard(id)`, `identity.statement_id(...)`.
* `rules.catalogue(name)`, `rules.catalogue_bytes(name)` for name in `rules.CATALOGUES`: version and digest.
* `redaction.Redactor(patterns, salt)`: a `redact` callable that replaces what matches with `acct-<12 hex>`.
"""

from __future__ import annotations
