"""The reference page against the registry and its fixtures; what is no model call; bodies that nobody reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.info import info
from otel2traj.providers import PROVIDERS, model_in_path, no_model_call
from tests.attempt_factory import AttemptFactory, chat_response

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "providers.md"


def test_the_page_has_a_row_for_each_provider_in_their_order() -> None:
    assert re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(encoding="utf-8"), re.M) == list(PROVIDERS.names())


@pytest.mark.parametrize(
    "name",
    ["anthropic", "gemini", "openai-responses", "bedrock-converse", "ollama", "cohere", "bedrock-invoke", "tgi"],
)
def test_a_body_and_a_stream_of_each_form_are_there(name: str, fixtures: Path) -> None:
    cases = [path.name for path in (fixtures / "providers" / name).iterdir()]
    assert any("stream" in case for case in cases)
    assert any("stream" not in case for case in cases)


@pytest.mark.parametrize(
    ("case", "differs"),
    [
        ("openai-chat/azure-filters", {"extra", "usage"}),
        ("openai-chat/vllm-extras", {"extra", "usage", "text"}),
        ("openai-chat/tgi-no-arguments", {"text", "usage"}),
        ("bedrock-converse/citations", {"extra"}),
        ("gemini/tool-use-prompt", {"text"}),
    ],
)
def test_a_body_and_its_stream_say_the_same(case: str, differs: set[str], fixtures: Path) -> None:
    body, stream = (
        json.loads((fixtures / "providers" / (case + end) / "expected.json").read_bytes())["response"]
        for end in ("", "-stream")
    )
    assert {key for key in body if body[key] != stream[key]} <= differs


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/v1/embeddings", "embeddings"),
        ("/v2/rerank", "rerank"),
        ("/v1/moderations?x=1", "moderations"),
        ("/v1/images/generations", "images"),
        ("/v1/messages/count_tokens", "count_tokens"),
        ("/v1/messages/batches", "batches"),
        ("/v1beta/models/m:countTokens", "countTokens"),
        ("/v1beta/models/m:batchEmbedContents", "batchEmbedContents"),
        ("/model/amazon.titan-embed-text-v2%3A0/invoke", "embed"),
        ("/api/embed", "embed"),
        ("/v1/chat/completions", None),
        ("/v1/messages", None),
        ("/model/amazon.nova-lite-v1%3A0/invoke", None),
    ],
)
def test_what_is_no_model_call_is_told_by_its_path(path: str, what: str | None) -> None:
    assert no_model_call(path) == what


def test_what_is_no_model_call_is_no_step_and_is_counted(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path / "attempt").input("0001")
    attempt.request("call_a", 1).response("call_a", 2, chat_response(text="hi"))
    attempt.request("call_e", 3, path="/v1/embeddings", payload={"input": "x"})
    attempt.response("call_e", 4, {"data": []}, path="/v1/embeddings")
    root = attempt.write()
    (built,) = build_path(root)
    assert (built.summary.coverage.model_calls, built.summary.warnings) == (1, [])
    assert info(root)["counts"]["wire.no_model_call.embeddings"] == 1


def test_a_body_that_nobody_reads_is_kept_and_told(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path / "attempt").input("0001")
    attempt.request("call_a", 1).response("call_a", 2, {"odd": {"answer": "yes"}})
    build_path(attempt.write(), output=tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_bytes())
    (step,) = document["steps"]
    assert (document["status"], step["status"]) == ("partial", "incomplete")
    assert step["output"]["other_parts"] == [{"odd": {"answer": "yes"}}]
    assert any(warning.startswith("unread_body: nothing was read") for warning in document["warnings"])


def test_the_model_of_a_bedrock_call_stands_in_its_path() -> None:
    assert model_in_path("/model/amazon.nova-lite-v1%3A0/converse-stream") == "amazon.nova-lite-v1:0"
    assert model_in_path("/v1beta/models/gemini-x:generateContent") == "gemini-x"
    assert model_in_path("/v1/messages") is None
