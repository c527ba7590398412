"""A database behind TLS: the server of the tests speaks none, so something in front of it does."""

import asyncio
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

SSL_REQUEST = bytes.fromhex("0000000804d2162f")


def make_certificate(folder: Path, host: str) -> Path:
    """Return a certificate of this host, a name or an IPv4 address, that is signed by itself; its key is in the same file."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl command to make certificates with")
    pem = folder / f"{host}.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split()
    kind = "IP" if host.replace(".", "").isdigit() else "DNS"
    names = ["-subj", f"/CN={host}", "-addext", f"subjectAltName={kind}:{host}"]
    files = ["-keyout", str(pem), "-out", str(folder / "certificate")]
    subprocess.run(["openssl", *words, *names, *files], check=True, capture_output=True)
    pem.write_text(pem.read_text() + (folder / "certificate").read_text())
    return pem


class TlsFront:
    """Listens on a port of this machine, and passes on to a Postgres what it decrypts.

    Without a certificate it answers as a server without TLS does.
    """

    def __init__(self, url: str, certificate: Path | None) -> None:
        self._target = psycopg.conninfo.conninfo_to_dict(url)
        self._context: ssl.SSLContext | None = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate)
        self.encrypted = 0
        self.port = 0

    def url(self, **options: str) -> str:
        """The address of the same database, through here."""
        query = "&".join(f"{name}={value}" for name, value in options.items())
        user, password = self._target.get("user", "postgres"), self._target.get("password")
        login = f"{user}:{password}" if password else user
        return f"postgresql://{login}@localhost:{self.port}/{self._target['dbname']}?{query}"

    async def serve(self, started: threading.Event, ended: asyncio.Event) -> None:
        server = await asyncio.start_server(self._pass_on, "localhost", 0, family=socket.AF_INET)
        async with server:
            self.port = server.sockets[0].getsockname()[1]
            started.set()
            await ended.wait()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            first = await reader.readexactly(len(SSL_REQUEST))
            if first == SSL_REQUEST:
                writer.write(b"S" if self._context else b"N")
                first = b""
                if self._context:
                    await writer.start_tls(self._context)
                    self.encrypted += 1
            to_reader, to_writer = await self._connect()
            to_writer.write(first)
            await asyncio.gather(_pump(reader, to_writer), _pump(to_reader, writer))
        writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = str(self._target["host"]), int(self._target.get("port") or 5432)
        if host.startswith("/"):
            return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        return await asyncio.open_connection(host, port)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


@contextmanager
def tls_front(url: str, certificate: Path | None) -> Iterator[TlsFront]:
    """The database of `url`, behind TLS with this certificate."""
    front, started, ended = TlsFront(url, certificate), threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_until_complete, args=(front.serve(started, ended),))
    thread.start()
    assert started.wait(10)
    try:
        yield front
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
        loop.close()
