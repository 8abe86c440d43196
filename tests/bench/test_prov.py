"""What provenance costs on growing histories: memory of writing and validating, and the document beside its record."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .attempts import growing_attempt

pytestmark = pytest.mark.bench

CALLS = (250, 500, 1000)
WRITE_MIB, VALIDATE_MIB, RATIO = 300, 600, 1.5
"""What 4 000 calls may take, and how many times its record a document may be."""

MEASURE = """
import io, json, resource, sys, time
from pathlib import Path
root, folder, what = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
from otel2traj.api import prov
start = time.process_time()
document, aer = folder / "prov.json", folder / "aer.jsonl"
if what == "write":
    prov.export_file(root, document, aer=aer)
elif what == "validate":
    results = prov.check(document, aer=aer, evidence=root, roundtrip=False)
    assert [one.tier for one in results if one.status == "failed"] == []
elif what == "rdf":
    with (folder / "prov.trig").open("w") as out:
        out.writelines(prov.rdf(document))
elif what == "prov package":
    from prov.model import ProvDocument
    read = ProvDocument.deserialize(str(document), format="json")
    (folder / "package.trig").write_text(read.serialize(format="rdf", rdf_format="trig"))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(json.dumps({"seconds": time.process_time() - start, "mib": peak}))
"""


def measure(root: Path, folder: Path, what: str) -> dict[str, float]:
    command = [sys.executable, "-c", MEASURE, str(root), str(folder), what]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(out.stdout)
    return found


def test_growing_histories_stay_in_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curve: dict[int, dict[str, dict[str, float]]] = {}
    for calls in CALLS:
        root, folder = tmp_path / f"a{calls}", tmp_path / f"p{calls}"
        folder.mkdir()
        raw = growing_attempt(root, calls, 300)
        curve[calls] = {what: measure(root, folder, what) for what in ("write", "validate", "rdf")}
        sizes = [(folder / name).stat().st_size for name in ("aer.jsonl", "prov.json")]
        if calls == CALLS[0]:
            curve[calls]["prov package"] = measure(root, folder, "prov package")
        with capsys.disabled():
            print(f"\n{calls} calls, {raw >> 20} MiB raw, PROV/AER {sizes[1] / sizes[0]:.2f}: {curve[calls]}")
        assert sizes[1] <= RATIO * sizes[0]
        (root / "logs" / "network.jsonl").unlink()
    last = curve[CALLS[-1]]
    growth = {what: last[what]["mib"] / curve[CALLS[-2]][what]["mib"] for what in ("write", "validate")}
    assert last["write"]["mib"] < WRITE_MIB
    assert last["validate"]["mib"] < VALIDATE_MIB
    assert max(growth.values()) < 2.1, growth
