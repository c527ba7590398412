"""What a connection changes in the files of a host, and how the files are written."""

import json
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from app.commands.connect.hosts import (
    KEY_VARIABLE,
    SERVER,
    Connection,
    Host,
    Place,
    build_command,
    build_hook,
    build_server,
    is_own_hook,
)
from app.commands.connect.json_text import Unreadable, read_json, remove_from_json, set_in_json
from app.commands.connect.toml_text import read_toml, remove_from_toml, set_in_toml

BACKUP: Final = ".palimpsest-backup"
INSTRUCTION: Final = (
    f"Long-term memory is the MCP server {SERVER}: call memory_context at the start of a task, and "
    "memory_store for each lasting fact that the user states or changes."
)
_FIRST, _LAST = f"<!-- {SERVER} -->", f"<!-- /{SERVER} -->"
_BLOCK = re.compile(rf"(?:\r?\n)?{_FIRST}.*?{_LAST}(?:\r?\n)?", re.DOTALL)

Keys = Sequence[str | int]


@dataclass(frozen=True)
class Edit:
    """A change of the text of one file; `words` say to a person what is in it."""

    file: Path
    words: str
    change: Callable[[str], str]


@dataclass(frozen=True)
class FileChange:
    """A file before and after; None is a file that is not there.

    `is_connected` says that the file has something of a connection before the change.
    """

    file: Path
    before: str | None
    after: str | None
    words: tuple[str, ...]
    is_connected: bool


# --- what is to be changed ---------------------------------------------------------------------


def list_edits(host: Host, place: Place, connection: Connection) -> list[Edit]:
    """Return what connects the host: the server, hooks and a line for the agent.

    Hooks ask a service that runs, so they need the URL of one.
    """
    file, path = place.find(host.file), (*host.server_path, SERVER)
    entry = build_server(host, connection)
    words = f"{'.'.join(path)} = {json.dumps(entry, ensure_ascii=False)}"
    edits = [Edit(file, words, lambda text: _set_value(file, text, path, entry))]
    if host.hooks and connection.url:
        hooks_file = place.find(host.hooks.file)
        command = build_command(connection, "EVENT")
        words = f"hooks {', '.join(host.hooks.events)}: {command}"
        change = partial(_set_hooks, host, hooks_file, connection)
        edits.append(Edit(hooks_file, words, change))
    if host.instructions:
        edits.append(Edit(place.find(host.instructions), INSTRUCTION, _set_instruction))
    return edits


def list_removals(host: Host, place: Place) -> list[Edit]:
    """Return what removes everything of a connection from the host's files."""
    file, path = place.find(host.file), (*host.server_path, SERVER)
    edits = [Edit(file, ".".join(path), lambda text: _remove_value(file, text, path))]
    if host.hooks:
        hooks_file = place.find(host.hooks.file)
        edits.append(Edit(hooks_file, "hooks", partial(_remove_hooks, host, hooks_file)))
    if host.instructions:
        instructions = place.find(host.instructions)
        edits.append(Edit(instructions, "the line", lambda text: _BLOCK.sub("", text)))
    return edits


def find_plugin(host: Host, place: Place) -> str | None:
    """Return the name of this service's plugin if the host has enabled it. Raises Unreadable."""
    if host.plugins is None:
        return None
    file = place.find(host.plugins[0])
    plugins = _find(_read_value(file, read_text(file) or ""), (host.plugins[1],)) or {}
    for name, state in plugins.items():
        is_on = state.get("enabled", True) if isinstance(state, dict) else state
        if name.split("@")[0] == SERVER and is_on:
            return str(name)
    return None


def compute_changes(
    host: Host, place: Place, connection: Connection, *, undo: bool = False
) -> list[FileChange]:
    """Return the files that a connection or its removal changes.

    A removal gives back the copy of a file that nobody else edited: connecting the copy and
    removing that leads to the same text. Raises Unreadable, which names file and place.
    """
    edits, removals = list_edits(host, place, connection), list_removals(host, place)
    changes = []
    for file in dict.fromkeys(edit.file for edit in removals):
        before, copy = read_text(file), read_text(_backup_of(file))
        after, words = _apply(removals if undo else edits, file, before or "")
        is_own = _apply(removals, file, before or "")[0] != (before or "")
        new: str | None = after
        if undo and copy is not None and _apply([*edits, *removals], file, copy)[0] == after:
            new = copy
        elif copy is None and after.strip() in ("", "{}"):
            new = None
        if words:
            changes.append(FileChange(file, before, new, words, is_connected=is_own))
    return changes


def _apply(edits: Sequence[Edit], file: Path, text: str) -> tuple[str, tuple[str, ...]]:
    """Return the changed text of the file, and the words of the edits that changed it."""
    words = []
    for edit in edits:
        before = text
        text = edit.change(text) if edit.file == file else text
        if text != before:
            words.append(edit.words)
    return text, tuple(words)


def _set_hooks(host: Host, file: Path, connection: Connection, text: str) -> str:
    assert host.hooks is not None
    for event in host.hooks.events:
        groups = _find(_read_value(file, text), ("hooks", event))
        groups = groups if isinstance(groups, list) else []
        own = [number for number, group in enumerate(groups) if is_own_hook(group)]
        for number in reversed(own[1:]):
            text = _remove_value(file, text, ("hooks", event, number))
        number = own[0] if own else len(groups)
        group = build_hook(host.hooks, event, connection)
        text = _set_value(file, text, ("hooks", event, number), group)
    if host.hook_variables and connection.key and not connection.key_is_variable:
        text = _set_value(file, text, (*host.hook_variables, KEY_VARIABLE), connection.key)
    return text


def _remove_hooks(host: Host, file: Path, text: str) -> str:
    events = _find(_read_value(file, text), ("hooks",))
    for event, groups in events.items() if isinstance(events, dict) else ():
        for number, group in reversed(list(enumerate(groups if isinstance(groups, list) else []))):
            if is_own_hook(group):
                text = _remove_value(file, text, ("hooks", event, number))
    if host.hook_variables:
        text = _remove_value(file, text, (*host.hook_variables, KEY_VARIABLE))
    return text


def _set_instruction(text: str) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    block = f"{_FIRST}{end}{INSTRUCTION}{end}{_LAST}{end}"
    if _BLOCK.search(text):
        return _BLOCK.sub(lambda match: ("" if match[0][0] == "<" else end) + block, text)
    if text and not text.endswith("\n"):
        text += end
    return f"{text}{end}{block}" if text else block


# --- values of a file --------------------------------------------------------------------------


def read_server(host: Host, place: Place) -> dict[str, Any] | None:
    """Return the entry of the server as it stands in the host's file. Raises Unreadable."""
    file = place.find(host.file)
    entry = _find(_read_value(file, read_text(file) or ""), (*host.server_path, SERVER))
    return entry if isinstance(entry, dict) else None


def _read_value(file: Path, text: str) -> Any:
    try:
        return (read_toml if file.suffix == ".toml" else read_json)(text)
    except Unreadable as problem:
        raise Unreadable(f"{file}: {problem}") from None


def _set_value(file: Path, text: str, path: Keys, value: Any) -> str:
    before = _read_value(file, text)
    if _find(before, path) == value:
        return text
    change: Callable[..., str] = set_in_toml if file.suffix == ".toml" else set_in_json
    try:
        after = change(text, path, value)
    except Unreadable as problem:
        raise Unreadable(f"{file}: {problem}") from None
    _check_values(file, after, _put(before, path, value))
    return after


def _remove_value(file: Path, text: str, path: Keys) -> str:
    before = _read_value(file, text)
    if _find(before, path) is None:
        return text
    remove: Callable[..., str] = remove_from_toml if file.suffix == ".toml" else remove_from_json
    after = remove(text, path)
    _check_values(file, after, _drop(before, path))
    return after


def _check_values(file: Path, text: str, expected: Any) -> None:
    """Raise Unreadable unless the changed text says just this, however the file was written."""
    try:
        is_right = _list_filled(_read_value(file, text)) == _list_filled(expected)
    except Unreadable:
        is_right = False
    if not is_right:
        raise Unreadable(f"{file}: its form is unusual; change it by hand, as --print shows")


def _list_filled(value: Any) -> dict[str, Any]:
    return {key: inner for key, inner in value.items() if inner != {}}


def _find(value: Any, path: Keys) -> Any:
    for key in path:
        is_there = key in value if isinstance(value, dict) else False
        if isinstance(value, list) and isinstance(key, int):
            is_there = key < len(value)
        if not is_there:
            return None
        value = value[key]
    return value


def _put(value: Any, path: Keys, new: Any) -> Any:
    """Return a copy of the value with the new one at the path."""
    if not path:
        return new
    key, *rest = path
    if isinstance(key, int):
        items = list(value or [])
        inner = items[key] if key < len(items) else None
        return [*items[:key], _put(inner, rest, new), *items[key + 1 :]]
    return {**(value or {}), key: _put((value or {}).get(key), rest, new)}


def _drop(value: Any, path: Keys) -> Any:
    """Return a copy of the value without the one at the path, and without what is then empty."""
    key, *rest = path
    left = value.copy()
    inner = _drop(value[key], rest) if rest else None
    if inner:
        left[key] = inner
    else:
        del left[key]
    return left


# --- files -------------------------------------------------------------------------------------


def read_text(file: Path) -> str | None:
    """Return the text of a file, None if it is not there. Raises Unreadable."""
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Unreadable(f"{file}: it is not UTF-8") from None
    except OSError as problem:
        raise Unreadable(f"{file}: {problem.strerror}") from None


def write_change(change: FileChange, *, holds_key: bool = False, is_removal: bool = False) -> None:
    """Write a file as a whole or not at all, after a copy of it. Raises Unreadable.

    The file keeps its mode, without the rights of others if it holds a key. The copy is that from
    before the first connection. A removal copies nothing, and takes the copy away if the file is
    again what it was.
    """
    file = change.file.resolve()  # a link stays
    if read_text(file) != change.before:
        raise Unreadable(f"{file}: it was changed in the meantime; call again")
    backup = _backup_of(file)
    try:
        mode = file.stat().st_mode & 0o777 if change.before is not None else 0o600
        mode = mode & 0o600 if holds_key else mode
        if change.before is not None and not change.is_connected:
            _write(backup, change.before, mode)
        if change.after is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            _write(file, change.after, mode)
        if is_removal and change.after == read_text(backup):
            backup.unlink(missing_ok=True)
    except OSError as problem:
        raise Unreadable(f"{file}: {problem.strerror}") from None


def _backup_of(file: Path) -> Path:
    file = file.resolve()
    return file.with_name(file.name + BACKUP)


def _write(file: Path, text: str, mode: int) -> None:
    number, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(number, "wb") as written:
            written.write(text.encode())
            written.flush()
            os.fsync(written.fileno())
        os.chmod(name, mode)
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
