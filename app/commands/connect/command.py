"""`palimpsest connect`: show what would be written, write it after a yes, and call it once."""

import difflib
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import click

from app.commands.client.calling import DEFAULT_URL, Failure, build_client
from app.commands.client.demo import answers
from app.commands.connect.edits import (
    FileChange,
    compute_changes,
    find_plugin,
    list_edits,
    read_server,
    write_change,
)
from app.commands.connect.hosts import HOSTS, KEY_VARIABLE, Connection, Host, Place
from app.commands.connect.json_text import Unreadable
from app.commands.parameters import Argument, Option
from app.commands.program import find_own_command
from app.domain.agent import escape_agent_id

_SECRET = re.compile(rf"""((?:Bearer |{KEY_VARIABLE}"?\s*[:=]\s*"))[^"'$\s]+""")


@dataclass(frozen=True)
class Plan:
    """What is to be written for a host."""

    host: Host
    changes: list[FileChange]


def connect(
    hosts: Annotated[
        list[str] | None,
        Argument(metavar="[HOST]...", help=f"{', '.join(HOSTS)}. Default: those found."),
    ] = None,
    url: Annotated[
        str | None,
        Option(
            envvar="PALIMPSEST_URL",
            help=f"Address of the running service. Default: {DEFAULT_URL} if it answers, else the "
            "hosts start one of their own.",
        ),
    ] = None,
    agent: Annotated[str | None, Option(envvar="PALIMPSEST_AGENT", help="Whose memory.")] = None,
    key: Annotated[
        str | None,
        Option(
            help=f"Key of the service, which is written into the files. Default: {KEY_VARIABLE}, "
            "which files only name where the host can read it."
        ),
    ] = None,
    yes: Annotated[bool, Option("--yes", help="Write without a question.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Show it, and write nothing.")] = False,
    only_print: Annotated[bool, Option("--print", help="Print what to write by hand.")] = False,
    undo: Annotated[bool, Option("--undo", help="Take out what was written.")] = False,
) -> None:
    """Connect Claude Code, Cursor, VS Code, Codex and other hosts.

    Shows what it would write into their files: the MCP server, hooks where the host has them, and a
    line for the agent. After a yes it writes, with a copy of each file, and calls what it wrote.
    """
    place = Place(Path.home(), os.environ, sys.platform)
    names = _choose_hosts(hosts or [], place)
    connection = _make_connection(url, agent, key)
    if only_print:
        _print_all(names, place, connection)
        return
    plans, refused = _make_plans(names, place, connection, undo=undo)
    for plan in plans:
        _show(plan, undo=undo, as_lines=dry_run)
    for sentence in refused:
        print(f"\n{sentence} Nothing of it was touched.")
    if dry_run:
        return
    is_wanted = yes or _confirm(plans, "Take this out?" if undo else "Write this?")
    failed = list(refused)
    for plan in plans:
        if is_wanted or not plan.changes:
            failed += _carry_out(plan, place, connection, undo=undo)
    if failed:
        sys.exit(1)


# --- what to do --------------------------------------------------------------------------------


def _choose_hosts(chosen: Sequence[str], place: Place) -> list[str]:
    for name in chosen:
        if name not in HOSTS:
            raise Failure(f"there is no host {name}; there are {', '.join(HOSTS)}.")
    if chosen:
        return list(dict.fromkeys(chosen))
    names = [name for name, host in HOSTS.items() if place.find(host.folder).is_dir()]
    if not names:
        raise Failure(
            f"no host was found. `palimpsest connect HOST --print` shows what to write by hand; "
            f"hosts are {', '.join(HOSTS)}."
        )
    return names


def _make_connection(url: str | None, agent: str | None, key: str | None) -> Connection:
    variable = os.environ.get(KEY_VARIABLE)
    connection = Connection(
        command=tuple(find_own_command()),
        url=url or (DEFAULT_URL if answers(DEFAULT_URL) else None),
        agent=escape_agent_id(agent) if agent else None,
        key=key or variable,
        key_is_variable=not key and bool(variable),
    )
    build_client(
        connection.url or DEFAULT_URL, agent=connection.agent, api_key=connection.key
    ).close()
    return connection


def _make_plans(
    names: Sequence[str], place: Place, connection: Connection, *, undo: bool
) -> tuple[list[Plan], list[str]]:
    plans: list[Plan] = []
    refused: list[str] = []
    for name in names:
        host = HOSTS[name]
        try:
            plugin = None if undo else find_plugin(host, place)
            if plugin:
                print(f"\n{host.title} has the plugin {plugin}, with the same server and hooks.")
                continue
            plans.append(Plan(host, compute_changes(host, place, connection, undo=undo)))
        except Unreadable as problem:
            refused.append(f"{host.title}: {problem}.")
    return plans, refused


def _confirm(plans: Sequence[Plan], question: str) -> bool:
    if not any(plan.changes for plan in plans):
        return False
    if not sys.stdin.isatty():
        raise Failure("nothing was written; --yes writes it.")
    return click.confirm(f"\n{question}")


def _carry_out(plan: Plan, place: Place, connection: Connection, *, undo: bool) -> list[str]:
    """Write what is planned, and call what stands in the host's file. Return the problems."""
    from app.commands.connect.check import CheckFailed, check_server

    title = plan.host.title
    try:
        for change in plan.changes:
            holds_key = bool(connection.key) and str(connection.key) in (change.after or "")
            write_change(change, holds_key=holds_key, is_removal=undo)
        entry = read_server(plan.host, place)
    except Unreadable as problem:
        print(f"{title}: {problem}.")
        return [str(problem)]
    if undo or entry is None:
        return []
    print(f"{title}: ", end="", flush=True)  # a service that must start takes a while
    try:
        print(f"connected; {check_server(plan.host, entry)}.")
    except CheckFailed as problem:
        print(f"written, but a call fails: {problem}")
        return [str(problem)]
    for sentence in _list_advice(plan.host, connection):
        print(f"  {sentence}")
    return []


def _list_advice(host: Host, connection: Connection) -> list[str]:
    if host.hooks is None:
        return []
    if not connection.url:
        return ["Hooks need a running service: start `palimpsest serve`, and connect again."]
    is_keyless = connection.key is None or (host.hook_variables and not connection.key_is_variable)
    needs_variable = (
        f"Its hooks read the key from {KEY_VARIABLE}: set it where {host.title} starts."
    )
    return list(filter(None, ("" if is_keyless else needs_variable, host.advice)))


# --- showing it --------------------------------------------------------------------------------


def _show(plan: Plan, *, undo: bool, as_lines: bool) -> None:
    """Print in words what changes, or each line of it."""
    if not plan.changes:
        print(f"\n{plan.host.title}: {'nothing to take out' if undo else 'nothing to change'}.")
        return
    print(f"\n{plan.host.title}")
    for change in plan.changes:
        print(f"  {change.file}{' (removed)' if change.after is None else ''}")
        for line in _list_lines(change) if as_lines else change.words:
            print("    " + _SECRET.sub(r"\1…", line))


def _list_lines(change: FileChange) -> list[str]:
    before, after = (change.before or "").splitlines(), (change.after or "").splitlines()
    lines = list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]
    return [line for line in lines if not line.startswith("@@")]


def _print_all(names: Sequence[str], place: Place, connection: Connection) -> None:
    """Print what each host would have in empty files."""
    for name in names:
        texts: dict[Path, str] = {}
        for edit in list_edits(HOSTS[name], place, connection):
            texts[edit.file] = edit.change(texts.get(edit.file, ""))
        for file, text in texts.items():
            print(f"# {HOSTS[name].title}: {file}\n{text}")
