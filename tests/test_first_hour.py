"""The first hour of a newcomer: what `palimpsest serve` prints, refuses and leaves behind."""

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest

from app.settings import describe_unknown_variables
from support.service_process import await_ready, free_port, palimpsest, served

pytestmark = pytest.mark.slow


def postmaster(folder: Path) -> int | None:
    file = folder / "postgres" / "postmaster.pid"
    return int(file.read_text().splitlines()[0]) if file.exists() else None


def await_end(pid: int) -> None:
    for _ in range(300):
        if not psutil.pid_exists(pid):
            return
        time.sleep(0.1)
    raise AssertionError(f"{pid} still runs")


def test_a_taken_port_is_named_before_a_postgres_is_made(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        refused = palimpsest("serve", "--port", str(port), PALIMPSEST_DATA_DIR=str(tmp_path))
    assert refused.returncode == 1
    assert refused.stderr == (
        f"palimpsest: cannot listen on port {port} of 127.0.0.1: address already in use. "
        f"Choose another with --port {port + 1}, or PORT={port + 1} make serve.\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def hangups() -> Iterator[None]:
    """Hangups end processes, also where the tests themselves run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangups")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_start_says_last_where_it_answers_and_a_hangup_stops_it_with_its_postgres(
    data_folder: Path, workers: str
) -> None:
    with served(data_folder, "--workers", workers, PALIMPSEST_CLASIFY="off") as service:
        for _ in range(100):
            lines = [json.loads(line)["event"] for line in service.log.read_text().splitlines()]
            if "Ready" in lines[-1]:
                break
            time.sleep(0.1)
        assert lines == [
            "PALIMPSEST_CLASIFY is no setting, so it changes nothing. "
            "Did you mean PALIMPSEST_CLASSIFY?",
            f"Starting Postgres in {data_folder}/postgres.",
            "Migrating the database.",
            "Loading the local networks: encoder and judge.",
            f"Ready: {service.address} (console: {service.address}/ui, "
            f"docs: {service.address}/docs; data: {data_folder}; Ctrl-C stops it)",
        ]
        pid = postmaster(data_folder)
        assert pid is not None
        service.process.send_signal(signal.SIGHUP)
        assert service.process.wait(60) == 0
        await_end(pid)


@pytest.mark.usefixtures("hangups")
def test_closing_the_terminal_stops_the_service_and_its_postgres(data_folder: Path) -> None:
    port = free_port()
    child, terminal = pty.fork()
    if child == 0:
        os.environ["PALIMPSEST_DATA_DIR"] = str(data_folder)
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port)]
        os.execv(sys.executable, command)
    await_ready(f"http://127.0.0.1:{port}", _Child(child), data_folder)
    pid = postmaster(data_folder)
    assert pid is not None
    os.close(terminal)
    await_end(pid)
    os.waitpid(child, 0)


def test_a_terminal_shows_requests_as_phrases(tmp_path: Path, database_url: str) -> None:
    port = free_port()
    child, terminal = pty.fork()
    if child == 0:
        os.environ["PALIMPSEST_DATABASE_URL"] = database_url
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port)]
        os.execv(sys.executable, command)
    address = f"http://127.0.0.1:{port}"
    await_ready(address, _Child(child), tmp_path)
    httpx.get(f"{address}/v1/search?q=x", headers={"X-Agent-Id": "ada"}).raise_for_status()
    shown = b""
    while b"/v1/search" not in shown:
        shown += os.read(terminal, 4096)
    os.kill(child, signal.SIGTERM)
    with suppress(OSError):  # a terminal ends with an error
        while written := os.read(terminal, 4096):
            shown += written
    os.close(terminal)
    os.waitpid(child, 0)
    text = re.sub(r"\x1b\[\d+m", "", shown.decode())
    assert re.search(
        r"^[\d:]{8} \[info\] GET /v1/search 200 \d+ ms agent=ada\r$", text, re.MULTILINE
    )
    assert "data: PALIMPSEST_DATABASE_URL;" in text


class _Child(subprocess.Popen[bytes]):
    """A process that was forked, for those who ask whether it has ended."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode = None

    def poll(self) -> int | None:
        return None

    def __del__(self) -> None:
        pass


def test_under_nohup_a_hangup_changes_nothing(tmp_path: Path) -> None:
    probe = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "from app.listening import end_on_hangup; end_on_hangup();"
        "print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("PALIMPSEST_CLASIFY", "Did you mean PALIMPSEST_CLASSIFY?"),
        ("PALIMPSEST_DATABASE_URI", "Did you mean PALIMPSEST_DATABASE_URL?"),
        ("PALIMPSEST_ZEBRA", "docs/operate/settings.md lists those there are."),
        ("PALIMPSEST_CLASSIFY", None),
        ("PALIMPSEST_AGENT", None),
    ],
)
def test_misspelt_settings_are_named(
    monkeypatch: pytest.MonkeyPatch, name: str, advice: str | None
) -> None:
    for other in [v for v in os.environ if v.startswith("PALIMPSEST_")]:
        monkeypatch.delenv(other)
    monkeypatch.setenv(name, "off")
    expected = [f"{name} is no setting, so it changes nothing. {advice}"] if advice else []
    assert describe_unknown_variables() == expected
