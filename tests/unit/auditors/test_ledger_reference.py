"""The table of rules in docs/reference/ledger.md is the registry."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from otel2traj.auditors.ledger import RULES

PAGE = Path(__file__).parent.parent.parent.parent / "docs" / "reference" / "ledger.md"
BLOCK = re.compile(r"(<!-- rules: [^\n]*-->\n).*?(<!-- /rules -->)", re.DOTALL)


def test_the_table_of_rules_is_current(golden: Callable[[Path, bytes], None]) -> None:
    rows = [f"| `{rule.name}` | {rule.says} | {'' if rule.only is None else f'`{rule.only}`'} |" for rule in RULES]
    table = "\n".join(["| rule | holds when | only under |", "| --- | --- | --- |", *rows])
    page, count = BLOCK.subn(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", PAGE.read_text(encoding="utf-8"))
    assert count == 1
    golden(PAGE, page.encode())
