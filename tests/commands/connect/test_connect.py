"""`palimpsest connect` over homes of its own: the files of every host, and a call of what they say."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from app.commands.connect.edits import (
    BACKUP,
    compute_changes,
    find_plugin,
    write_change,
)
from app.commands.connect.hosts import HOSTS, Connection, Place, build_url
from app.commands.connect.json_text import Unreadable
from app.domain.agent import escape_agent_id
from app.settings import load_settings
from support.service import running
from support.service_process import palimpsest

COMMAND = ("/opt/palimpsest/bin/palimpsest",)
URL = "http://127.0.0.1:8000"
BY_URL = Connection(COMMAND, URL, "ada")
FILES = {
    "claude-code": (".claude.json", ".claude/settings.json", ".claude/CLAUDE.md"),
    "claude-desktop": (".config/Claude/claude_desktop_config.json",),
    "cursor": (".cursor/mcp.json",),
    "vscode": (".config/Code/User/mcp.json",),
    "codex": (".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md"),
    "gemini": (".gemini/settings.json", ".gemini/GEMINI.md"),
    "windsurf": (".codeium/windsurf/mcp_config.json", ".codeium/windsurf/memories/global_rules.md"),
    "zed": (".config/zed/settings.json",),
    "openclaw": (".openclaw/openclaw.json",),
}
HOOK = {"hooks": [{"type": "command", "command": "notify-send done"}]}
OTHERS = {
    ".json": {
        "theme": "dark",
        "mcpServers": {"other": {"command": "x"}},
        "servers": {"other": {"command": "x"}},
        "context_servers": {"other": {"command": "x"}},
        "mcp": {"servers": {"other": {"command": "x"}}},
        "hooks": {"Stop": [HOOK], "AfterAgent": [HOOK], "PreToolUse": [HOOK]},
    },
    ".toml": 'model = "o4"  # the best\n\n[mcp_servers.other]\ncommand = "x"\n\n# of people\n[profiles.fast]\neffort = "low"\n',
    ".md": "# Rules\n\nBe brief.\n",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, {}, "linux")


def parse(file: Path) -> Any:
    """What the host reads, by parsers that are not ours."""
    text = file.read_text("utf-8")
    if ".toml" in file.name:
        return tomllib.loads(text)
    return json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))


def fill(place: Place, name: str) -> dict[Path, bytes]:
    """Files of the host with settings of a person."""
    filled = {}
    for path in FILES[name]:
        file = place.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        others = OTHERS[file.suffix]
        text = others if isinstance(others, str) else json.dumps(others, indent=4) + "\n"
        if name in ("vscode", "zed", "gemini", "openclaw") and file.suffix == ".json":
            text = "// settings of mine\n" + text
        file.write_text(text, "utf-8")
        file.chmod(0o640)
        filled[file] = file.read_bytes()
    return filled


def write(place: Place, name: str, connection: Connection = BY_URL) -> int:
    changes = compute_changes(HOSTS[name], place, connection)
    for change in changes:
        write_change(change, holds_key=bool(connection.key))
    return len(changes)


def undo(place: Place, name: str) -> None:
    for change in compute_changes(HOSTS[name], place, BY_URL, undo=True):
        write_change(change, is_removal=True)


def read_entry(place: Place, name: str) -> Any:
    found = parse(place.home / FILES[name][0])
    for key in HOSTS[name].server_path:
        found = found[key]
    return found["palimpsest"]


# --- forms and places --------------------------------------------------------------------------

ADDRESS = f"{URL}/mcp/ada"
STARTED = {"command": COMMAND[0], "args": ["mcp", "--agent", "ada"]}
ASKING = {"command": COMMAND[0], "args": ["mcp", "--url", URL, "--agent", "ada"]}
BEARER = {"Authorization": "Bearer k-1"}


@pytest.mark.parametrize(
    ("name", "by_url", "with_key", "started"),
    [
        (
            "claude-code",
            {"type": "http", "url": ADDRESS},
            {"type": "http", "url": ADDRESS, "headers": BEARER},
            {"type": "stdio", **STARTED},
        ),
        ("claude-desktop", ASKING, {**ASKING, "env": {"PALIMPSEST_API_KEY": "k-1"}}, STARTED),
        ("cursor", {"url": ADDRESS}, {"url": ADDRESS, "headers": BEARER}, STARTED),
        (
            "vscode",
            {"type": "http", "url": ADDRESS},
            {"type": "http", "url": ADDRESS, "headers": BEARER},
            {"type": "stdio", **STARTED},
        ),
        ("codex", {"url": ADDRESS}, {"url": ADDRESS, "http_headers": BEARER}, STARTED),
        ("gemini", {"httpUrl": ADDRESS}, {"httpUrl": ADDRESS, "headers": BEARER}, STARTED),
        ("windsurf", {"serverUrl": ADDRESS}, {"serverUrl": ADDRESS, "headers": BEARER}, STARTED),
        ("zed", {"url": ADDRESS}, {"url": ADDRESS, "headers": BEARER}, STARTED),
        (
            "openclaw",
            {"transport": "streamable-http", "url": ADDRESS},
            {"transport": "streamable-http", "url": ADDRESS, "headers": BEARER},
            STARTED,
        ),
    ],
)
def test_each_host_has_its_own_form(
    place: Place, name: str, by_url: Any, with_key: Any, started: Any
) -> None:
    for connection, entry in (
        (BY_URL, by_url),
        (Connection(COMMAND, URL, "ada", "k-1"), with_key),
        (Connection(COMMAND, None, "ada"), started),
    ):
        write(place, name, connection)
        assert read_entry(place, name) == entry


@pytest.mark.parametrize(
    ("name", "by_url", "started"),
    [
        ("claude-code", "Bearer ${PALIMPSEST_API_KEY}", "${PALIMPSEST_API_KEY}"),
        ("claude-desktop", None, "k-1"),
        ("cursor", "Bearer ${env:PALIMPSEST_API_KEY}", "${env:PALIMPSEST_API_KEY}"),
        ("vscode", "Bearer ${env:PALIMPSEST_API_KEY}", "${env:PALIMPSEST_API_KEY}"),
        ("gemini", "Bearer $PALIMPSEST_API_KEY", "$PALIMPSEST_API_KEY"),
        ("windsurf", "Bearer ${env:PALIMPSEST_API_KEY}", "${env:PALIMPSEST_API_KEY}"),
        ("zed", "Bearer k-1", "k-1"),
        ("openclaw", "Bearer ${PALIMPSEST_API_KEY}", "${PALIMPSEST_API_KEY}"),
    ],
)
def test_a_key_of_the_environment_is_only_named_where_the_host_reads_names(
    place: Place, name: str, by_url: str | None, started: str
) -> None:
    if by_url:
        write(place, name, Connection(COMMAND, URL, "ada", "k-1", key_is_variable=True))
        assert read_entry(place, name)["headers"] == {"Authorization": by_url}
    write(place, name, Connection(COMMAND, None, "ada", "k-1", key_is_variable=True))
    assert read_entry(place, name)["env"] == {"PALIMPSEST_API_KEY": started}


def test_codex_names_the_variable_in_fields_of_its_own(place: Place) -> None:
    write(place, "codex", Connection(COMMAND, URL, None, "k-1", key_is_variable=True))
    by_url = {"url": f"{URL}/mcp", "bearer_token_env_var": "PALIMPSEST_API_KEY"}
    assert read_entry(place, "codex") == by_url
    write(place, "codex", Connection(COMMAND, None, None, "k-1", key_is_variable=True))
    assert read_entry(place, "codex")["env_vars"] == ["PALIMPSEST_API_KEY"]


@pytest.mark.parametrize(
    ("system", "environment", "name", "path"),
    [
        ("darwin", {}, "claude-desktop", "~/Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", {"APPDATA": "/roaming"}, "claude-desktop", "/roaming/Claude/claude_desktop_config.json"),
        ("darwin", {}, "vscode", "~/Library/Application Support/Code/User/mcp.json"),
        ("win32", {}, "vscode", "~/AppData/Roaming/Code/User/mcp.json"),
        ("linux", {"XDG_CONFIG_HOME": "/settings"}, "vscode", "/settings/Code/User/mcp.json"),
        ("darwin", {"XDG_CONFIG_HOME": "/settings"}, "zed", "~/.config/zed/settings.json"),
        ("win32", {"APPDATA": "/roaming"}, "zed", "/roaming/Zed/settings.json"),
        ("darwin", {}, "cursor", "~/.cursor/mcp.json"),
        ("linux", {"CLAUDE_CONFIG_DIR": "/c"}, "claude-code", "/c/.claude.json"),
        ("linux", {"CODEX_HOME": "/codex"}, "codex", "/codex/config.toml"),
        ("linux", {"OPENCLAW_STATE_DIR": "/claw"}, "openclaw", "/claw/openclaw.json"),
        ("linux", {"OPENCLAW_CONFIG_PATH": "/o.json"}, "openclaw", "/o.json"),
    ],
)  # fmt: skip
def test_files_are_where_the_system_has_them(
    system: str, environment: dict[str, str], name: str, path: str
) -> None:
    found = Place(Path("/home/ada"), environment, system).find(HOSTS[name].file)
    assert found == Path(path.replace("~", "/home/ada"))


def test_every_host_is_tested() -> None:
    assert set(FILES) == set(HOSTS)


@pytest.mark.parametrize(
    ("agent", "path"),
    [
        (None, "/mcp"),
        ("acme/ada", "/mcp/acme/ada"),
        ("%C3%A9mile", "/mcp/%C3%A9mile"),
        ("a%41", "/mcp/a%2541"),
        ("50%", "/mcp/50%25"),
    ],
)
def test_the_address_names_the_agent(agent: str | None, path: str) -> None:
    url = build_url(Connection(COMMAND, URL + "/", agent))
    assert url == URL + path
    named = unquote(url.partition("/mcp")[2].strip("/"))
    assert escape_agent_id(named) == (agent or "")


# --- files of people ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTS)
def test_other_settings_stay_and_undo_gives_every_byte_back(place: Place, name: str) -> None:
    before = fill(place, name)
    assert write(place, name) == len(before)
    for file, content in before.items():
        assert file.with_name(file.name + BACKUP).read_bytes() == content
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        if file.suffix == ".md":
            assert file.read_bytes().startswith(content)
            continue
        values, others = parse(file), parse(file.with_name(file.name + BACKUP))
        for servers in ("mcpServers", "servers", "context_servers", "mcp_servers"):
            values.get(servers, {}).pop("palimpsest", None)
        values.get("mcp", {}).get("servers", {}).pop("palimpsest", None)
        for event, groups in values.get("hooks", {}).items():
            left = [group for group in groups if "palimpsest" not in json.dumps(group)]
            assert left == others["hooks"].get(event, [])
        assert {**values, "hooks": 0} == {**others, "hooks": 0}
    assert write(place, name) == 0
    undo(place, name)
    assert {file: file.read_bytes() for file in before} == before
    assert not list(place.home.rglob(f"*{BACKUP}"))


@pytest.mark.parametrize(
    ("name", "number", "text"),
    [
        ("cursor", 0, ""),
        ("cursor", 0, '{"mcpServers": {}, "a": 1}'),
        ("claude-code", 0, '{"n":3,"projects":{"/x":{"mcpServers":{"palimpsest":{"url":"x"}}}}}'),
        ("claude-code", 2, "# Rules\r\n- no line end"),
        ("codex", 0, 'model = "o4" # good\r\n'),
        ("codex", 2, "- tabs\r\n"),
        ("zed", 0, '// mine\r\n{\r\n  "context_servers": {"a": {"args": ["x",],},},\r\n}\r\n'),
        ("openclaw", 0, "{\n  mcp: {servers: {x: {url: 'http://a',},},},\n}\n"),
    ],
)
def test_undo_gives_back_the_bytes_of_unusual_files(
    place: Place, name: str, number: int, text: str
) -> None:
    file = place.home / FILES[name][number]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    write(place, name)
    write(place, name, Connection(COMMAND, URL, "bob"))
    lines = file.read_bytes().splitlines(keepends=True)
    assert {line.endswith(b"\r\n") for line in lines if line.endswith(b"\n")} == {"\r\n" in text}
    undo(place, name)
    assert [entry for entry in place.home.rglob("*") if entry.is_file()] == [file]
    assert file.read_bytes() == text.encode()


def test_undo_keeps_what_a_person_wrote_after_the_connection(place: Place) -> None:
    file = place.home / FILES["claude-code"][2]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("- tabs")
    write(place, "claude-code")
    file.write_text(file.read_text() + "- short\n")
    undo(place, "claude-code")
    assert file.read_text() == "- tabs\n- short\n"


@pytest.mark.parametrize("name", HOSTS)
def test_new_files_are_for_their_owner_and_go_with_undo(place: Place, name: str) -> None:
    write(place, name)
    for path in FILES[name]:
        assert stat.S_IMODE((place.home / path).stat().st_mode) == 0o600
    undo(place, name)
    assert not [file for file in place.home.rglob("*") if file.is_file()]


@pytest.mark.parametrize("name", HOSTS)
def test_another_agent_takes_the_place_of_the_first_one(place: Place, name: str) -> None:
    before = fill(place, name)
    write(place, name)
    write(place, name, Connection(COMMAND, URL, "bob", "k-1"))
    file = place.home / FILES[name][0]
    assert "ada" not in file.read_text()
    assert "bob" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    undo(place, name)
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.parametrize("name", [name for name in HOSTS if HOSTS[name].hooks])
def test_hooks_call_this_program_with_the_events_of_the_host(place: Place, name: str) -> None:
    write(place, name, Connection(("/opt/a b/palimpsest",), URL, "ada"))
    hooks = HOSTS[name].hooks
    assert hooks is not None
    [file] = [f for f in map(place.home.joinpath, FILES[name]) if place.find(hooks.file) == f]
    groups = parse(file)["hooks"]
    assert set(groups) == set(hooks.events)
    for event, [group] in groups.items():
        words = shlex.split(group["hooks"][0]["command"])
        own = ["/opt/a b/palimpsest", "hook", hooks.events[event], "--url", URL, "--agent", "ada"]
        assert words == own


def test_hooks_have_the_key_where_the_file_can_hold_it(place: Place) -> None:
    write(place, "claude-code", Connection(COMMAND, URL, "ada", "k-1"))
    settings = parse(place.home / ".claude/settings.json")
    assert settings["env"] == {"PALIMPSEST_API_KEY": "k-1"}
    assert "k-1" not in json.dumps(settings["hooks"])
    undo(place, "claude-code")
    assert not (place.home / ".claude/settings.json").exists()


def test_without_a_running_service_there_are_no_hooks(place: Place) -> None:
    write(place, "claude-code", Connection(COMMAND))
    assert not (place.home / ".claude/settings.json").exists()


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("cursor", '{"mcpServers": {\n  "a": }}', "mcp.json: line 2, column 8"),
        ("cursor", '{"mcpServers": []}', "mcp.json: line 1, column 16: this is no object"),
        ("codex", "[mcp_servers\n", "config.toml: Expected"),
        ("codex", 'mcp_servers = { other = { command = "x" } }\n', "by hand"),
        ("claude-code", "", ""),
    ],
)
def test_a_broken_file_is_refused_with_its_place_and_left(
    place: Place, name: str, text: str, where: str
) -> None:
    file = place.home / (FILES[name][0] if text else FILES[name][1])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() or b"\xff\xfe")
    before = file.read_bytes()
    with pytest.raises(Unreadable) as refused:
        write(place, name)
    assert (where or "settings.json: it is not UTF-8") in str(refused.value)
    assert file.read_bytes() == before
    assert [file] == [each for each in place.home.rglob("*") if each.is_file()]


def test_a_file_that_changes_meanwhile_is_not_overwritten(place: Place) -> None:
    fill(place, "cursor")
    [change] = compute_changes(HOSTS["cursor"], place, BY_URL)
    file = place.home / FILES["cursor"][0]
    file.write_text("{}")
    with pytest.raises(Unreadable, match="changed in the meantime"):
        write_change(change)
    assert file.read_text() == "{}"


def test_a_link_stays_a_link(place: Place) -> None:
    real = place.home / "dotfiles.json"
    real.write_text("{}\n")
    (place.home / ".cursor").mkdir()
    (place.home / ".cursor/mcp.json").symlink_to(real)
    write(place, "cursor")
    assert (place.home / ".cursor/mcp.json").is_symlink()
    assert "palimpsest" in real.read_text()


TABLES = (
    '# mine\n[mcp_servers.palimpsest]\ncommand = "old"\n\n[mcp_servers.palimpsest.env]\nA = "1"\n\n# the other\n[mcp_servers.other]\ncommand = "x"\ntext = """\n[no table]\n"""\n',
    '[mcp_servers."palimpsest"] # ours\ncommand = "old"\n[a]\nb = 1',
    '[[profiles]]\nname = "a"\n[ mcp_servers . palimpsest ]\r\nurl = "old"\r\n',
)


@pytest.mark.parametrize("text", TABLES)
def test_a_table_of_toml_is_replaced_at_its_place(place: Place, text: str) -> None:
    file = place.home / ".codex/config.toml"
    file.parent.mkdir()
    file.write_bytes(text.encode())
    expected = tomllib.loads(text)
    expected["mcp_servers"]["palimpsest"] = {"url": ADDRESS}
    write(place, "codex")
    assert tomllib.loads(file.read_bytes().decode()) == expected
    assert "# the other\n[mcp_servers.other]" in file.read_text() or "other" not in text
    undo(place, "codex")
    assert "palimpsest" not in file.read_text()
    assert "# the other\n[mcp_servers.other]" in file.read_text() or "other" not in text


@pytest.mark.parametrize(
    ("name", "path", "text", "found"),
    [
        ("claude-code", ".claude/settings.json", '{"enabledPlugins": {"palimpsest@palimpsest": true}}', True),
        ("claude-code", ".claude/settings.json", '{"enabledPlugins": {"palimpsest@palimpsest": false}}', False),
        ("claude-code", ".claude/settings.json", '{"enabledPlugins": {"palimpsest-like@x": true}}', False),
        ("codex", ".codex/config.toml", '[plugins."palimpsest@palimpsest"]\nenabled = true\n', True),
        ("codex", ".codex/config.toml", '[plugins."palimpsest@palimpsest"]\nenabled = false\n', False),
        ("cursor", ".cursor/mcp.json", "{}", False),
    ],
)  # fmt: skip
def test_a_plugin_of_the_host_is_found(
    place: Place, name: str, path: str, text: str, found: bool
) -> None:
    (place.home / path).parent.mkdir()
    (place.home / path).write_text(text)
    assert bool(find_plugin(HOSTS[name], place)) is found


# --- the command -------------------------------------------------------------------------------

Run = Callable[..., Any]


@pytest.fixture
def run(place: Place) -> Run:
    def run(*words: str, **environment: str) -> Any:
        variables = dict.fromkeys(("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"), "")
        # Commands that the files start import this checkout, too.
        variables |= {"HOME": str(place.home), "PYTHONPATH": os.pathsep.join(sys.path)}
        return palimpsest("connect", *words, **variables | environment)

    return run


@pytest.mark.slow
def test_hosts_are_found_connected_and_called(service: str, place: Place, run: Run) -> None:
    before = {**fill(place, "claude-desktop"), **fill(place, "codex")}
    words = ("--url", service, "--agent", "bob")
    shown = run(*words, "--dry-run")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "+[mcp_servers.palimpsest]" in shown.stdout
    asked = run(*words)
    assert (asked.returncode, "--yes writes it" in asked.stderr) == (1, True)
    assert {file: file.read_bytes() for file in before} == before
    done = run(*words, "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("connected; 9 tools, and memory_context answers") == 2
    assert "Cursor" not in done.stdout
    again = run(*words, "--yes", "codex")
    assert "Codex: nothing to change." in again.stdout
    undone = run("--undo", "--yes")
    assert undone.returncode == 0
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.slow
def test_a_key_is_written_called_with_and_not_shown(
    database_url: str, place: Place, run: Run
) -> None:
    key = "root-" + "k" * 40
    with running(load_settings(database_url=database_url, api_key=key)) as address:
        words = ("cursor", "gemini", "--url", address, "--yes")
        done = run(*words, "--key", key)
        assert done.returncode == 0, done.stdout + done.stderr
        assert key not in done.stdout
        assert key in (place.home / ".cursor/mcp.json").read_text()
        done = run(*words, PALIMPSEST_API_KEY=key)
        assert done.returncode == 0, done.stdout + done.stderr
        assert key not in (place.home / ".cursor/mcp.json").read_text()
        assert "httpUrl" in (place.home / ".gemini/settings.json").read_text()
        wrong = run("cursor", "--url", address, "--yes", "--key", "wrong")
        assert wrong.returncode == 1
        assert "Cursor: written, but a call fails: " in wrong.stdout, wrong.stdout
        assert "Traceback" not in wrong.stderr


def test_wrong_calls_say_what_is_there(place: Place, run: Run) -> None:
    unknown = run("emacs", "--url", URL)
    assert "there is no host emacs; there are claude-code, " in unknown.stderr
    assert "no host was found" in run("--url", URL).stderr
    printed = run("zed", "codex", "--url", URL, "--agent", "ada", "--print")
    assert f'"url": "{ADDRESS}"' in printed.stdout
    assert tomllib.loads(printed.stdout.split("config.toml\n")[1].split("#")[0])["mcp_servers"]
    assert not list(place.home.iterdir())


def test_one_broken_file_leaves_the_other_hosts(service: str, place: Place, run: Run) -> None:
    fill(place, "cursor")
    broken = place.home / ".config/zed/settings.json"
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    done = run("--url", service, "--yes")
    assert done.returncode == 1
    assert f"Zed: {broken}: line 1, column 2: a name is missing." in done.stdout
    assert "Cursor: connected" in done.stdout
    assert broken.read_text() == "{"


def test_a_person_is_asked_before_anything_is_written(service: str, place: Place) -> None:
    (place.home / ".cursor").mkdir()
    command = [sys.executable, "-m", "app.cli", "connect", "--url", service]
    variables = {**os.environ, "HOME": str(place.home), "PYTHONPATH": os.pathsep.join(sys.path)}
    for reply, is_written in (("n", False), ("y", True)):
        main, terminal = os.openpty()
        with subprocess.Popen(
            command, stdin=terminal, stdout=subprocess.PIPE, env=variables, text=True
        ) as process:
            os.write(main, f"{reply}\n".encode())
            shown, _ = process.communicate(timeout=60)
        os.close(main)
        os.close(terminal)
        assert "Write this?" in shown
        assert ("connected" in shown) is is_written
        assert (place.home / ".cursor/mcp.json").exists() is is_written
