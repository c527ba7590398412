"""The plugins of coding agents: files that point at each other, and hooks as a shell runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.commands.client.hooks import EVENTS
from app.commands.connect.hosts import HOSTS
from support.builders import contents

ROOT = Path(__file__).parents[2]
PLUGINS = {
    "claude-code": (".claude-plugin/marketplace.json", ".claude-plugin/plugin.json"),
    "codex": (".agents/plugins/marketplace.json", ".codex-plugin/plugin.json"),
}
DOCUMENTED = {
    "claude-code": "claude-code.settings",
    "codex": "codex.hooks",
    "gemini": "gemini.settings",
}


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("host", PLUGINS)
def test_the_marketplace_of_a_checkout_leads_to_the_plugin(host: str) -> None:
    marketplace, manifest = PLUGINS[host]
    [entry] = read(ROOT / marketplace)["plugins"]
    source = entry["source"]
    folder = ROOT / (source if isinstance(source, str) else source["path"])
    plugin = read(folder / manifest)
    assert plugin["name"] == entry["name"] == read(ROOT / marketplace)["name"]
    assert set(read(folder / ".mcp.json")["mcpServers"]) == {"palimpsest"}
    for part in ("mcpServers", "hooks"):
        assert (folder / plugin.get(part, ".mcp.json")).is_file()


@pytest.mark.parametrize("host", [name for name in HOSTS if HOSTS[name].hooks])
def test_plugins_documents_and_connect_have_the_same_events(host: str) -> None:
    hooks = HOSTS[host].hooks
    assert hooks is not None
    files = [ROOT / f"docs/guide/hooks/{DOCUMENTED[host]}.json"]
    if host in PLUGINS:
        files.append(ROOT / f"clients/plugins/{host}/hooks/hooks.json")
    for file in files:
        events = read(file)["hooks"]
        assert set(events) == set(hooks.events)
        for event, [group] in events.items():
            words = group["hooks"][0]["command"].split()
            assert words[words.index("hook") + 1] == hooks.events[event]
            assert hooks.events[event] in EVENTS
            assert group["hooks"][0]["timeout"] == hooks.timeout


def test_hooks_of_claude_code_take_what_the_plugin_asks_for(
    client: httpx.Client, tmp_path: Path
) -> None:
    command = tmp_path / "a folder" / "palimpsest"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m app.cli "$@"\n')
    command.chmod(0o700)
    plugin = ROOT / "clients/plugins/claude-code"
    hooks = read(plugin / "hooks/hooks.json")["hooks"]
    options = read(plugin / ".claude-plugin/plugin.json")["userConfig"]
    agent = client.headers["X-Agent-Id"]
    given = {"command": str(command), "url": str(client.base_url), "agent": agent, "api_key": ""}
    assert set(options) == set(given)
    variables = {f"CLAUDE_PLUGIN_OPTION_{name.upper()}": value for name, value in given.items()}
    transcript = tmp_path / "transcript.jsonl"
    turn = {"type": "user", "message": {"role": "user", "content": "I live in Oslo."}}
    transcript.write_text(json.dumps(turn | {"timestamp": "2026-01-05T10:00:00Z"}) + "\n")

    def run(event: str) -> str:
        said = {"session_id": "s", "hook_event_name": event, "transcript_path": str(transcript)}
        done = subprocess.run(
            hooks[event][0]["hooks"][0]["command"] + " --patience 60",
            shell=True,
            input=json.dumps(said),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
        )
        assert not done.stderr
        return done.stdout

    run("Stop")
    assert contents(client) == {"I live in Oslo"}
    assert "I live in Oslo" in run("SessionStart")
    server = read(plugin / ".mcp.json")["mcpServers"]["palimpsest"]
    assert server["url"] == "${user_config.url}/mcp/${user_config.agent}"
