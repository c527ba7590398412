"""Starts the service on an empty database of its own and runs an evaluation against it: `evaluate.py asof|search FILE…`."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

RUNNER = Path(__file__).parent.parent.parent / "shared" / "eval" / "run.py"


def main() -> int:
    if not RUNNER.exists():
        print(f"The evaluation needs {RUNNER.name} and its cases in ../shared/eval beside the checkout.", file=sys.stderr)
        return 1
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="palimpsest-eval-") as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PALIMPSEST_DATABASE")} | {"PALIMPSEST_DATA_DIR": folder}
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port)]
        with open(Path(folder) / "service.log", "wb") as log, subprocess.Popen(command, env=environment, stdout=log, stderr=log) as service:
            try:
                _await(f"http://127.0.0.1:{port}/readyz", service)
                return subprocess.call([sys.executable, str(RUNNER), sys.argv[1], f"http://127.0.0.1:{port}", *sys.argv[2:]])
            finally:
                service.terminate()
                service.wait(30)


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
