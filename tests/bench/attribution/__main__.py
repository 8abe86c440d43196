"""Agent and step accuracy of attribution on a folder in Who&When form, beside baselines that know nothing.

    python -m tests.bench.attribution FOLDER

Prints agent, step and top-3 accuracy with 95 % Wilson intervals, the mean distance to the labelled step, and the same
for the first, the last, each early position, a random turn (in expectation) and the most frequent agent. The labels are
read for counting alone.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from otel2traj.api.attribute import attribute_run, read_history
from otel2traj.auditors.attribution import turns_of_history
from otel2traj.canonical import loads


def wilson(hits: float, count: int) -> str:
    """`hits` of `count` in percent, with the 95 % interval."""
    if count == 0:
        return "no runs"
    z, share = 1.96, hits / count
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return f"{100 * share:5.1f} % [{100 * (centre - half):.1f}, {100 * (centre + half):.1f}]"


def main(folder: Path) -> int:
    files = [file for file in sorted(folder.glob("*.json")) if read_history(file) is not None]
    agents = steps = top = 0
    distance: list[int] = []
    baselines: Counter[str] = Counter()
    random_step = random_agent = 0.0
    for file in files:
        document: Any = loads(file.read_bytes())
        gold, decisive = str(document["mistake_agent"]).strip().lower(), int(document["mistake_step"])
        turns = turns_of_history(document["history"])
        found = attribute_run(file).candidates
        agents += bool(found) and found[0].agent.strip().lower() == gold
        steps += bool(found) and found[0].step == decisive
        top += decisive in [one.step for one in found[:3]]
        distance += [abs(found[0].step - decisive)] if found else []
        spoken = [turn.agent for turn in turns if not turn.ran and not turn.human]
        names = sorted(set(spoken))
        random_step += 1 / len(turns)
        random_agent += 1 / max(1, len(names))
        baselines["most frequent agent"] += bool(spoken) and Counter(spoken).most_common(1)[0][0].lower() == gold
        baselines["first turn"] += decisive == 0
        baselines["last turn"] += decisive == len(turns) - 1
        for place in range(1, 13):
            baselines[f"position {place}"] += decisive == place
    count = len(files)
    print(f"{folder.name}: {count} runs")
    print(f"  agent      {wilson(agents, count)}")
    print(f"  step       {wilson(steps, count)}")
    print(f"  top 3      {wilson(top, count)}")
    print(f"  distance   {sum(distance) / len(distance):.1f} turns" if distance else "  distance   none")
    print(f"  baseline   random turn {wilson(random_step, count)}, random agent {wilson(random_agent, count)}")
    for name, hits in baselines.most_common(6):
        print(f"  baseline   {name} {wilson(hits, count)}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: python -m tests.bench.attribution FOLDER")
    sys.exit(main(Path(sys.argv[1])))
