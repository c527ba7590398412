"""The commands, targets and routes that guides and operators' pages name are there."""

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from app.cli import cli

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("guide/*.md"), *DOCS.glob("operate/*.md")])
TARGETS = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PATHS = json.loads((ROOT / "openapi" / "openapi.json").read_text("utf-8"))["paths"]
BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^(?:\$ )?(?:\S*bin/)?palimpsest ([a-z][^|;>&]*)")
TARGET = re.compile(r"^make ([a-z][\w-]*)")
ROUTE = re.compile(r"^(?:(GET|POST|PATCH|DELETE) +)?(/v1/[\w{}/-]*[\w}])")
# Routes of mem0's platform and of OpenAI-compatible servers.
FOREIGN = {"/v1/exports", "/v1/event/{id}", "/v1/embeddings", "/v1/chat/completions"}
CURL = re.compile(r"curl .*?(?:BASE|localhost:8000)(/v1/[\w/-]*\w)")


def name_page(path: Path) -> str:
    return path.name


def list_code(page: Path) -> list[str]:
    """Return the lines of blocks and the spans of code, each without its comment."""
    text = page.read_text("utf-8")
    blocks = "\n".join(BLOCK.findall(text)).replace("\\\n", " ").splitlines()
    prose = BLOCK.sub("", text)
    indented = re.findall(r"^    (.*)$", prose, re.MULTILINE)
    spans = re.findall(r"`([^`\n]+)`", prose)
    return [re.split(r"\s+#\s|\s{3,}", line.strip())[0] for line in blocks + indented + spans]


def find_unknown_option(written: str) -> str | None:
    """Return what of the command the command line does not know."""
    words = shlex.split(written.replace("…", ""))
    command: click.Command = cli
    while words and isinstance(command, click.Group):
        name = words.pop(0)
        below = command.get_command(click.Context(command), name)
        if below is None:
            return f"palimpsest {written}: no command {name}"
        command = below
    known = {option for parameter in command.params for option in parameter.opts}
    unknown = [word for word in words if word.startswith("--") and word not in known]
    return f"palimpsest {written}: no option {unknown}" if unknown else None


def has_route(method: str | None, written: str) -> bool:
    """Whether the document has a route of this form; names in capitals and braces stand for any."""
    words = [
        "{}" if re.fullmatch(r"\{.*\}|[A-Z]+", word) else word
        for word in written.strip("/").split("/")
    ]
    return any(
        (method is None or method.lower() in PATHS[path])
        and len(words) == len(parts)
        and all(a == b or b.startswith("{") for a, b in zip(words, parts, strict=True))
        for path in PATHS
        for parts in [path.strip("/").split("/")]
    )


def test_a_wrong_command_and_a_wrong_route_would_be_noticed() -> None:
    assert find_unknown_option("sweep --dry-run") is None
    assert find_unknown_option("sweep --slowly") is not None
    assert find_unknown_option("sweap") is not None
    assert has_route("GET", "/v1/memories/{id}/why")
    assert not has_route("PATCH", "/v1/memories/{id}/why")
    assert not has_route(None, "/v1/memoirs")


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_the_commands_of_a_page_have_the_options_that_it_names(page: Path) -> None:
    commands = [found[1].strip() for line in list_code(page) if (found := COMMAND.match(line))]
    assert [wrong for one in commands if (wrong := find_unknown_option(one))] == []


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_the_targets_of_a_page_are_in_the_makefile(page: Path) -> None:
    named = {found[1] for line in list_code(page) if (found := TARGET.match(line))}
    assert named - TARGETS == set()


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_the_routes_of_a_page_are_in_the_document(page: Path) -> None:
    lines = list_code(page)
    named = {found.groups() for line in lines if (found := ROUTE.match(line))}
    named |= {(None, found[1]) for line in lines if (found := CURL.search(line))}
    ours = sorted((route for route in named if route[1] not in FOREIGN), key=str)
    assert [route for route in ours if not has_route(*route)] == []
