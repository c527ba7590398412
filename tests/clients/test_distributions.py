"""The client is a distribution of its own, and part of that of the service."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "python"
MODULES = {f"palimpsest_client/{path.name}" for path in (CLIENT / "palimpsest_client").glob("*.*")}


def list_files(project: Path) -> set[str]:
    return {file.distribution_path for file in WheelBuilder(str(project)).recurse_included_files()}


def test_both_wheels_hold_the_whole_client() -> None:
    assert "palimpsest_client/py.typed" in MODULES
    assert list_files(CLIENT) == MODULES
    assert list_files(ROOT) >= MODULES | {"app/cli.py"}


def test_what_it_needs_the_service_needs_too() -> None:
    """So that its lock covers the client."""
    client = tomllib.loads((CLIENT / "pyproject.toml").read_text())["project"]
    service = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [one.split(">")[0] for one in client["dependencies"]] == ["httpx"]
    assert "httpx" in service["dependencies"]


def list_imports(*words: str) -> set[str]:
    """The packages that a command imports."""
    code = (
        "import json, sys\nfrom app.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    print(json.dumps(sorted(sys.modules)))"
    )
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


SLOW = {"sqlalchemy", "fastapi", "numpy", "croniter", "pydantic_settings", "structlog"}


def test_the_help_of_the_commands_imports_nothing_slow() -> None:
    assert (
        list_imports("--help") & {*SLOW, "asyncio", "httpx", "pydantic", "palimpsest_client"}
        == set()
    )


def test_a_command_of_the_client_imports_the_client_and_nothing_of_the_service() -> None:
    imported = list_imports("search", "x", "--url", "ftp://127.0.0.1")
    assert "palimpsest_client" in imported
    assert imported & SLOW == set()
