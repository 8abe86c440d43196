"""Transport spans of HTTP clients and remote-call stubs: recognised, so that they are counted and left out."""

from __future__ import annotations

from ..model.evidence import SpanRecord
from ..model.reading import Role
from .base import Marks
from .kit import SpanDialect
from .table import AttributeTable

_OWN = ("gen_ai.", "llm.", "openinference.", "traceloop.", "langsmith.", "ai.", "mlflow.", "langfuse.")


class HttpClientNoise(SpanDialect):
    name = "http_client_noise"
    title = "HTTP and RPC client spans"
    source = "https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/http/http-spans.md"
    switch_on = "nothing to switch on: never a step"
    leaves_out = "bodies"
    marks = Marks(
        keys=("http.request.method", "http.method", "rpc.system"),
        scopes=(
            "opentelemetry.instrumentation.httpx",
            "opentelemetry.instrumentation.requests",
            "opentelemetry.instrumentation.urllib",
            "opentelemetry.instrumentation.aiohttp_client",
            "opentelemetry.instrumentation.grpc",
            "@opentelemetry/instrumentation-http",
            "@opentelemetry/instrumentation-undici",
        ),
    )
    fields = AttributeTable(known=("http.", "rpc.", "url.", "server.", "network."))

    def confirms(self, span: SpanRecord) -> bool:
        """A model client that also notes its HTTP call is no noise."""
        return not any(key.startswith(_OWN) for key in span.attributes)

    def role(self, span: SpanRecord) -> Role | None:
        return Role.NONE


HTTP_CLIENT_NOISE = HttpClientNoise()
