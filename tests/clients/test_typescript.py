"""The TypeScript client, under Node."""

import shutil
import subprocess
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to run it with")
def test_it_stores_searches_and_tries_again(service: str) -> None:
    command = ["node", "tests/smoke.mjs", service]
    done = subprocess.run(
        command, cwd=CLIENT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "ok\n", done.stderr


@pytest.mark.skipif(
    not (CLIENT / "node_modules").exists(), reason="`make client-typescript` installs the compiler"
)
def test_its_types_are_those_of_the_document() -> None:
    for words in ("generate", "check"):
        done = subprocess.run(
            ["npm", "run", "-s", words],
            cwd=CLIENT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
