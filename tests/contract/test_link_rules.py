"""Every join rule and link rule has its row in docs/reference/links.md, and every row there is a rule."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from otel2traj.model.heads import SpanHead
from otel2traj.model.link import InferenceRule, JoinRule

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/links.md").read_text(encoding="utf-8")


def rows(title: str) -> set[str]:
    """The rules in the first column of the table under a heading that begins with `title`."""
    section = PAGE.split(f"\n## {title}", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE))


def assigned(*names: str) -> set[str]:
    """Text that the code assigns to one of these attributes, alone or with others."""
    found = set()
    for path in (ROOT / "otel2traj").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for target in node.targets if isinstance(node, ast.Assign) else ():
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=True))
                for one, value in pairs:
                    if isinstance(one, ast.Attribute) and one.attr in names and isinstance(value, ast.Constant):
                        found.add(value.value)
    return {value for value in found if isinstance(value, str)}


def test_every_join_rule_has_its_row() -> None:
    assert rows("Wire call to model span") == {rule.value for rule in JoinRule}


def test_every_link_rule_has_its_row() -> None:
    default = SpanHead.__dataclass_fields__["id_rule"].default
    assert rows("Tool call to execution") == {default} | assigned("id_rule") | (assigned("rule") & {"item_id"})
    assert assigned("rule") <= rows("Tool call to execution")


def test_every_inference_is_named() -> None:
    section = PAGE.split("\n## Inferences", 1)[1].split("\n## ", 1)[0]
    assert {rule.value for rule in InferenceRule} <= set(re.findall(r"`([a-z_]+)`", section))
