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
_NUMBER = {"type": "integer"}
_TEXTS = {"type": "array", "items": _TEXT}
_OBJECTS = {"type": "array", "items": {"type": "object"}}
_MAYBE = {"type": ["string", "null"]}


def _describe(schema: Mapping[str, Any], words: str) -> dict[str, Any]:
    return {**schema, "description": words}


def _text(words: str) -> dict[str, Any]:
    return _describe(_TEXT, words)


def _choose(words: str, *choices: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(choices), "description": words}


def _build_object(
    properties: Mapping[str, Any], required: tuple[str, ...], *, is_closed: bool = True
) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    if required:
        schema["required"] = list(required)
    return schema | ({"additionalProperties": False} if is_closed else {})


def _build_tool(
    name: str,
    title: str,
    words: str,
    parameters: Mapping[str, Any],
    answer: Mapping[str, Any],
    *,
    required: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    reads: bool = False,
    destroys: bool = False,
) -> Tool:
    """Return a tool; `optional` are fields that some of its answers lack."""
    always = tuple(field for field in answer if field not in optional)
    hints = ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=None if reads else destroys,
        idempotent_hint=None if reads else True,
        open_world_hint=False,
    )
    return Tool(
        name=name,
        title=title,
        description=words,
        input_schema=_build_object(parameters, required),
        output_schema=_build_object(answer, always, is_closed=False),
        annotations=hints,
    )


_AT_TIMES = {
    "as_of": _text("time: what was true then"),
    "known_at": _text("time: what was known then"),
}
_MEMORY_ID = _text("of the memory")
_SESSION = _text("conversation")
_CATEGORY = _text("area, as tooling")
_KINDS = ("fact", "preference", "decision", "constraint")
_WRITTEN = {"operation": _MAYBE, "memory_id": _MAYBE, "log_id": _MAYBE, "review_id": _MAYBE}

STORE = _build_tool(
    "memory_store",
    "Store a fact",
    "Remember one fact. Ends what it replaces. Times: ISO or words, as last spring.",
    {
        "content": _text("one fact, in the user's words"),
        "kind": _choose("default fact", *_KINDS),
        "key": _text("attribute, as editor"),
        "category": _CATEGORY,
        "entity": _text("who or what; default user"),
        "value": _text("of the key"),
        "valid_from": _text("time; default now"),
        "valid_until": _text("time it ends"),
        "supersedes": _describe(_TEXTS, "ids it replaces"),
        "session_id": _SESSION,
        "tags": _describe(_TEXTS, "labels"),
    },
    {
        **_WRITTEN,
        "superseded": _describe(_OBJECTS, "id, content"),
        "merged": {"type": "boolean"},
        "question": _MAYBE,
        "known_at": _TEXT,
        "redacted": _NUMBER,
    },
    required=("content",),
)
SEARCH = _build_tool(
    "memory_search",
    "Search memories",
    "Find memories, best first.",
    {
        "query": _text("what to find"),
        **_AT_TIMES,
        "include_superseded": _describe({"type": "boolean"}, "what ended too"),
        "limit": _describe(_NUMBER, "default 8"),
        "entity": _text("who or what"),
        "category": _CATEGORY,
        "kind": _choose("of memories", *_KINDS),
        "session_id": _SESSION,
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
    "Recall",
    "What is known, as text for the prompt. Call it first.",
    {
        "query": _text("the task"),
        "budget_tokens": _describe(_NUMBER, "default 800"),
        "as_of": _AT_TIMES["as_of"],
    },
    {
        "text": _TEXT,
        "tokens": _NUMBER,
        "left_out": _NUMBER,
        "questions": _describe(_OBJECTS, "handle, line, letters"),
    },
    reads=True,
)
HISTORY = _build_tool(
    "memory_history",
    "Show history",
    "All versions of a memory, also of what it replaced and what replaced it, and why.",
    {
        "memory_id": _MEMORY_ID,
        "why": _describe({"type": "boolean"}, "the reasons in sentences"),
    },
    {
        "current": _MAYBE,
        "versions": _OBJECTS,
        "joints": _OBJECTS,
        "operations": _OBJECTS,
        "why": _TEXTS,
    },
    required=("memory_id",),
    optional=("why",),
    reads=True,
)
RETRACT = _build_tool(
    "memory_retract",
    "End a memory",
    "End a memory without another in its place. History stays.",
    {
        "memory_id": _MEMORY_ID,
        "at": _text("time it ended; default now"),
        "never_true": _describe({"type": "boolean"}, "it was wrong from the start"),
        "reason": _text("why"),
    },
    _WRITTEN,
    required=("memory_id",),
    destroys=True,
)
UNDO = _build_tool(
    "memory_undo",
    "Undo a change",
    "Undo one change.",
    {"log_id": _text("from the answer to the change")},
    {**_WRITTEN, "reverted": _TEXTS},
    required=("log_id",),
    destroys=True,
)
CAPTURE = _build_tool(
    "memory_capture",
    "Capture turns",
    "Hand over turns of a conversation; the facts in them are read and stored.",
    {
        "messages": {
            "type": "array",
            "items": _build_object(
                {
                    "role": _choose("who spoke", "user", "assistant", "system", "tool"),
                    "content": _text("the words"),
                    "at": _text("ISO time"),
                },
                ("role", "content"),
            ),
            "description": "oldest first",
        },
        "session_id": _SESSION,
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
    "Decide reviews",
    "List questions that wait for a person, or decide one as the person says.",
    {
        "review_id": _text("from the list"),
        "decision": _choose("leave out to list", "accept", "reject"),
        "memories": _describe(_TEXTS, "letters accepted of (a), (b) …; reject: none of them"),
        "note": _text("why"),
    },
    {
        "waiting": _describe(_OBJECTS, "review_id, sentence, candidates"),
        "decided": _MAYBE,
        **_WRITTEN,
    },
    optional=("waiting", "decided", *_WRITTEN),
    destroys=True,
)
ANSWER = _build_tool(
    "memory_answer",
    "Answer questions",
    "Answer open questions if you know.",
    {"answers": _describe(_TEXTS, "id and letters of what ended: 4f2a01 a b, or 4f2a01 none")},
    {"results": _OBJECTS},
    required=("answers",),
    destroys=True,
)

TOOLS = (STORE, SEARCH, CONTEXT, HISTORY, RETRACT, UNDO, CAPTURE, ANSWER)
