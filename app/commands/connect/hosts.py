"""The hosts that can be connected: where their files lie, and in which form they name a server.

A new host is one entry of HOSTS. Forms and places are those of the hosts' own documentation.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from app.domain.agent import escape_agent_id

SERVER: Final = "palimpsest"
KEY_VARIABLE: Final = "PALIMPSEST_API_KEY"
# Folders that each system has elsewhere.
_FOLDERS: Final[Mapping[str, Mapping[str, str]]] = {
    "{programs}": {
        "linux": "${XDG_CONFIG_HOME:~/.config}",
        "darwin": "~/Library/Application Support",
        "win32": "${APPDATA:~/AppData/Roaming}",
    },
    "{zed}": {
        "linux": "${XDG_CONFIG_HOME:~/.config}/zed",
        "darwin": "~/.config/zed",
        "win32": "${APPDATA:~/AppData/Roaming}/Zed",
    },
}
_VARIABLE = re.compile(r"\$\{(\w+):([^${}]*)\}")


@dataclass(frozen=True)
class Place:
    """The home, environment and system in which paths are looked up."""

    home: Path
    environment: Mapping[str, str]
    system: str  # as sys.platform names it

    def find(self, template: str) -> Path:
        """Return the path: `${NAME:default}` is a variable, `{programs}` a folder of the system."""
        for name, folders in _FOLDERS.items():
            template = template.replace(name, folders.get(self.system, folders["linux"]))
        while match := _VARIABLE.search(template):
            value = self.environment.get(match[1]) or match[2]
            template = template[: match.start()] + value + template[match.end() :]
        return self.home / template[2:] if template.startswith("~/") else Path(template)


@dataclass(frozen=True)
class Connection:
    """What a host is to reach: a service at `url`, or one that the command itself starts."""

    command: tuple[str, ...]
    url: str | None = None
    agent: str | None = None
    key: str | None = None
    # The key is in the environment, and a file may name the variable.
    key_is_variable: bool = False

    @property
    def options(self) -> list[str]:
        """The options of `palimpsest mcp` and `palimpsest hook`, without the key."""
        named = (("--url", self.url), ("--agent", self.agent))
        return [part for name, value in named if value for part in (name, value)]


@dataclass(frozen=True)
class Hooks:
    """A host's file of hooks, and its names of the events that `palimpsest hook` answers."""

    file: str
    events: Mapping[str, str]
    timeout: int
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Host:
    """A program that can use the service.

    `folder` shows that the host is there. `server_path` leads to the servers in `file`. Names of
    fields in an entry of a server are as the host reads them.
    """

    title: str
    folder: str
    file: str
    server_path: tuple[str, ...] = ("mcpServers",)
    command_extra: Mapping[str, str] = field(default_factory=dict)
    url_key: str | None = "url"  # None: the host reads no URL from its file
    url_extra: Mapping[str, str] = field(default_factory=dict)
    headers_key: str = "headers"
    # How a value names the variable with the key; None if it cannot.
    variable: str | None = None
    # Fields that name the variable instead of a value, with a URL and with a command.
    bearer_variable_key: str | None = None
    variables_key: str | None = None
    hooks: Hooks | None = None
    # Where the file of hooks sets variables for them; None if it cannot.
    hook_variables: tuple[str, ...] | None = None
    instructions: str | None = None
    # A file and the object of plugins in it, for a host that may have this service as a plugin.
    plugins: tuple[str, str] | None = None
    advice: str = ""


def build_server(host: Host, connection: Connection) -> dict[str, Any]:
    """Return the entry of a server: its URL if the host reads one, else a command."""
    key, is_variable = connection.key, connection.key_is_variable
    if key and is_variable and host.variable:
        key = host.variable
    if connection.url and host.url_key:
        entry: dict[str, Any] = {**host.url_extra, host.url_key: build_url(connection)}
        if key and is_variable and host.bearer_variable_key:
            entry[host.bearer_variable_key] = KEY_VARIABLE
        elif key:
            entry[host.headers_key] = {"Authorization": f"Bearer {key}"}
        return entry
    program, *arguments = connection.command
    arguments += ["mcp", *connection.options]
    entry = {**host.command_extra, "command": program, "args": arguments}
    if key and is_variable and host.variables_key:
        entry[host.variables_key] = [KEY_VARIABLE]
    elif key:
        entry["env"] = {KEY_VARIABLE: key}
    return entry


def build_url(connection: Connection) -> str:
    """Return the address of MCP for the agent."""
    assert connection.url is not None
    agent = connection.agent or ""
    name = unquote(agent)  # the service escapes it again
    path = quote(name if escape_agent_id(name) == agent else agent)
    return f"{connection.url.rstrip('/')}/mcp/{path}".rstrip("/")


def build_command(connection: Connection, event: str) -> str:
    """Return the line of a shell that answers an event of `palimpsest hook`."""
    return shlex.join([*connection.command, "hook", event, *connection.options])


def build_hook(hooks: Hooks, event: str, connection: Connection) -> dict[str, Any]:
    """Return the group of hooks that answers an event of the host."""
    command = build_command(connection, hooks.events[event])
    hook = {"type": "command", "command": command, "timeout": hooks.timeout, **hooks.extra}
    return {"hooks": [hook]}


_OWN_HOOK = re.compile(r"\bhook (session-start|user-prompt|stop|pre-compact|session-end)\b")


def is_own_hook(group: Any) -> bool:
    """Return True if every hook of the group calls this program."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(hooks, list) or not hooks:
        return False
    commands = [str(hook.get("command")) for hook in hooks if isinstance(hook, dict)]
    return len(commands) == len(hooks) and all(
        _OWN_HOOK.search(command) and re.search(r"palimpsest|app\.cli", command)
        for command in commands
    )


_CODEX_EVENTS: Final = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt",
    "Stop": "stop",
    "PreCompact": "pre-compact",
}
_CLAUDE_EVENTS: Final = {**_CODEX_EVENTS, "SessionEnd": "session-end"}
_CLAUDE_SETTINGS: Final = "${CLAUDE_CONFIG_DIR:~/.claude}/settings.json"
_CODEX: Final = "${CODEX_HOME:~/.codex}"

HOSTS: Final[Mapping[str, Host]] = {
    "claude-code": Host(
        title="Claude Code",
        folder="${CLAUDE_CONFIG_DIR:~/.claude}",
        file="${CLAUDE_CONFIG_DIR:~}/.claude.json",
        command_extra={"type": "stdio"},
        url_extra={"type": "http"},
        variable="${PALIMPSEST_API_KEY}",
        hooks=Hooks(_CLAUDE_SETTINGS, _CLAUDE_EVENTS, timeout=5),
        hook_variables=("env",),
        instructions="${CLAUDE_CONFIG_DIR:~/.claude}/CLAUDE.md",
        plugins=(_CLAUDE_SETTINGS, "enabledPlugins"),
    ),
    "claude-desktop": Host(
        title="Claude Desktop",
        folder="{programs}/Claude",
        file="{programs}/Claude/claude_desktop_config.json",
        url_key=None,
    ),
    "cursor": Host(
        title="Cursor",
        folder="~/.cursor",
        file="~/.cursor/mcp.json",
        variable="${env:PALIMPSEST_API_KEY}",
    ),
    "vscode": Host(
        title="VS Code",
        folder="{programs}/Code/User",
        file="{programs}/Code/User/mcp.json",
        server_path=("servers",),
        command_extra={"type": "stdio"},
        url_extra={"type": "http"},
        variable="${env:PALIMPSEST_API_KEY}",
    ),
    "codex": Host(
        title="Codex",
        folder=_CODEX,
        file=f"{_CODEX}/config.toml",
        server_path=("mcp_servers",),
        hooks=Hooks(f"{_CODEX}/hooks.json", _CODEX_EVENTS, timeout=5),
        headers_key="http_headers",
        bearer_variable_key="bearer_token_env_var",
        variables_key="env_vars",
        instructions=f"{_CODEX}/AGENTS.md",
        plugins=(f"{_CODEX}/config.toml", "plugins"),
        advice="Codex asks once whether it may run new hooks: /hooks shows them.",
    ),
    "gemini": Host(
        title="Gemini CLI",
        folder="${GEMINI_CLI_HOME:~}/.gemini",
        file="${GEMINI_CLI_HOME:~}/.gemini/settings.json",
        url_key="httpUrl",
        variable="$PALIMPSEST_API_KEY",
        hooks=Hooks(
            "${GEMINI_CLI_HOME:~}/.gemini/settings.json",
            {
                "SessionStart": "session-start",
                "BeforeAgent": "user-prompt",
                "AfterAgent": "stop",
            },
            timeout=5000,
            extra={"name": SERVER},
        ),
        instructions="${GEMINI_CLI_HOME:~}/.gemini/GEMINI.md",
    ),
    "windsurf": Host(
        title="Windsurf",
        folder="~/.codeium/windsurf",
        file="~/.codeium/windsurf/mcp_config.json",
        url_key="serverUrl",
        variable="${env:PALIMPSEST_API_KEY}",
        instructions="~/.codeium/windsurf/memories/global_rules.md",
    ),
    "zed": Host(
        title="Zed",
        folder="{zed}",
        file="{zed}/settings.json",
        server_path=("context_servers",),
    ),
    "openclaw": Host(
        title="OpenClaw",
        folder="${OPENCLAW_STATE_DIR:~/.openclaw}",
        file="${OPENCLAW_CONFIG_PATH:${OPENCLAW_STATE_DIR:~/.openclaw}/openclaw.json}",
        server_path=("mcp", "servers"),
        url_extra={"transport": "streamable-http"},
        variable="${PALIMPSEST_API_KEY}",
    ),
}
