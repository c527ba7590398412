"""Reads the turns of a conversation from the transcript that a coding agent writes.

Claude Code and Codex write one JSON object a line: the message is under `message` or `payload`,
its text a string or a list of blocks. Lines of another form are left out.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from app.commands.client.host_tags import strip_additions

Turn = dict[str, Any]

MOST_OF_A_MESSAGE: Final = 16_000  # characters that the service takes in one message
# Characters. What is longer is a file rather than talk, and one hook could not send all of it.
LONGEST_TURN: Final = 200_000

_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text"})
# Of a line that no person wrote and no model answered.
_MARKS_OF_MACHINES = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")


def read_turns(path: Path, session: str, start: int) -> Iterator[tuple[list[Turn], int]]:
    """Yield the turns of each line after a position in bytes, and the position after the line.

    A line has no turns, one, or a long one in parts. The position stays before a last line that
    may be incomplete. Raises OSError if there is no such file.
    """
    with path.open("rb") as file:
        if start:
            # A position within a line: its rest is no line.
            file.seek(start - 1)
            start += len(file.readline()) - 1
        for line in file:
            if line.endswith(b"\n"):
                start += len(line)
            yield _read_line(line, session), start


def make_turns(session: str, role: str, text: str, at: str | None) -> list[Turn]:
    """Return messages for a capture. The same words at the same time have the same ids."""
    text = text[:LONGEST_TURN].replace("\0", "").encode("utf-8", "replace").decode()
    turns = []
    for part in _split_text(text):
        digest = hashlib.sha256(f"{session}\n{role}\n{at}\n{part}".encode())
        turn = {"id": f"hook-{digest.hexdigest()[:32]}", "role": role, "content": part}
        turns.append(turn | {"at": at} if at else turn)
    return turns


def _split_text(text: str) -> Iterator[str]:
    """Yield the text in parts that the service takes, cut after a line if there is one."""
    while text := text.strip():
        end = len(text)
        if end > MOST_OF_A_MESSAGE:
            end = text.rfind("\n", 1, MOST_OF_A_MESSAGE)
            end = end if end > 0 else MOST_OF_A_MESSAGE
        yield text[:end].rstrip()
        text = text[end:]


def _read_line(line: bytes, session: str) -> list[Turn]:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(parsed, dict) or any(parsed.get(mark) for mark in _MARKS_OF_MACHINES):
        return []
    message = parsed.get("message") or parsed.get("payload")
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        return []
    role = message["role"]
    texts = _list_texts(message.get("content"))
    if role == "user":
        texts = map(strip_additions, texts)
    at = parsed.get("timestamp")
    words = "\n".join(filter(None, texts))
    return make_turns(session, role, words, at if isinstance(at, str) else None)


def _list_texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, Mapping) and block.get("type") in _TEXT_BLOCKS:
                text = block.get("text")
                if isinstance(text, str):
                    yield text
