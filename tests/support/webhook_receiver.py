"""A receiver of webhooks: an HTTP server in a thread that keeps what it was sent."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from standardwebhooks import Webhook


@dataclass
class Receiver:
    """`statuses` are answered in turn, and the last of them from then on.

    `tls_names` are the names of hosts that were asked for over TLS.
    """

    url: str = ""
    tls_names: list[str | None] = field(default_factory=list)
    statuses: list[int] = field(default_factory=lambda: [204])
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def choose_status(self) -> int:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def verify(self, secret: str) -> list[dict[str, Any]]:
        """Return all messages. Each must be signed with the secret, as the library says."""
        return [Webhook(secret).verify(body, headers) for headers, body in self.requests]

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.requests]


def _build_tls(receiver: Receiver, certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _socket, name, _context: receiver.tls_names.append(name)
    return context


@contextmanager
def receiving(*statuses: int, certificate: Path | None = None) -> Iterator[Receiver]:
    receiver = Receiver(statuses=list(statuses) or [204])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.requests.append((headers, body))
            self.send_response(receiver.choose_status())
            self.send_header("Location", f"{receiver.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Keep silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if certificate is not None:
            tls = _build_tls(receiver, certificate)
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        receiver.url = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}/hooks?of=palimpsest"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield receiver
        server.shutdown()
        thread.join()
