"""Recipes of agents on the command line: what each adds, and that the user's own stays."""

from __future__ import annotations

from pathlib import Path

from otel2traj.readers.http import is_model_call
from otel2traj.recording.recipes import adapt, exports, recipes, sessions
from otel2traj.recording.secrets import MASK, Masker, from_environment

BASES = {"openai": "http://127.0.0.1:1/v1", "anthropic": "http://127.0.0.1:2", "gemini": "http://127.0.0.1:3"}


def test_codex_gets_its_overrides_behind_exec(tmp_path: Path) -> None:
    command = ["/usr/bin/codex", "exec", "--json", "do it"]
    words, more, recipe = adapt(command, {"HOME": str(tmp_path)}, "http://127.0.0.1:9", BASES, "run-1")
    assert recipe == "codex"
    assert words[:4] == ["/usr/bin/codex", "exec", "-c", 'openai_base_url="http://127.0.0.1:1/v1"']
    assert words[-2:] == ["--json", "do it"]
    assert "http://127.0.0.1:9/v1/traces" in words[7]
    assert more == {}


def test_gemini_gets_a_settings_file_and_the_user_s_own_stay(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "GEMINI_TELEMETRY_LOG_PROMPTS": "false"}
    _, more, _ = adapt(["gemini", "-p", "x"], env, "http://127.0.0.1:9", BASES, "run-1")
    assert more["GEMINI_TELEMETRY_OTLP_ENDPOINT"] == "http://127.0.0.1:9"
    assert "GEMINI_TELEMETRY_LOG_PROMPTS" not in more
    assert Path(more["GEMINI_CLI_SYSTEM_SETTINGS_PATH"]).read_text().startswith("{")


def test_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    assert adapt(["python", "a.py"], {"HOME": str(tmp_path)}, "x", BASES, "run-1") == (["python", "a.py"], {}, None)


def test_every_recipe_says_whether_it_was_tried() -> None:
    assert {"codex", "gemini", "opencode"} <= recipes().keys()
    assert all(isinstance(recipe["tried"], str) for recipe in recipes().values())


def test_session_files_are_those_of_this_run(tmp_path: Path) -> None:
    folder = tmp_path / ".codex/sessions/2026/12/02"
    folder.mkdir(parents=True)
    (folder / "rollout-1.jsonl").write_text("{}\n")
    since = (folder / "rollout-1.jsonl").stat().st_mtime_ns
    assert [file.name for file in sessions("codex", {"HOME": str(tmp_path)}, since)] == ["rollout-1.jsonl"]
    assert sessions("codex", {"HOME": str(tmp_path)}, since + 1) == []


def test_a_program_is_asked_for_its_sessions_with_the_user_s_own_variables(tmp_path: Path) -> None:
    program = tmp_path / "opencode"
    program.write_text('#!/bin/sh\n[ "$2" = bad ] && exit 1\necho "$1 $2 $OTEL_SDK_DISABLED $OWN"\n')
    program.chmod(0o700)
    found = exports("opencode", str(program), {"OWN": "mine"}, ["ses_1", "bad", "--help", "../up"])
    assert found == {"ses_1.json": b"export ses_1 true mine\n"}
    assert exports("codex", str(program), {}, ["ses_1"]) == {}


def test_gemini_s_path_of_a_call_is_a_model_call() -> None:
    base = "https://h/v1beta/models"
    assert is_model_call("POST", f"{base}/gemini-2.5-pro:streamGenerateContent", b"{}")
    assert not is_model_call("POST", f"{base}/gemini-2.5-pro:countTokens", b'{"contents": []}')


def test_credentials_are_masked_in_every_form() -> None:
    secret = 'pa"ss/word+123'
    masker = Masker(
        from_environment({"DB_PASSWORD": secret, "MAX_TOKENS": "1234567890123", "OPENAI_API_KEY": "ollama"})
    )
    assert masker.text(f"x {secret} y") == f"x {MASK} y"
    assert masker.text('{"a": "pa\\"ss/word+123"}') == f'{{"a": "{MASK}"}}'
    assert masker.data(b"q=pa%22ss%2Fword%2B123") == f"q={MASK}".encode()
    assert masker.text("ollama 1234567890123") == "ollama 1234567890123"
    assert masker.command(["a", "--api-key", "k1", "--token=t", "API_KEY=z", "x"]) == [
        "a", "--api-key", MASK, f"--token={MASK}", f"API_KEY={MASK}", "x"
    ]  # fmt: skip
