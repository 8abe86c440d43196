"""Many attempts into one corpus: raw store, index, register, derived records, and a seal that others can check.

* `importing.import_root(root, corpus, options) -> Imported`: raw bytes by digest, every candidate registered, AER and
  trajectory view of each execution.
* `deriving.derive(corpus, out=None, jobs=1)`: SEM and PROV of every execution.
* `validating.validate(corpus, jobs=1)`: the tiers of `prov.validate` and the integrity of the tree.
* `sealing.package(corpus, options)`: `DIR.partial` becomes `DIR`, never written to again.
* `verifying.verify(corpus)`, `recomputing.recompute(corpus, out=None, jobs=1)`: what somebody else can check.
* `withholding.purge(corpus, sha256)`, `exports.in_toto`, `exports.bagit`, `summary.info`.

A command names the corpus `DIR` or `DIR.partial`; `tree.Tree` finds what is there.
"""

from __future__ import annotations
