"""Nothing of this checkout installs or starts a program of somebody else under a name of ours.

Public indexes have other programs called `palimpsest` and `palimpsest-client`, and what is not
published there is free for anybody. So our distributions have other names, a version that no index
takes, and are installed from folders and files of the checkout.
"""

import json
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from app import __version__
from app.commands.program import NAME

ROOT = Path(__file__).parents[1]
PYTHON_PROJECTS = sorted(
    path.parent
    for path in (
        ROOT / "pyproject.toml",
        *ROOT.glob("clients/*/pyproject.toml"),
        ROOT / "training" / "languages" / "pyproject.toml",
    )
)
NPM_PROJECTS = sorted(path.parent for path in ROOT.glob("clients/*/package.json"))
TEXTS = [
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "clients/*/README.md",
        "bench/*.md",
        "corpus/*.md",
        "training/**/*.md",
        "deploy/**/*.*",
        "Dockerfile",
        "app/**/*.py",
    )
    for path in ROOT.glob(pattern)
]


def name_path(path: Path) -> str:
    return str(path.relative_to(ROOT))


def normalize_name(requirement: str) -> str:
    """Return the name of a requirement or of a wheel's file, as indexes compare names."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~;@ ]|-[\d*…]", requirement)[0]).lower()


def read_project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())


def list_requirements(folder: Path) -> list[str]:
    """Return all that the project needs to be built, to run, and for its extras."""
    project = read_project(folder)
    extras = project["project"].get("optional-dependencies", {}).values()
    return [
        *project["project"].get("dependencies", []),
        *project["build-system"]["requires"],
        *(one for extra in extras for one in extra),
    ]


OURS = {read_project(folder)["project"]["name"] for folder in PYTHON_PROJECTS}
FRAMEWORKS = {
    normalize_name(one) for folder in PYTHON_PROJECTS for one in list_requirements(folder)
}


# --- names and versions --------------------------------------------------------------------------


@pytest.mark.parametrize("folder", PYTHON_PROJECTS, ids=name_path)
def test_a_distribution_has_a_name_of_ours_and_a_version_that_no_index_takes(folder: Path) -> None:
    metadata = ProjectMetadata(str(folder), PluginManager())
    assert metadata.name == NAME or metadata.name.startswith(f"{NAME}-")
    assert metadata.version == __version__
    assert re.fullmatch(r"\d+\.\d+\.\d+\+[a-z]+", __version__), "a local part is refused there"


@pytest.mark.parametrize("folder", PYTHON_PROJECTS, ids=name_path)
def test_what_a_distribution_needs_of_ours_has_exactly_this_version(folder: Path) -> None:
    ours = [one for one in list_requirements(folder) if "palimpsest" in one]
    assert [one for one in ours if one not in {f"{name}=={__version__}" for name in OURS}] == []


@pytest.mark.parametrize("folder", NPM_PROJECTS, ids=name_path)
def test_a_package_of_npm_has_a_name_of_ours_and_is_not_published(folder: Path) -> None:
    """npm ignores what is behind a `+`, so a version is no protection there; a folder is."""
    package = json.loads((folder / "package.json").read_text())
    assert package["name"].startswith(f"{NAME}-")
    assert (package["version"], package["private"]) == (__version__, True)
    needed = {
        name: version
        for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
        for name, version in package.get(key, {}).items()
    }
    strangers = [
        name for name in needed if "palimpsest" in name and not needed[name].startswith("file:../")
    ]
    assert strangers == []
    lock = json.loads((folder / "package-lock.json").read_text())["packages"]
    fetched = [name for name, one in lock.items() if "palimpsest" in name and "resolved" in one]
    assert [name for name in fetched if "://" in lock[name]["resolved"]] == []


def test_no_lock_has_a_package_of_such_a_name() -> None:
    for lock in (*ROOT.glob("requirements/*.lock"), *ROOT.glob("training/**/requirements.txt")):
        assert "palimpsest" not in lock.read_text()


# --- commands in texts ---------------------------------------------------------------------------

INSTALLER = re.compile(
    r"(?<![\w-])(?:"
    r"pip3? install|uv pip install|uv add|uv tool (?:install|run)|uvx|pipx (?:install|run)|"
    r"poetry add|conda install|npm (?:install|i|add|exec)|npx|pnpm (?:add|dlx)|yarn add|bunx?(?: add)?|"
    r"docker pull|podman pull"
    r")((?: +[^\s`#|;&()]+)+)"
)
RUNS_ONE = re.compile(r"^(?:uvx|npx|uv tool run|pipx run|npm exec|pnpm dlx|bunx )")
WITH_VALUE = {"-r", "-c", "-f", "--find-links", "--index-url", "--extra-index-url", "--python"}


def list_installed(text: str) -> Iterator[str]:
    """Yield what the commands of a text install, run or pull."""
    for command in INSTALLER.finditer(text.replace("\\\n", " ")):
        words = iter(command[1].split())
        for word in words:
            if word in WITH_VALUE:
                next(words, None)
            elif not word.startswith("-"):
                yield word.strip("'\"").rstrip(".,:") or "."
                if RUNS_ONE.match(command[0]):
                    break


def is_of_this_checkout(word: str) -> bool:
    """Whether the word is a folder or a file of the checkout, or a package that cannot be another."""
    path = word.split("[", maxsplit=1)[0]
    if path.startswith(("dist/", "./dist/")):
        return normalize_name(path.split("dist/")[1]) in OURS
    if path == "." or path.startswith("./"):
        return (ROOT / path).is_dir()
    if "palimpsest" in word:
        return word in {f"{name}=={__version__}" for name in OURS}
    return (
        normalize_name(word) in FRAMEWORKS or re.search(r"@sha256:[0-9a-f]{64}$", word) is not None
    )


def test_what_the_texts_install_is_of_this_checkout() -> None:
    strangers = {
        name_path(path): words
        for path in TEXTS
        if (
            words := [
                word
                for word in list_installed(path.read_text("utf-8"))
                if not is_of_this_checkout(word)
            ]
        )
    }
    assert strangers == {}


def test_the_texts_install_something() -> None:
    """Or the pattern has gone blind."""
    installed = {word for path in TEXTS for word in list_installed(path.read_text("utf-8"))}
    assert installed >= {"./clients/python", "./clients/langgraph", "./clients/typescript"}


@pytest.mark.parametrize(
    "command",
    [
        "pip install palimpsest-client",
        ".venv/bin/pip install palimpsest-client",
        "pip install palimpsest-memory",
        "pip install palimpsest-memory==0.1.0",
        "pip install -U 'palimpsest[all]'",
        "python -m pip install httpx palimpsest_client",
        "uv pip install palimpsest-langgraph",
        "uv add palimpsest-client",
        "uvx palimpsest mcp",
        "uvx --from palimpsest palimpsest mcp",
        "pipx run palimpsest mcp",
        "pipx install palimpsest-memory",
        "npm i palimpsest-client",
        "npm install palimpsest-memory-client",
        "npx palimpsest",
        "docker pull palimpsest/palimpsest",
        "pip install ./clients/nowhere",
        "pip install dist/palimpsest-0.1.0.whl",
        "pip install \\\n    palimpsest-client",
        "Then `pip install palimpsest`.",
    ],
)
def test_a_command_that_installs_a_stranger_is_noticed(command: str) -> None:
    assert not all(map(is_of_this_checkout, list_installed(command)))


@pytest.mark.parametrize(
    "command",
    [
        "pip install .",
        "pip install ./clients/python ./clients/langgraph     # in a checkout",
        f"pip install palimpsest-memory=={__version__}",
        "X/bin/pip install dist/palimpsest_memory-*.whl",
        "pip install dist/palimpsest_memory_client-0.1.0+checkout-py3-none-any.whl",
        "npm install ./clients/typescript",
        "pip install --no-deps --find-links elsewhere ./clients/python",
        "pip install langgraph-checkpoint",
        "say `pip install`, and so on",
    ],
)
def test_a_command_that_installs_ours_passes(command: str) -> None:
    assert all(map(is_of_this_checkout, list_installed(command)))


# --- commands that hosts start -------------------------------------------------------------------


def list_commands(value: object) -> Iterator[str]:
    """Yield the commands of a configuration, as hosts of hooks and of MCP have them."""
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
        for path in ROOT.glob("docs/**/*.md")
        for block in re.findall(
            r"^ *(\{\"mcpServers\".*\})$", path.read_text("utf-8"), re.MULTILINE
        )
    ]
    commands = [shlex.split(one)[0] for value in files + blocks for one in list_commands(value)]
    assert len(commands) == 13
    assert {Path(command).is_absolute() for command in commands} == {True}


# --- an index with strangers ---------------------------------------------------------------------


def write_stranger(folder: Path, name: str, version: str) -> None:
    """Write a wheel that holds nothing."""
    dist = f"{name.replace('-', '_')}-{version}"
    with zipfile.ZipFile(folder / f"{dist}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(
            f"{dist}.dist-info/METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        )
        wheel.writestr(
            f"{dist}.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{dist}.dist-info/RECORD", "")


def try_install(index: Path, *folders: str) -> subprocess.CompletedProcess[str]:
    options = "--dry-run --ignore-installed --no-build-isolation --no-index --find-links".split()
    return subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, str(index), *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_an_adapter_without_its_client_is_refused_instead_of_a_stranger(tmp_path: Path) -> None:
    write_stranger(tmp_path, "langgraph-checkpoint", "4.9.0")
    write_stranger(tmp_path, "httpx", "0.28.0")
    for version in ("0.1.0", "9.9.9"):
        write_stranger(tmp_path, "palimpsest-memory-client", version)
    refused = try_install(tmp_path, "./clients/langgraph")
    needed = f"palimpsest-memory-client=={__version__}"
    assert refused.returncode == 1
    assert f"No matching distribution found for {needed}" in refused.stderr
    taken = try_install(tmp_path, "./clients/python", "./clients/langgraph")
    assert taken.returncode == 0, taken.stderr
    assert f"palimpsest-memory-client-{__version__}" in taken.stdout
