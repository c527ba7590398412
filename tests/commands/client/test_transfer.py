"""`palimpsest export` and `palimpsest import` as processes against a running service."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest

from support.builders import contents, editor, store
from support.service_process import palimpsest
from support.transfers import exported, lines_of, other


def test_an_agent_goes_into_a_file_and_back(
    client: httpx.Client, service: str, tmp_path: Path
) -> None:
    store(client, **editor("Vim"))
    store(client, **editor("Emacs"))
    file = tmp_path / "backup.ndjson"
    told = palimpsest(
        "export", str(file), "--url", service, "--agent", client.headers["X-Agent-Id"]
    )
    assert (told.returncode, told.stdout) == (0, ""), told.stderr
    assert told.stderr == "exported: memory 2, belief 1, operation 2\n"
    assert file.read_bytes() == exported(client)
    assert [path.name for path in tmp_path.iterdir()] == ["backup.ndjson"]
    with other(client) as two:
        back = palimpsest(
            "import", str(file), PALIMPSEST_URL=service, PALIMPSEST_AGENT=two.headers["X-Agent-Id"]
        )
        assert back.returncode == 0, back.stderr
        assert back.stderr == told.stderr.replace("exported", "imported")
        assert exported(two) == file.read_bytes()


def test_it_flows_through_a_pipe(client: httpx.Client, service: str) -> None:
    store(client, "Größe")
    with other(client) as two:
        export = [
            sys.executable,
            "-m",
            "app.cli",
            "export",
            "--no-vectors",
            "--agent",
            client.headers["X-Agent-Id"],
        ]
        into = [
            sys.executable,
            "-m",
            "app.cli",
            "import",
            "-",
            "--agent",
            two.headers["X-Agent-Id"],
        ]
        environment = {**os.environ, "PALIMPSEST_URL": service}
        with subprocess.Popen(export, stdout=subprocess.PIPE, env=environment) as source:
            assert (
                subprocess.run(
                    into, stdin=source.stdout, timeout=60, check=False, env=environment
                ).returncode
                == 0
            )
        assert exported(two) == exported(client)


def test_versions_from_elsewhere_are_imported_too(
    client: httpx.Client, service: str, tmp_path: Path
) -> None:
    file = tmp_path / "lines"
    file.write_text(
        '{"content": "Lives in Porto", "created_at": "2020-03-02"}\n{"content": "Has a dog"}\n'
    )
    told = palimpsest(
        "import", str(file), "--url", service, "--agent", client.headers["X-Agent-Id"]
    )
    assert (told.returncode, told.stderr) == (0, "imported: memory 2\n")
    assert contents(client) == {"Lives in Porto", "Has a dog"}


def test_a_refused_import_is_one_plain_line(
    client: httpx.Client, service: str, tmp_path: Path
) -> None:
    store(client, "Has a dog")
    file = tmp_path / "lines"
    for content, said in ((exported(client), "name another one"), (b'{"content": ""}\n', "Line 1")):
        file.write_bytes(content)
        failed = palimpsest(
            "import", str(file), "--url", service, "--agent", client.headers["X-Agent-Id"]
        )
        assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)
        assert said in failed.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("import", "/nowhere/file"), "No such file"),
        (("export", "/nowhere/file"), "No such file"),
        (("export", "-", "--agent", "no spaces"), "ASCII"),
    ],
)
def test_a_failure_is_one_plain_line(service: str, words: tuple[str, ...], said: str) -> None:
    failed = palimpsest(*words, "--url", service)
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)
    assert said in failed.stderr


def test_on_a_terminal_it_shows_how_far_it_is(
    client: httpx.Client, service: str, tmp_path: Path
) -> None:
    store(client, "Has a dog")
    terminal, shown = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "app.cli",
        "export",
        str(tmp_path / "f"),
        "--agent",
        client.headers["X-Agent-Id"],
        "--url",
        service,
    ]
    assert (
        subprocess.run(
            command,
            stderr=shown,
            timeout=60,
            check=False,
            env={**os.environ, "TERM": "xterm"},
        ).returncode
        == 0
    )
    os.close(shown)
    seen = os.read(terminal, 2**16).decode()
    os.close(terminal)
    assert "exporting" in seen
    assert f"{len(lines_of(exported(client)))} lines" in seen


@contextmanager
def answering(body: bytes, length: int) -> Iterator[str]:
    """A server whose every answer is these bytes, of which it promised `length`."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("cut", "said"), [(True, "broke off"), (False, "cut off")])
def test_an_export_that_breaks_off_leaves_the_file_before_it(
    tmp_path: Path, cut: bool, said: str
) -> None:
    file = tmp_path / "backup.ndjson"
    file.write_text("the one before")
    body = json.dumps({"type": "palimpsest"}).encode() + b"\n"
    with answering(body, len(body) + cut) as url:
        failed = palimpsest("export", str(file), "--url", url)
    assert failed.returncode == 1
    assert said in failed.stderr
    assert file.read_text() == "the one before"
    assert [path.name for path in tmp_path.iterdir()] == ["backup.ndjson"]
