"""Spans of requests, statements and calls to the model, sent by OTLP over HTTP.

No span holds a word of the texts. This module is imported only if OpenTelemetry's variables ask for
traces (`settings.should_trace`). Endpoint, headers, sampling and batches are as those variables
say. The spans of the server are FastAPI's own.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import psycopg
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status
from opentelemetry.util.types import AttributeValue

from app import __version__

_WITH_QUERY: Final = frozenset({"http.url", "http.target", "url.full"})
_REMOVED: Final = frozenset({"url.query", "exception.message", "exception.stacktrace"})


def start_tracing() -> TracerProvider:
    """Start to trace this process. `shutdown()` of the returned provider sends the last spans."""
    resource = Resource.create({"service.name": "palimpsest", "service.version": __version__})
    provider = TracerProvider(resource=resource.merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(RedactingExporter(OTLPSpanExporter())))
    trace.set_tracer_provider(provider)
    HTTPXClientInstrumentor().instrument()
    PsycopgInstrumentor().instrument()
    psycopg.AsyncRawCursor = TracedRawCursor  # type: ignore[misc]
    return provider


class TracedRawCursor(psycopg.AsyncRawCursor[Any]):
    """A cursor that takes statements as Postgres does.

    The instrumentation leaves such cursors out. What is streamed has no span here either.
    """

    async def execute(self, query: Any, params: Any = None, **options: Any) -> "TracedRawCursor":
        """Execute a statement in a span of its own."""
        statement = query.decode()
        with trace.get_tracer(__name__).start_as_current_span(
            statement.split(maxsplit=1)[0],
            kind=SpanKind.CLIENT,
            attributes={"db.system": "postgresql", "db.statement": statement},
        ):
            return await super().execute(query, params, **options)


class RedactingExporter(SpanExporter):
    """Passes spans on without the queries of addresses and the messages of errors.

    Both quote facts.
    """

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._inner.export([_redact_span(span) for span in spans])

    def shutdown(self) -> None:
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._inner.force_flush(timeout_millis)


def _redact_span(span: ReadableSpan) -> ReadableSpan:
    events = [
        Event(event.name, _redact_attributes(event.attributes), event.timestamp)
        for event in span.events
    ]
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes=_redact_attributes(span.attributes),
        events=events,
        links=span.links,
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _redact_attributes(
    attributes: Mapping[str, AttributeValue] | None,
) -> dict[str, AttributeValue]:
    redacted: dict[str, AttributeValue] = {}
    for name, value in (attributes or {}).items():
        if name in _WITH_QUERY:
            redacted[name] = str(value).partition("?")[0]
        elif name not in _REMOVED:
            redacted[name] = value
    return redacted
