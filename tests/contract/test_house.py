"""What the house promises: lazy start-up, closed lists, current pages, published schemas, layers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import cast

import jsonschema_rs
import pytest

from otel2traj.assembly.warnings import CODES
from otel2traj.canonical import JsonObject, loads
from tests.reference import PAGES, REFERENCE

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "otel2traj"
HEAVY = ("opentelemetry", "grpc", "uvicorn", "google.protobuf", "jsonschema_rs", "pyarrow", "duckdb", "fsspec", "prov")


def loaded_by(code: str) -> set[str]:
    """Top modules that a fresh interpreter has loaded after `code`."""
    listing = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    out = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True).stdout
    return set(out.split("\n"))


def test_importing_the_package_loads_no_server_and_no_sdk() -> None:
    assert not loaded_by("import otel2traj") & set(HEAVY)


def test_show_loads_no_server_and_no_sdk(fixtures: Path) -> None:
    attempt = fixtures / "attempts" / "abb-13a-anthropic" / "attempt"
    code = (
        "import sys, io, contextlib\n"
        f"sys.argv = ['otel2traj', 'show', {str(attempt)!r}]\n"
        "from otel2traj.cli import main\n"
        "out = io.TextIOWrapper(io.BytesIO())\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(out):\n    main()"
    )
    assert not loaded_by(code) & set(HEAVY)


def notice_codes() -> set[str]:
    """The code of every `Notice(...)` written in the package."""
    found: set[str] = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in (
                "Notice",
                "_notice",
            ):
                arguments = [*node.args, *(key.value for key in node.keywords if key.arg == "code")]
                if arguments and isinstance(arguments[0], ast.Constant) and isinstance(arguments[0].value, str):
                    found.add(arguments[0].value)
    return found


def test_every_warning_code_is_in_the_closed_list() -> None:
    assert notice_codes() - set(CODES) == set()


def test_every_listed_code_is_used() -> None:
    assert set(CODES) - notice_codes() == set()


@pytest.mark.parametrize("page", sorted(PAGES))
def test_generated_page_is_current(page: str) -> None:
    made = PAGES[page]()
    assert (REFERENCE / page).read_text(encoding="utf-8") == made, "run `python -m tests.reference`"


@pytest.mark.parametrize("file", sorted((PACKAGE / "schemas").glob("*.json")), ids=lambda file: file.name)
def test_published_schema_is_a_schema(file: Path) -> None:
    jsonschema_rs.meta.validate(cast(JsonObject, loads(file.read_bytes())))


def test_layers_hold() -> None:
    run = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout[-3000:]


def test_every_module_says_what_it_is() -> None:
    for file in PACKAGE.rglob("*.py"):
        assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))), file.relative_to(ROOT)


def test_nothing_of_this_machine_is_in_the_tree() -> None:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listing.split("\n"):
        file = ROOT / name
        if name and file.is_file() and file.suffix in (".py", ".md", ".toml", ".js", ".css", ".html", ""):
            text = file.read_text(encoding="utf-8", errors="replace")
            for mark in ("/work/" + "main", "/work/" + "shared", "../" + "shared"):
                assert mark not in text, f"{name} speaks of {mark}"
