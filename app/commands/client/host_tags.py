"""The words of a person in a text block of a coding agent, without what its host added.

Claude Code, Codex and Cursor put elements such as `<ide_opened_file>…</ide_opened_file>` before or
after the words of a prompt, in the same block or in one of their own.
"""

import re
from typing import Final

# Of elements with these names, nothing was typed by the person.
_ADDED: Final = (
    r"ide_\w+|vscode_\w+|system[-_][\w-]+|bash-[\w-]+|local-command-[\w-]+"
    r"|command-(?:name|message|contents|stdout|stderr)"
    r"|[\w-]+[-_](?:hook|context|notification|instructions|diagnostics|files|aborted)"
    r"|permissions instructions|INSTRUCTIONS|teammate-message|skill|timestamp"
)
_ELEMENT: Final = re.compile(
    rf"\s*(?:<(?P<name>{_ADDED})(?:\s[^<>]*)?>.*?</(?P=name)>|<(?:{_ADDED})(?:\s[^<>]*)?/>)",
    re.DOTALL,
)
_OPENING: Final = re.compile(rf"\s*<(?:{_ADDED})(?:\s[^<>]*)?>")
_CLOSING: Final = re.compile(rf"</(?P<name>{_ADDED})>")
# Within these elements are the words of the person.
_MARKS_OF_WORDS: Final = re.compile(r"</?(?:command-args|user_query|user-memory-input)>")
# What Codex writes for an editor ends with this heading; the words follow.
_EDITOR_STARTS: Final = "# Context from my IDE setup:"
_EDITOR_ENDS: Final = re.compile(r"^## My request for [\w ]+:\s*$", re.MULTILINE)
# A block that starts like this holds no words of the person.
_STARTS: Final = (
    "# AGENTS.md instructions",
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being continued from a previous conversation",
)


def strip_additions(block: str) -> str:
    """Return the words of a person in a text block; empty if all of it is its host's."""
    text = block.strip()
    if text.startswith(_STARTS):
        return ""
    if text.startswith(_EDITOR_STARTS) and (heading := _EDITOR_ENDS.search(text)):
        text = text[heading.end() :]
    text = _MARKS_OF_WORDS.sub("", text).rstrip()
    start, end = 0, len(text)
    while (element := _ELEMENT.match(text, start)) is not None:
        start = element.end()
    while (before := _find_last_element(text, start, end)) is not None:
        end = before
        while end > start and text[end - 1].isspace():
            end -= 1
    return "" if _OPENING.match(text, start, end) else text[start:end].strip()


def _find_last_element(text: str, start: int, end: int) -> int | None:
    """Return where an element that its host added begins, if the part of the text ends with it."""
    closing = _CLOSING.fullmatch(text, max(text.rfind("</", start, end), start), end)
    if closing is None:
        return None
    opening = text.rfind(f"<{closing['name']}", start, closing.start())
    return opening if opening >= start else None
