"""The twelve questions of docs/how-to/questions.md, against answers worked out by hand from `questions_fleet`."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from otel2traj.fleet import engines
from tests.unit.fleet.made import ask, build, here
from tests.unit.fleet.questions_fleet import questions_fleet

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "questions.md"
SECTION = re.compile(r"^## (\d+)\. .*?```sql\n(.*?)```", re.MULTILINE | re.DOTALL)
QUESTIONS = {int(number): sql for number, sql in SECTION.findall(PAGE.read_text(encoding="utf-8"))}

ANSWERS: dict[int, list[tuple[Any, ...]]] = {
    # bash: r1 ran make, test (failed), test; r2 ran make (failed). search and fetch never failed.
    1: [("bash", "coder", 2, 4)],
    # Millionths of a dollar. gpt-4o-mini costs 0.15 a token in, 0.075 cached, 0.60 out; gpt-4o 2.50 in, 10 out.
    # coder, r1: 1000 in + 100 out                    150       + 60 = 210
    #            1000 fresh, 1000 cached, 50 out      150 +  75 + 30 = 255
    #            1000 fresh, 2000 cached, 50 out      150 + 150 + 30 = 330
    #            1000 fresh, 3000 cached, 10 out      150 + 225 +  6 = 381
    #        r2: as the first of r1                                    210   sum 1386; its second call was cut off.
    # researcher, r3: 2600 in, 40 out: 6500 + 400 = 6900; the two calls of r4 are of a model without a price.
    2: [("researcher", 0.0069, 4, 2), ("coder", 0.001386, 5, 1)],
    # r1: "do it" 5; + {"cmd":"make"} 14 + "ok" 2 = 21; + {"cmd":"test"} 14 + "boom" 4 = 39; + 14 + 2000 = 2053.
    3: [("r1", 4, 2053, 2014)],
    # r4: two executions carry the id of its one call.
    4: [("r4", 1, 1)],
    # r1: the failed test belongs to step 2, whose answer ended at 10:00:12; the run ended at :32.
    # r2: the failed make belongs to step 1, ended at :02; the run ended at :12. r5 has no step.
    5: [("r1", "succeeded", "tool error", 2, 20), ("r2", "failed", "tool error", 1, 10)],
    6: [("r5", "EvidenceError", "steps is not a directory")],
    # r1 went on after its tool error; r2 went on from neither its tool error nor its wire error. That r5 is no attempt
    # happened to the build, not in the run.
    7: [("tool error", 1, 1, 0), ("no trajectory", 0, 0, 1), ("wire error", 0, 1, 0)],
    # bash: 2, 4, 1, 1 seconds; search: 0.5, 1.5, 0.5. Which of fetch's two executions answers its call is not known.
    8: [("bash", 4, 1.0, 4.0), ("search", 3, 0.5, 1.5)],
    # gpt-4o-mini: r1 10 000 of which 6 000 cached, r2 1 000. gpt-4o: 2 600. house-model: 300.
    9: [("gpt-4o-mini", 11000, 6000, 0.545), ("gpt-4o", 2600, 0, 0.0), ("house-model", 300, 0, 0.0)],
    # r3: the third search was never run. r4: two executions claim one call.
    10: [("r3", 3, "search", "tc_2_0", "none"), ("r4", 1, "fetch", "tc_0_0", "ambiguous")],
    11: [("r3", "search", '{"q":"x"}', 3), ("r1", "bash", '{"cmd":"test"}', 2)],
    12: [(date(2026, 5, 28), 2, 1, 1), (date(2026, 5, 29), 2, 2, 0), (None, 1, 0, 1)],
}


@pytest.fixture(scope="module")
def data_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("questions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(engines.ENGINES, "local", here)
        build(questions_fleet(root / "tree"), root / "out", batch=2)
    return root / "out"


def test_there_are_twelve() -> None:
    assert sorted(QUESTIONS) == sorted(ANSWERS) == list(range(1, 13))


@pytest.mark.parametrize("number", sorted(ANSWERS))
def test_question(number: int, data_set: Path) -> None:
    assert ask(data_set, QUESTIONS[number]) == ANSWERS[number]


def test_inputs_and_failures_have_what_the_export_has(data_set: Path) -> None:
    told = ask(
        data_set,
        "SELECT run_id, i.ended, prompt, first_step, last_step FROM inputs i JOIN runs USING (run) ORDER BY 1",
    )
    assert told == [
        ("r1", "succeeded", "do it", 1, 4),
        ("r2", "failed", "do it", 1, 2),
        ("r3", "succeeded", "do it", 1, 4),
        ("r4", "succeeded", "do it", 1, 2),
    ]
    (records,) = ask(data_set, "SELECT text_of(records, records_sha256) FROM failures WHERE code = 'cut'")[0]
    assert '"path":"logs/network.jsonl"' in records
