"""Starts the service on an empty database of its own and runs an evaluation against it.

    evaluate.py relations|asof|search|replay|sweep FILE…

`relations` writes its table to docs/lab/evaluation.md, with the commit and the date.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx

BEGIN, END = "<!-- relations -->", "<!-- end -->"
PAGE = Path(__file__).parent.parent / "docs" / "lab" / "evaluation.md"
OURS = {
    "replay": Path(__file__).parent / "replay_asof.py",
    "sweep": Path(__file__).parent / "replay_sweep.py",
}
RUNNER = Path(__file__).parent.parent.parent / "shared" / "eval" / "run.py"


def main() -> int:
    if not RUNNER.exists():
        print(
            f"The evaluation needs {RUNNER.name} and its cases in ../shared/eval beside the checkout.",
            file=sys.stderr,
        )
        return 1
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="palimpsest-eval-") as folder:
        environment = {
            k: v for k, v in os.environ.items() if not k.startswith("PALIMPSEST_DATABASE")
        } | {
            "PALIMPSEST_DATA_DIR": folder,
            # One agent may learn a thousand changes here within minutes.
            "PALIMPSEST_MAX_CLOSURES_PER_HOUR": "0",
        }
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port)]
        with (
            open(Path(folder) / "service.log", "wb") as log,
            subprocess.Popen(command, env=environment, stdout=log, stderr=log) as service,
        ):
            try:
                _await(f"http://127.0.0.1:{port}/readyz", service)
                return _evaluate(sys.argv[1], f"http://127.0.0.1:{port}", sys.argv[2:])
            finally:
                service.terminate()
                service.wait(30)


def _evaluate(kind: str, base: str, files: list[str]) -> int:
    command = [
        sys.executable,
        *([str(OURS[kind])] if kind in OURS else [str(RUNNER), kind]),
        base,
        *files,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        lines = []
        for line in running.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if kind == "relations" and running.returncode == 0:
        _write_page("".join(lines))
    return running.returncode


def _write_page(table: str) -> None:
    """Puts the table between the marks of the page, with what it was measured on."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    measured = f"Written by `make eval` at commit {commit} on {datetime.now(UTC):%Y-%m-%d}."
    PAGE.write_text(f"{before}{BEGIN}\n\n{measured}\n\n```\n{table}```\n\n{END}{after}")


def _await(url: str, service: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        try:
            if httpx.get(url).is_success:
                return
        except httpx.HTTPError:
            pass
        if service.poll() is not None:
            raise SystemExit("the service did not start")
        time.sleep(0.1)
    raise SystemExit("the service did not become ready")


if __name__ == "__main__":
    sys.exit(main())
