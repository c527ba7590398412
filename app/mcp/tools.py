"""What a host lists: the tools, their parameters and what they return. Each word costs tokens."""

from collections.abc import Mapping
from typing import Any

from mcp_types import Tool, ToolAnnotations

INSTRUCTIONS = (
    "Long-term memory with history. At the start of a task call memory_context. Store lasting "
    "facts with memory_store, one fact a call, in the user's words, with valid_from where a date "
    "was said; a changed fact is stored again, and the service ends the earlier one. A stored "
    "fact can be read at once. For what was true then, search with as_of; for what was known "
    "then, with known_at. Never store text between [memory context begins] and [memory context "
    "ends]; answer its open questions with memory_answer if you know. A wrong change: memory_undo "
    "with its log_id. A fact that no longer holds, with nothing in its place: memory_retract."
)

_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_TEXTS = {"type": "array", "items": _TEXT}
_OBJECTS = {"type": "array", "items": {"type": "object"}}
_TIME = {"type": "string", "description": "ISO time"}
_MAYBE = {"type": ["string", "null"]}


def _describe(schema: Mapping[str, Any], words: str) -> dict[str, Any]:
    return {**schema, "description": words}


def _build_tool(
    name: str,
    words: str,
    parameters: Mapping[str, Any],
    answer: Mapping[str, Any],
    *,
    required: tuple[str, ...] = (),
    reads: bool = False,
    destroys: bool = False,
) -> Tool:
    returns = {"type": "object", "properties": dict(answer)}
    takes: dict[str, Any] = {"type": "object", "properties": dict(parameters)}
    if required:
        takes["required"] = list(required)
    hints = ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=None if reads else destroys,
        idempotent_hint=None if reads else True,
        open_world_hint=False,
    )
    return Tool(
        name=name,
        description=words,
        input_schema=takes,
        output_schema=returns,
        annotations=hints,
    )


_AT_TIMES = {
    "as_of": _describe(_TEXT, "ISO time: what was true then"),
    "known_at": _describe(_TEXT, "ISO time: what was known then"),
}
_WRITTEN = {"operation": _MAYBE, "memory_id": _MAYBE, "log_id": _MAYBE, "review_id": _MAYBE}

STORE = _build_tool(
    "memory_store",
    "Remember one fact. Ends what it replaces.",
    {
        "content": _describe(_TEXT, "one fact, in the user's words"),
        "kind": {"enum": ["fact", "preference", "decision", "constraint"]},
        "key": _describe(_TEXT, "attribute, as editor"),
        "category": _describe(_TEXT, "area, as tooling"),
        "entity": _describe(_TEXT, "who or what; default user"),
        "value": _describe(_TEXT, "of the key"),
        "valid_from": _describe(_TEXT, "ISO time; default now"),
        "valid_until": _TEXT,
        "supersedes": _describe(_TEXTS, "ids it replaces"),
        "session_id": _TEXT,
        "tags": _TEXTS,
    },
    {
        **_WRITTEN,
        "superseded": _describe(_OBJECTS, "id, content"),
        "merged": _FLAG,
        "known_at": _TEXT,
    },
    required=("content",),
)
SEARCH = _build_tool(
    "memory_search",
    "Find memories, best first.",
    {
        "query": _TEXT,
        **_AT_TIMES,
        "include_superseded": _FLAG,
        "limit": {"type": "integer", "default": 8},
        "entity": _TEXT,
        "category": _TEXT,
        "kind": _TEXT,
        "session_id": _TEXT,
    },
    {
        "results": _describe(
            _OBJECTS, "id, content, valid_from, valid_until, status, score, stale, in_question"
        ),
        "turns": _OBJECTS,
        "as_of": _TEXT,
        "known_at": _TEXT,
    },
    required=("query",),
    reads=True,
)
CONTEXT = _build_tool(
    "memory_context",
    "What is known, as text for the prompt. Call it first.",
    {
        "query": _describe(_TEXT, "the task"),
        "budget_tokens": {"type": "integer", "default": 800},
        "as_of": _TEXT,
    },
    {
        "text": _TEXT,
        "tokens": {"type": "integer"},
        "left_out": {"type": "integer"},
    },
    reads=True,
)
HISTORY = _build_tool(
    "memory_history",
    "All versions of a memory, also of what it replaced and what replaced it, and why.",
    {"memory_id": _TEXT, "why": _describe(_FLAG, "the reasons in sentences")},
    {
        "current": _MAYBE,
        "versions": _OBJECTS,
        "joints": _OBJECTS,
        "operations": _OBJECTS,
        "why": _TEXTS,
    },
    required=("memory_id",),
    reads=True,
)
RETRACT = _build_tool(
    "memory_retract",
    "End a memory without another in its place. History stays.",
    {
        "memory_id": _TEXT,
        "at": _describe(_TEXT, "ISO time it ended; default now"),
        "never_true": _FLAG,
        "reason": _TEXT,
    },
    _WRITTEN,
    required=("memory_id",),
    destroys=True,
)
UNDO = _build_tool(
    "memory_undo",
    "Undo one change.",
    {"log_id": _describe(_TEXT, "from the answer to the change")},
    {**_WRITTEN, "reverted": _TEXTS},
    required=("log_id",),
    destroys=True,
)
CAPTURE = _build_tool(
    "memory_capture",
    "Hand over turns of a conversation; the facts in them are read and stored.",
    {
        "messages": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "role": {"enum": ["user", "assistant", "system", "tool"]},
                    "content": _TEXT,
                    "at": _TIME,
                },
                "required": ["role", "content"],
            },
        },
        "session_id": _TEXT,
    },
    {
        "capture_id": _MAYBE,
        "session_id": _MAYBE,
        "state": _TEXT,
        "facts": _describe(_OBJECTS, "content, memory_id, operation"),
    },
    required=("messages",),
)
REVIEW = _build_tool(
    "memory_review",
    "List questions that wait for a person, or decide one as the person says.",
    {
        "review_id": _TEXT,
        "decision": {"enum": ["accept", "reject"]},
        "memories": _describe(_TEXTS, "letters accepted of (a), (b) …; reject: none of them"),
        "note": _TEXT,
    },
    {
        "waiting": _describe(_OBJECTS, "review_id, sentence, candidates"),
        "decided": _MAYBE,
        **_WRITTEN,
    },
    destroys=True,
)

ANSWER = _build_tool(
    "memory_answer",
    "Answer open questions if you know.",
    {
        "answers": {
            "type": "object",
            "description": 'id to letters of what ended: {"4f2a01": ["a"]}; [] is none',
        }
    },
    {"results": _OBJECTS},
    required=("answers",),
    destroys=True,
)

TOOLS = (STORE, SEARCH, CONTEXT, HISTORY, RETRACT, UNDO, CAPTURE, ANSWER)
