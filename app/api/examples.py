"""Bodies and parameters that work as pasted into Swagger UI.

Each works right away, or after the examples of a store. And what a store answers.
"""

import json
from pathlib import Path
from typing import Any

from fastapi.openapi.models import Example

Examples = dict[str, Example]

_ANSWERS = Path(__file__).parent / "answer_examples.json"


def _make_example(summary: str, value: Any) -> Example:
    return Example(summary=summary, value=value)


def load_answers() -> dict[str, Any]:
    """Return what a service answered: examples by the id of the operation, status and name.

    `problem` is the example of an error.
    """
    answers: dict[str, Any] = json.loads(_ANSWERS.read_text("utf-8"))
    return answers


NEW_WEBHOOK: Examples = {
    "changes": _make_example(
        "What replaces or ends a fact, for one agent",
        {
            "url": "https://hooks.example/palimpsest",
            "operations": ["UPDATE", "DELETE", "SUPERSEDE", "MERGE"],
        },
    ),
}

STORE: Examples = {
    "plain": _make_example("A sentence, and nothing else", {"content": "Allergic to peanuts"}),
    "preference": _make_example(
        "A preference with a key",
        {
            "content": "Uses Vim as editor",
            "kind": "preference",
            "category": "tooling",
            "key": "editor",
            "value": "Vim",
            "valid_from": "2025-03-01",
        },
    ),
    "change": _make_example(
        "Its change, a moment later",
        {
            "content": "Switched to Emacs",
            "kind": "preference",
            "category": "tooling",
            "key": "editor",
            "value": "Emacs",
        },
    ),
    "bare": _make_example(
        "A preference without a category",
        {
            "content": "Prefers short answers",
            "kind": "preference",
            "key": "answers",
            "value": "short",
        },
    ),
    "dated": _make_example(
        "A fact with a date",
        {
            "content": "Moved to Lisbon",
            "key": "home",
            "value": "Lisbon",
            "valid_from": "2026-01-05",
        },
    ),
    "in_words": _make_example(
        "A fact that says itself since when it holds",
        {"content": "I started at Acme last month", "said_at": "2026-03-10T09:00:00Z"},
    ),
    "decision": _make_example(
        "A decision",
        {
            "content": "We store times in UTC",
            "kind": "decision",
            "project": "almanac",
            "lifespan": "project",
            "details": {
                "rationale": "One zone, no doubt",
                "alternatives": ["local time"],
                "related_files": ["clock.py"],
            },
        },
    ),
    "session": _make_example(
        "Said in a session",
        {"content": "Will be away on Friday", "session_id": "first-session", "lifespan": "session"},
    ),
    "dry_run": _make_example(
        "What would happen",
        {
            "content": "Uses Nano as editor",
            "kind": "preference",
            "category": "tooling",
            "key": "editor",
            "dry_run": True,
        },
    ),
}

BATCH: Examples = {
    "three": _make_example(
        "Three facts",
        {
            "items": [
                {"content": "Has a dog called Rex"},
                {"content": "Drinks tea"},
                {"content": "Works from home on Fridays"},
            ]
        },
    )
}

PATCH: Examples = {
    "importance": _make_example(
        "More important than thought", {"importance": 0.9, "tags": ["pets"]}
    )
}

SUPERSEDE: Examples = {"content": _make_example("New content", {"content": "Has a cat called Tom"})}

RETRACT: Examples = {
    "now": _make_example("No longer true", {"reason": "Said so"}),
    "never": _make_example("Was never true", {"never_true": True}),
}

LINK: Examples = {
    "causes": _make_example(
        "It is the reason for another; paste the id of that one",
        {"type": "causes", "target_id": "01990000-0000-7000-8000-000000000000"},
    )
}

SEARCH: Examples = {
    "now": _make_example("What holds now", {"query": "which editor?"}),
    "before": _make_example("What held before", {"query": "which editor?", "as_of": "2026-01-01"}),
}

IMPORT = (
    '{"content": "Lives in Porto", "key": "home", "value": "Porto", "valid_from": '
    '"2020-03-01", "created_at": "2020-03-02"}\n'
    '{"content": "Lives in Lisbon", "key": "home", "value": "Lisbon", "valid_from": '
    '"2024-06-01", "created_at": "2024-06-03"}\n'
)

ERASE: Examples = {
    "session": _make_example("All that was said in a session", {"session_id": "first-session"})
}

CATEGORY: Examples = {"tooling": _make_example("That of the stored example", "tooling")}

KEY: Examples = {"editor": _make_example("That of the stored example", "editor")}

LONE_KEY: Examples = {"answers": _make_example("That of the stored example", "answers")}

# Of a query parameter; Swagger UI fills the field with it.
QUESTION: dict[str, Any] = {"example": "which editor?"}

REVERT: Examples = {"one": _make_example("This operation alone", {"cascade": False})}

REVERTS: Examples = {
    "session": _make_example(
        "A session, shown first", {"session_id": "first-session", "dry_run": True}
    )
}

DECISION: Examples = {"note": _make_example("With a reason", {"note": "Checked with the user"})}

DECIDE: Examples = {
    "shadow": _make_example(
        "The sure ones of shadow mode",
        {"decision": "accept", "filter": {"source": "shadow", "min_confidence": 0.9}, "limit": 50},
    )
}

ANSWERS: Examples = {
    "two": _make_example(
        "One of the letters, and none of them",
        {
            "answers": [
                {"question": "4f2a01", "choice": ["a"]},
                {"question": "9b03c7", "choice": [], "note": "Both are true."},
            ]
        },
    )
}

MODE: Examples = {
    "shadow": _make_example("See before it happens", {"mode": "shadow"}),
    "live": _make_example("As usual", {"mode": "live"}),
}

SESSION: Examples = {"first": _make_example("That of the stored example", "first-session")}

PROJECT: Examples = {"almanac": _make_example("That of the stored example", "almanac")}

END: Examples = {
    "now": _make_example("It ended now", {"reason": "The conversation is over"}),
    "then": _make_example("It ended then", {"at": "2026-01-05"}),
}

SWEEP: Examples = {
    "dry_run": _make_example("What would change", {"dry_run": True}),
    "slot": _make_example("One slot", {"slot": {"category": "tooling", "key": "editor"}}),
}

NEW_KEY: Examples = {
    "agent": _make_example(
        "A key of one agent",
        {"name": "the assistant of Ann", "scopes": ["read", "write"], "agents": ["ann"]},
    ),
    "tenant": _make_example(
        "A key of a tenant's agents, for those who decide",
        {
            "name": "reviewers of Acme",
            "scopes": ["read", "review"],
            "agents": ["acme/*"],
            "trust_ceiling": 50,
        },
    ),
}

ROTATE: Examples = {
    "later": _make_example("The old one works for another day", {"overlap": 86400}),
    "now": _make_example("The old one ends now", {"overlap": 0}),
}

MESSAGES: Examples = {
    "talk": _make_example(
        "A few messages",
        {
            "session_id": "chat-1",
            "messages": [
                {"id": "m1", "role": "user", "content": "I live in Lisbon. How are you?"},
                {"id": "m2", "role": "assistant", "content": "Fine! Shall I use Celsius?"},
                {"id": "m3", "role": "user", "content": "Yes, please."},
            ],
        },
    ),
    "sdk": _make_example(
        "A message as an SDK writes it",
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "I live in Braga."},
                        {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
                    ],
                }
            ],
        },
    ),
    "dry_run": _make_example(
        "What would be stored",
        {
            "session_id": "chat-1",
            "messages": [{"role": "user", "content": "My editor is Vim."}],
            "dry_run": True,
        },
    ),
}

UNDO: Examples = {
    "dry_run": _make_example("What would be undone", {"dry_run": True}),
    "undo": _make_example("Undo the capture, and what was built on it", {"cascade": True}),
}
