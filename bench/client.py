"""An HTTP client that costs next to nothing: prepared bytes over one kept connection, the same for the service and the floor."""

import asyncio
import json
import socket
import time
from typing import Any


class Client:
    """One kept connection to 127.0.0.1. Not for anything but these measurements: it expects a Content-Length."""

    def __init__(self, port: int, agent: str = "default") -> None:
        self._head = f"Host: 127.0.0.1\r\nX-Agent-Id: {agent}\r\nContent-Type: application/json\r\nContent-Length: "
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self._socket.close()

    def hang_up(self) -> None:
        """Ends the connection at once, also under a call that waits in another thread."""
        self._socket.shutdown(socket.SHUT_RDWR)

    def prepare(self, path: str, body: Any) -> bytes:
        """The bytes of a POST."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return f"POST {path} HTTP/1.1\r\n{self._head}{len(content)}\r\n\r\n".encode() + content

    def asking(self, path: str) -> bytes:
        """The bytes of a GET."""
        return f"GET {path} HTTP/1.1\r\n{self._head}0\r\n\r\n".encode()

    def timed(self, request: bytes) -> tuple[float, bytes]:
        """Seconds from the first byte out to the last byte in, and the body. Raises RuntimeError for anything but a 2xx."""
        started = time.perf_counter()
        self._socket.sendall(request)
        received = bytearray(self._socket.recv(262_144))
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._read()
        head = bytes(received[:end])
        whole = end + 4 + _content_length(head)
        while len(received) < whole:
            received += self._read()
        seconds = time.perf_counter() - started
        body = bytes(received[end + 4 :])
        if not head.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"{head.splitlines()[0].decode()}: {body[:500].decode()}")
        return seconds, body

    def post(self, path: str, body: Any) -> bytes:
        return self.timed(self.prepare(path, body))[1]

    def _read(self) -> bytes:
        data = self._socket.recv(262_144)
        if not data:
            raise RuntimeError("the server closed the connection")
        return data


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise RuntimeError("an answer without Content-Length")


def build_head(method: str, path: str, *, key: str, agent: str, length: int | None) -> bytes:
    """The head of a request with a key, for a body of so many bytes, or one in pieces."""
    body = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    kind = "application/x-ndjson" if path == "/v1/import" else "application/json"
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        f"X-Agent-Id: {agent}\r\nContent-Type: {kind}\r\n{body}\r\nConnection: close\r\n\r\n"
    ).encode()


async def read_answer(reader: asyncio.StreamReader) -> int:
    """Read an answer to its end, and return its status."""
    answer = await reader.read()
    return int(answer[9:12])


async def read_request(reader: asyncio.StreamReader) -> None:
    """Read a request with a Content-Length to its end. Raises IncompleteReadError when there is none."""
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
