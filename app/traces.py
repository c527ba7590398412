"""Spans of requests, statements and calls to the model, sent by OTLP over HTTP; without a word of what they were about.

Imported only where OpenTelemetry's variables ask for it (`settings.traces_wanted`). Endpoint, headers, sampling and batches are as those
variables say; the server's spans are FastAPI's own.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status
from opentelemetry.util.types import AttributeValue

from app import __version__

_WITH_QUERY: Final = frozenset({"http.url", "http.target", "url.full"})
_UNTOLD: Final = frozenset({"url.query", "exception.message", "exception.stacktrace"})


def start_tracing() -> TracerProvider:
    """Begins to trace this process; `shutdown()` of what it returns sends what is left."""
    ours = Resource.create({"service.name": "palimpsest", "service.version": __version__})
    provider = TracerProvider(resource=ours.merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(RedactingExporter(OTLPSpanExporter())))
    trace.set_tracer_provider(provider)
    HTTPXClientInstrumentor().instrument()
    PsycopgInstrumentor().instrument()
    return provider


class RedactingExporter(SpanExporter):
    """Sends spans on without queries of addresses and without the messages of errors, which quote facts."""

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._inner.export([_redact_span(span) for span in spans])

    def shutdown(self) -> None:
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._inner.force_flush(timeout_millis)


def _redact_span(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes=_redact_attributes(span.attributes),
        events=[
            Event(event.name, _redact_attributes(event.attributes), event.timestamp)
            for event in span.events
        ],
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
    kept = {name: value for name, value in (attributes or {}).items() if name not in _UNTOLD}
    return {
        name: str(value).partition("?")[0] if name in _WITH_QUERY else value
        for name, value in kept.items()
    }
