"""The service as the person at the terminal meets it: its port, its readiness and its end."""

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx

from app.settings import Settings

logger = logging.getLogger(__name__)

ASK_EVERY = 0.1  # seconds
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - to be replaced


class PortTaken(Exception):
    """Nothing can listen at the address of the settings; the message is one line of advice."""


def check_port(settings: Settings) -> None:
    """Raise PortTaken unless the service could listen at its address."""
    host, port = settings.host, settings.port
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as problem:
        raise PortTaken(f"{host} is no address of this machine: {problem}.") from None
    for family, kind, protocol, _, address in addresses:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
            except OSError as problem:
                other = port + 1 if port < 65_535 else 8000
                reason = (problem.strerror or str(problem)).lower()
                raise PortTaken(
                    f"cannot listen on port {port} of {host}: {reason}. "
                    f"Choose another with --port {other}, or PORT={other} make serve."
                ) from None


@contextmanager
def announce_readiness(settings: Settings) -> Iterator[None]:
    """Log one line when the service answers, after everything else that a start logs."""
    is_over = threading.Event()
    thread = threading.Thread(target=_announce, args=(settings, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _announce(settings: Settings, is_over: threading.Event) -> None:
    base = format_base(settings)
    with httpx.Client(trust_env=False, timeout=5) as client:
        while not is_over.wait(ASK_EVERY):
            with suppress(httpx.HTTPError):
                if client.get(f"{base}/readyz").is_success:
                    pages = f"console: {base}/ui, " if settings.console else ""
                    model = f"model: {settings.llm_model}; " if settings.llm_base_url else ""
                    logger.info(
                        "Ready: %s (%sdocs: %s/docs; data: %s; %sCtrl-C stops it)",
                        base,
                        pages,
                        base,
                        settings.data_dir
                        if settings.database_url is None
                        else "PALIMPSEST_DATABASE_URL",
                        model,
                    )
                    return


def format_base(settings: Settings) -> str:
    """Return the address under which this machine reaches the service."""
    host = _ANY_ADDRESS.get(settings.host, settings.host)
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


def end_on_hangup() -> None:
    """End as on SIGTERM when the terminal is closed, unless `nohup` wants the process to go on.

    uvicorn with several workers would start them anew.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return
    from uvicorn.supervisors import Multiprocess

    signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    Multiprocess.handle_hup = Multiprocess.handle_term  # type: ignore[method-assign]
