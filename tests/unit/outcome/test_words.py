"""Error values of every shape to a code, a message and one line."""

from __future__ import annotations

from typing import Any

import pytest

from otel2traj.outcome import Sign
from otel2traj.outcome.signs import of_errno, of_http, of_name
from otel2traj.outcome.words import exception_name, reason_line, told


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("boom", (None, "boom")),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, ("overloaded_error", "busy")),
        ({"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED"}}, ("429", "Quota")),
        ({"message": "m", "type": "T", "code": None}, ("T", "m")),
        ('{"error": "not found"}', (None, "not found")),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], (None, "one\ntwo")),
        ({"__type": "ThrottlingException", "message": "slow"}, ("ThrottlingException", "slow")),
        ({"truncated": True, "head": "begin", "sha256": "0", "size": 9}, (None, "begin")),
        ({"detail": "no such model"}, (None, "no such model")),
        ({"odd": 1}, (None, '{"odd":1}')),
        ("[1, 2", (None, "[1, 2")),
        (None, (None, None)),
    ],
)
def test_code_and_message(value: Any, expected: tuple[str | None, str | None]) -> None:
    assert told(value) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ReadTimeout: nothing", "ReadTimeout"),
        ("httpx.ReadTimeout('x')", "httpx.ReadTimeout"),
        ("RuntimeError('x')Traceback (most recent call last):\n  a\nRuntimeError: x", "RuntimeError"),
        ("Traceback (most recent call last):\n  File 'a'\npkg.MyError: gone", "pkg.MyError"),
        ("Error running tool", None),
        ("the timeout was long", None),
        ("An Exception to the rule: none", None),
    ],
)
def test_names_of_exceptions_are_printed_exceptions(text: str, name: str | None) -> None:
    assert exception_name(text) == name


def test_one_line_of_a_long_text_holds_its_first_and_its_last() -> None:
    assert reason_line("exit 1", "collected 3\n\n\nFAILED a.py::b\n") == "exit 1: collected 3 … FAILED a.py::b"
    assert reason_line("RuntimeError", "RuntimeError: x") == "RuntimeError: x"
    assert reason_line("E1", None) == "E1"
    assert reason_line(None, None) == ""


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("[Errno 13] Permission denied: '/x'", Sign.PERMISSION),
        ("ENOENT: no such file or directory, open '/x'", Sign.NOT_FOUND),
        ("cp: error writing 'big.bin': No space left on device", Sign.DISK),
        ("it says that there is no space left on device number 4, maybe", None),
        ("line 403 of the file", None),
        ("permission denied is what the user feared", None),
    ],
)
def test_errnos_are_read_as_the_library_prints_them(text: str, sign: Sign | None) -> None:
    assert of_errno(text) is sign


def test_names_and_statuses() -> None:
    assert of_name("openai.RateLimitError") is Sign.RATE_LIMIT
    assert of_name("insufficient_quota") is Sign.QUOTA
    assert of_name("GraphRecursionError") is Sign.LIMIT
    assert of_name("RuntimeError") is None
    assert (of_http(401), of_http(500), of_http(418), of_http(200)) == (
        Sign.AUTHENTICATION,
        Sign.SERVER,
        Sign.BAD_REQUEST,
        None,
    )
