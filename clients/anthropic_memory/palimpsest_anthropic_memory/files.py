"""The commands of the memory tool as steps. Their answers are those of the SDK's own tool."""

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from anthropic.lib.tools import ToolError

from palimpsest_client import documents
from palimpsest_client.documents import Document, Steps, escape_word, unescape_word

ROOT = "/memories"
MAX_LINES = 999_999
# No text names such an entity, so no other fact ends a file.
_SLOT: dict[str, Any] = {"entity": "anthropic-memory:files", "category": "anthropic-memory"}


def _resolve(path: str) -> str:
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    resolved = posixpath.normpath(f"{ROOT}/{path.removeprefix(ROOT).lstrip('/')}")
    if resolved != ROOT and not resolved.startswith(f"{ROOT}/"):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return resolved


def read_files() -> Steps[dict[str, str]]:
    def pick(memory: Any) -> tuple[str, str]:
        return unescape_word(memory["key"]), documents.unpack_value(memory["details"])["text"]

    return dict(sorted((yield from documents.collect_memories(_SLOT, pick))))


def _write(files: Mapping[str, str]) -> Steps[Any]:
    written = []
    for path, text in files.items():
        content = documents.build_content([text], otherwise=path)
        key, value = escape_word(path), {"text": text}
        written.append(Document(**_SLOT, key=key, value=value, content=content))
    return documents.write_documents(written)


def _retract(paths: Iterable[str]) -> Steps[None]:
    for path in paths:
        yield from documents.retract_documents(**_SLOT, key=escape_word(path))


def _select(files: Mapping[str, str], path: str) -> dict[str, str]:
    """Return the file at the path, or everything in the folder."""
    return {each: files[each] for each in files if each == path or each.startswith(f"{path}/")}


def view(command: Any) -> Steps[str]:
    path, files = _resolve(command.path), (yield from read_files())
    if path in files:
        return _show_file(command, files[path].split("\n"))
    if path != ROOT and not _select(files, path):
        raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
    sizes = {"": 0}
    for each, text in _select(files, path).items():
        parts = each.removeprefix(path).split("/")
        for depth in range(1, min(len(parts), 3) + 1):
            name = "/".join(parts[:depth]) + "/" * (1 < depth < len(parts))
            sizes[name] = sizes.get(name, 0) + len(text.encode())
    header = f"Here're the files and directories up to 2 levels deep in {command.path}"
    shown = (name for name in sorted(sizes) if "/." not in name)
    lines = [f"{sizes[name] / 1024:.1f}K\t{command.path}{name}" for name in shown]
    return "\n".join([f"{header}, excluding hidden items:", *lines])


def _show_file(command: Any, lines: list[str]) -> str:
    if len(lines) > MAX_LINES:
        raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
    first, last = command.view_range if len(command.view_range or ()) == 2 else (1, -1)
    shown = _number(lines[max(0, first - 1) : len(lines) if last == -1 else last], max(1, first))
    return f"Here's the content of {command.path} with line numbers:\n{shown}"


def _number(lines: Iterable[str], first: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


def create(command: Any) -> Steps[str]:
    path, files = _resolve(command.path), (yield from read_files())
    if path == ROOT or _select(files, path):
        raise ToolError(f"File {command.path} already exists")
    yield from _write({path: command.file_text})
    return f"File created successfully at: {command.path}"


def _read_file(path: str) -> Steps[str]:
    files, resolved = (yield from read_files()), _resolve(path)
    if resolved in files:
        return files[resolved]
    if resolved == ROOT or _select(files, resolved):
        raise ToolError(f"The path {path} is not a file.")
    raise ToolError(f"The path {path} does not exist. Please provide a valid path.")


def replace_text(command: Any) -> Steps[str]:
    text, old = (yield from _read_file(command.path)), command.old_str
    places = [at for at in range(len(text)) if old and text.startswith(old, at)]
    if not places:
        words = f"old_str `{old}` did not appear verbatim in {command.path}."
        raise ToolError(f"No replacement was performed, {words}")
    lines = [text.count("\n", 0, at) + 1 for at in places]
    if len(lines) > 1:
        words = f"Multiple occurrences of old_str `{old}` in lines: {', '.join(map(str, lines))}"
        raise ToolError(f"No replacement was performed. {words}. Please ensure it is unique")
    edited = text.replace(old, command.new_str)
    yield from _write({_resolve(command.path): edited})
    first = max(1, lines[0] - 2)
    snippet = _number(edited.split("\n")[first - 1 : lines[0] + 2], first)
    words = "Here is the snippet showing the change (with line numbers):"
    return f"The memory file has been edited. {words}\n{snippet}"


def insert_text(command: Any) -> Steps[str]:
    lines = (yield from _read_file(command.path)).split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    if not 0 <= command.insert_line <= len(lines):
        words = f"It should be within the range [0, {len(lines)}]."
        raise ToolError(f"Invalid `insert_line` parameter: {command.insert_line}. {words}")
    lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
    yield from _write({_resolve(command.path): "\n".join(lines).removesuffix("\n") + "\n"})
    return f"The file {command.path} has been edited."


def delete(command: Any) -> Steps[str]:
    path, files = _resolve(command.path), (yield from read_files())
    if path == ROOT:
        raise ToolError(f"Cannot delete the {ROOT} directory itself")
    if not _select(files, path):
        raise ToolError(f"The path {command.path} does not exist")
    yield from _retract(_select(files, path))
    return f"Successfully deleted {command.path}"


def rename(command: Any) -> Steps[str]:
    old, new = _resolve(command.old_path), _resolve(command.new_path)
    files = yield from read_files()
    if old == ROOT:
        raise ToolError(f"Cannot rename the {ROOT} directory itself")
    if new == ROOT or _select(files, new):
        raise ToolError(f"The destination {command.new_path} already exists")
    if not (moved := _select(files, old)):
        raise ToolError(f"The path {command.old_path} does not exist")
    yield from _write({new + path.removeprefix(old): text for path, text in moved.items()})
    yield from _retract(moved)
    return f"Successfully renamed {command.old_path} to {command.new_path}"


COMMANDS = (view, create, replace_text, insert_text, delete, rename)  # in the order of the tool
