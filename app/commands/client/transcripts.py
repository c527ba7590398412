"""Reads the turns of a conversation from the transcript that a coding agent writes.

Claude Code and Codex write one JSON object a line: the message is under `message` or `payload`,
its text a string or a list of blocks. Lines of another form are left out.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

Turn = dict[str, Any]

# A hook has two seconds: it reads the end of a long transcript, and a turn that was sent before
# is not stored again.
MOST_BYTES: Final = 512 * 1024
MOST_TURNS: Final = 60
MOST_CHARACTERS: Final = 60_000

_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text"})
# Of a line that no person wrote and no model answered.
_MARKS_OF_MACHINES = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
# What hosts put into a turn of the user: "<environment_context>…", "# AGENTS.md instructions …".
_STARTS_OF_MACHINES = ("<", "# AGENTS.md", "[Request interrupted", "Caveat: The messages below")


def read_turns(path: Path, session: str) -> list[Turn]:
    """Return the last turns of a transcript, oldest first, each with an id of its own.

    Raises OSError if there is no such file.
    """
    turns = []
    for line in _read_lines(path):
        if turn := _read_turn(line, session):
            turns.append(turn)
    # The last turns that one call may hold.
    first, characters = len(turns), 0
    while first and len(turns) - first < MOST_TURNS:
        characters += len(turns[first - 1]["content"])
        if characters > MOST_CHARACTERS:
            break
        first -= 1
    return turns[first:]


def make_turn(session: str, role: str, text: str, at: str | None) -> Turn:
    """Return a message for a capture. The same words at the same time have the same id."""
    digest = hashlib.sha256(f"{session}\n{role}\n{at}\n{text}".encode("utf-8", "surrogatepass"))
    turn = {"id": f"hook-{digest.hexdigest()[:32]}", "role": role, "content": text}
    return turn | {"at": at} if at else turn


def _read_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open("rb") as file:
        start = max(0, file.seek(0, 2) - MOST_BYTES)
        file.seek(start)
        lines = file.read().splitlines()
    # Where it begins in the middle of the file, the first line is a part of one.
    for line in lines[1:] if start else lines:
        try:
            parsed = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(parsed, dict):
            yield parsed


def _read_turn(line: Mapping[str, Any], session: str) -> Turn | None:
    message = line.get("message") or line.get("payload")
    if not isinstance(message, dict) or any(line.get(mark) for mark in _MARKS_OF_MACHINES):
        return None
    role = message.get("role")
    text = _join_texts(message.get("content")).strip()
    if role not in ("user", "assistant") or not text or text.startswith(_STARTS_OF_MACHINES):
        return None
    at = line.get("timestamp")
    return make_turn(session, role, text, at if isinstance(at, str) else None)


def _join_texts(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = [block for block in content if isinstance(block, dict)]
    texts = [block.get("text") for block in blocks if block.get("type") in _TEXT_BLOCKS]
    return "\n".join(text for text in texts if isinstance(text, str))
