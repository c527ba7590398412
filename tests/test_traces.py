"""Traces: spans of requests, statements and model calls arrive at a collector, and none of what they were about."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import psycopg
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from support.scripted_model import ScriptedModel, judges
from support.service_process import await_model_check, served

FACTS = ["planted01fact", "planted02fact", "planted03fact", "planted04fact"]
KEY = "llm-key-planted"


class Collector:
    """An OTLP collector over real HTTP that keeps what it is sent."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    @property
    def requests(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for body in self.bodies]

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for sent in self.requests
            for part in sent.resource_spans
            for scope in part.scope_spans
            for span in scope.spans
        ]

    @property
    def resource(self) -> dict[str, str]:
        return {
            a.key: a.value.string_value
            for a in self.requests[0].resource_spans[0].resource.attributes
        }


@contextmanager
def collecting() -> Iterator[tuple[Collector, str]]:
    collector = Collector()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            collector.bodies.append(
                gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
            )
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def attributes(span: Span) -> dict[str, str]:
    return {a.key: a.value.string_value for a in span.attributes}


@pytest.mark.slow
def test_a_store_is_a_span_with_its_statements_and_model_calls_beneath_and_no_words(
    tmp_path: Path, database_url: str
) -> None:
    with (
        collecting() as (collector, endpoint),
        ScriptedModel(judges()) as model,
        served(
            tmp_path,
            PALIMPSEST_DATABASE_URL=database_url,
            PALIMPSEST_LLM_BASE_URL=model.url,
            PALIMPSEST_LLM_API_KEY=KEY,
            OTEL_EXPORTER_OTLP_ENDPOINT=endpoint,
            OTEL_BSP_SCHEDULE_DELAY="3600000",
        ) as service,
        httpx.Client(base_url=service.address, timeout=60) as client,
    ):
        await_model_check(service.address)
        model.then(judges())
        assert (
            client.post(
                "/v1/memories", json={"content": f"Has a {FACTS[0]}", "classify": False}
            ).status_code
            == 201
        )
        asked = client.post(
            "/v1/memories", json={"content": f"Has a {FACTS[1]} as a pet", "classify": "model"}
        )
        assert asked.status_code == 201
        assert model.requests
        assert client.get("/v1/search", params={"q": FACTS[2]}).status_code == 200
        with psycopg.connect(database_url, autocommit=True) as admin:
            admin.execute("""CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'no room for %', NEW.content; END $$""")
            admin.execute(
                "CREATE TRIGGER fail BEFORE INSERT ON memories FOR EACH ROW EXECUTE FUNCTION fail()"
            )
        assert (
            client.post("/v1/memories", json={"content": FACTS[3], "classify": False}).status_code
            == 500
        )
        assert collector.bodies == [], "nothing is due before the end"
        assert service.stop() == 0
    spans = collector.spans
    assert collector.resource["service.name"] == "palimpsest"
    servers = [span for span in spans if span.kind == Span.SPAN_KIND_SERVER]
    assert [span.name for span in servers] == [
        "POST /v1/memories",
        "POST /v1/memories",
        "GET /v1/search",
        "POST /v1/memories",
    ]
    beneath = [span for span in spans if span.parent_span_id == servers[1].span_id]
    assert any(attributes(span).get("db.system") == "postgresql" for span in beneath), "statements"
    assert any(
        span.kind == Span.SPAN_KIND_CLIENT and "/chat/completions" in str(attributes(span))
        for span in beneath
    ), "the model"
    assert {span.trace_id for span in beneath} == {servers[1].trace_id}
    read = [span.name for span in spans if span.parent_span_id == servers[2].span_id]
    assert "WITH" in read, "a search is a statement with parts"
    failed = [event for span in spans for event in span.events if event.name == "exception"]
    assert "psycopg.errors.RaiseException" in {
        a.value.string_value for event in failed for a in event.attributes
    }
    sent = b"".join(collector.bodies)
    assert [secret for secret in (*FACTS, KEY) if secret.encode() in sent] == []


@pytest.mark.slow
def test_the_name_of_the_service_and_the_callers_trace_are_taken(
    tmp_path: Path, database_url: str
) -> None:
    trace_id, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    with (
        collecting() as (collector, endpoint),
        served(
            tmp_path,
            PALIMPSEST_DATABASE_URL=database_url,
            OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{endpoint}/v1/traces",
            OTEL_SERVICE_NAME="memory",
        ) as service,
    ):
        httpx.get(
            f"{service.address}/v1/memories", headers={"traceparent": f"00-{trace_id}-{parent}-01"}
        )
        assert service.stop() == 0
    assert collector.resource["service.name"] == "memory"
    [server] = [span for span in collector.spans if span.kind == Span.SPAN_KIND_SERVER]
    assert (server.trace_id.hex(), server.parent_span_id.hex()) == (trace_id, parent)
    assert trace_id in service.log.read_text(), "log lines name their trace"


@pytest.mark.slow
def test_without_its_variables_nothing_of_the_sdk_is_even_imported(
    tmp_path: Path, database_url: str
) -> None:
    with served(
        tmp_path,
        python=("-X", "importtime"),
        PALIMPSEST_DATABASE_URL=database_url,
        OTEL_TRACES_EXPORTER="none",
    ) as service:
        assert httpx.get(f"{service.address}/v1/memories").status_code == 200
    imported = service.log.read_text()
    assert "app.main" in imported
    for part in (
        "opentelemetry.sdk",
        "opentelemetry.exporter",
        "opentelemetry.instrumentation",
        "app.traces",
    ):
        assert part not in imported
