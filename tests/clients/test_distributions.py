"""The client is a distribution of its own, and part of that of the service."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
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


ADAPTERS = {
    "langgraph": ("palimpsest_langgraph", "langgraph-checkpoint"),
    "anthropic_memory": ("palimpsest_anthropic_memory", "anthropic"),
    "openai_agents": ("palimpsest_openai_agents", "openai-agents"),
    "pydantic_ai": ("palimpsest_pydantic_ai", "pydantic-ai-slim"),
    "google_adk": ("palimpsest_google_adk", "google-adk"),
    "crewai": ("palimpsest_crewai", "crewai"),
    "llamaindex": ("palimpsest_llamaindex", "llama-index-core"),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_is_a_distribution_of_its_own(name: str) -> None:
    project, (package, framework) = ROOT / "clients" / name, ADAPTERS[name]
    modules = {f"{package}/{path.name}" for path in (project / package).glob("*.*")}
    assert f"{package}/py.typed" in modules
    assert list_files(project) == modules
    assert not list_files(ROOT) & modules
    needed = WheelBuilder(str(project)).metadata.core.dependencies
    client = f"palimpsest-client @ {CLIENT.as_uri()}"
    assert sorted(one.split(">")[0] for one in needed) == sorted([framework, client])


# --- the names of strangers ----------------------------------------------------------------------

# Public indexes have other programs under the names `palimpsest` and `palimpsest-client`, and the
# other names are free for anybody.
TEXTS = [
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "clients/*/README.md",
        "bench/*.md",
        "corpus/*.md",
        "Dockerfile",
    )
    for path in ROOT.glob(pattern)
]
PROJECTS = [*ROOT.glob("clients/*/pyproject.toml"), ROOT / "pyproject.toml"]
INSTALL = re.compile(
    r"\b(?:pip|pip3|uv|uvx|pipx|npm|npx|pnpm|yarn|bun|poetry|conda)\b[^`\n#]*?"
    r"\b(?:install|add|i|run|uvx|npx|tool|exec)?\s([^`\n#]*palimpsest[^`\n#]*)"
)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_text_installs_of_ours_is_a_folder(path: Path) -> None:
    commands = INSTALL.findall(path.read_text("utf-8"))
    words = [word for command in commands for word in command.split() if "palimpsest" in word]
    assert [word for word in words if not word.startswith(("./", "/", ".venv/"))] == []


@pytest.mark.parametrize(
    "command",
    [
        "pip install palimpsest-client",
        "pip install -U 'palimpsest[all]'",
        "python -m pip install httpx palimpsest_client",
        "uv pip install palimpsest-langgraph",
        "uv add palimpsest-client",
        "uvx palimpsest mcp",
        "pipx run palimpsest mcp",
        "npm i palimpsest-client",
        "npx palimpsest",
    ],
)
def test_a_command_that_installs_a_stranger_would_be_noticed(command: str) -> None:
    assert INSTALL.search(command)


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.parent.name)
def test_no_project_depends_on_a_name_of_ours_without_its_folder(path: Path) -> None:
    project = tomllib.loads(path.read_text())
    extras = project["project"].get("optional-dependencies", {}).values()
    needed = [
        *project["project"]["dependencies"],
        *project["build-system"]["requires"],
        *(one for extra in extras for one in extra),
    ]
    ours = [one for one in needed if "palimpsest" in one]
    assert [one for one in ours if " @ {root:parent:uri}/" not in one] == []


def test_no_lock_has_a_package_of_such_a_name() -> None:
    for lock in (*ROOT.glob("requirements*.lock"), ROOT / "training" / "requirements.txt"):
        assert "palimpsest" not in lock.read_text()
    lock = json.loads((ROOT / "clients" / "typescript" / "package-lock.json").read_text())
    assert [name for name in lock["packages"] if "palimpsest" in name] == []


def list_commands(value: object) -> Iterator[str]:
    """The commands of a configuration, as hosts of hooks and of MCP have them."""
    match value:
        case dict():
            if isinstance(value.get("command"), str):
                yield value["command"]
            for inner in value.values():
                yield from list_commands(inner)
        case list():
            for inner in value:
                yield from list_commands(inner)


def test_a_host_starts_our_command_by_its_absolute_path() -> None:
    files = [
        json.loads(path.read_text()) for path in (ROOT / "docs" / "guide" / "hooks").glob("*.json")
    ]
    blocks = [
        json.loads(block)
        for path in TEXTS
        for block in re.findall(
            r"^ *(\{\"mcpServers\".*\})$", path.read_text("utf-8"), re.MULTILINE
        )
    ]
    commands = [shlex.split(one)[0] for value in files + blocks for one in list_commands(value)]
    assert len(commands) == 10
    assert {Path(command).is_absolute() for command in commands} == {True}


def test_what_the_adapters_are_for_is_in_their_lock() -> None:
    """`make test-adapters` installs it; `make test` skips their tests."""
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extra = {one.split(">")[0] for one in named["optional-dependencies"]["adapters"]}
    # CrewAI wants older packages than the service, so it has a lock and an environment of its own.
    assert {framework for _, framework in ADAPTERS.values()} - extra == {"crewai"}
    for lock, names in (("adapters", extra), ("crewai", {"crewai", "httpx"})):
        text = "\n" + (ROOT / f"requirements/{lock}.lock").read_text()
        assert [one for one in names if f"\n{one}==" not in text] == []
