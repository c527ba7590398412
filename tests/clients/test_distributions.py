"""The client is a distribution of its own, and part of that of the service."""

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import httpx
import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from app.commands.program import is_own_command
from palimpsest_client import Client, __version__
from support.service_process import await_ready, free_port

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
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_is_a_distribution_of_its_own(name: str) -> None:
    project, (package, framework) = ROOT / "clients" / name, ADAPTERS[name]
    modules = {f"{package}/{path.name}" for path in (project / package).glob("*.*")}
    assert f"{package}/py.typed" in modules
    assert list_files(project) == modules
    assert not list_files(ROOT) & modules
    needed = WheelBuilder(str(project)).metadata.core.dependencies
    client = f"palimpsest-memory-client=={__version__}"
    assert sorted(one.split(">")[0] for one in needed) == sorted([framework, client])


def test_what_the_adapters_are_for_is_in_their_lock() -> None:
    """`make test-adapters` installs it; `make test` skips their tests."""
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extra = {one.split(">")[0] for one in named["optional-dependencies"]["adapters"]}
    assert {framework for _, framework in ADAPTERS.values()} <= extra
    lock = (ROOT / "requirements/adapters.lock").read_text()
    assert [one for one in extra if f"\n{one}==" not in f"\n{lock}"] == []


# --- make dist -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_commit_builds_the_same_files(tmp_path: Path) -> None:
    """Two checkouts, in folders of other names and with files of other dates and modes."""
    digests = []
    for name, mask in (("one", "022"), ("another", "077")):
        checkout = tmp_path / name
        clone = f"umask {mask} && git clone -q --shared '{ROOT}' '{checkout}'"
        subprocess.run(["sh", "-c", clone], check=True)
        subprocess.run(
            [sys.executable, "scripts/build_dists.py", "dist", "--python-only"],
            cwd=checkout,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        digests.append((checkout / "dist" / "SHA256SUMS").read_text())
    assert digests[0] == digests[1]
    built = {line.split()[1].partition("-")[0] for line in digests[0].splitlines()}
    assert built >= {"palimpsest_memory", "palimpsest_memory_client", "palimpsest_memory_langgraph"}


@pytest.mark.parametrize("name", [".", *(f"clients/{name}" for name in ("python", *ADAPTERS))])
def test_a_wheel_can_be_built_of_the_source_distribution(name: str) -> None:
    project = ROOT / name
    sources = {
        file.distribution_path for file in SdistBuilder(str(project)).recurse_included_files()
    }
    needed = {file.relative_path for file in WheelBuilder(str(project)).recurse_included_files()}
    assert needed - sources == set()


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The programs of an environment that has the service's wheel, and its libraries from here."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    [libraries] = environment.glob("lib/python*/site-packages")
    (libraries / "ours.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    programs = environment / "bin"
    pip = [sys.executable, "-m", "pip", "-q", "--python", str(programs / "python"), "install"]
    [wheel] = tmp_path.glob("*.whl")
    subprocess.run([*pip, "--no-deps", "--no-index", "--ignore-installed", wheel], check=True)
    return programs


@pytest.mark.slow
def test_the_wheel_serves_from_an_environment_of_its_own(
    installed: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data_folder)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert is_own_command(str(installed / "palimpsest"))
    port, log = free_port(), data_folder / "service.log"
    address = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "PALIMPSEST_DATA_DIR": str(data_folder)}
    command = [str(installed / "palimpsest"), "serve", "--port", str(port)]
    with (
        open(log, "wb") as written,
        subprocess.Popen(command, env=environment, stdout=written, stderr=written) as process,
    ):
        try:
            await_ready(address, process, log)
            with Client(address) as client:
                client.store("I live in Porto")
                [hit] = client.search("Where do I live?")["results"]
            assert hit["memory"]["content"] == "I live in Porto"
            for page in ("/ui", "/docs"):
                assert httpx.get(f"{address}{page}").is_success
        finally:
            process.terminate()
            assert process.wait(60) == 0
    code = "import app; print(app.__file__)"
    python = [str(installed / "python"), "-c", code]
    assert str(installed.parent) in subprocess.check_output(python, text=True)
