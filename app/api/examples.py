"""Bodies and parameters that work as pasted into Swagger UI: right away, or after the examples of a store."""

from typing import Any

from fastapi.openapi.models import Example

Examples = dict[str, Example]


def _example(summary: str, value: Any) -> Example:
    return Example(summary=summary, value=value)


STORE: Examples = {
    "preference": _example(
        "A preference with a key",
        {"content": "Uses Vim as editor", "kind": "preference", "category": "tooling", "key": "editor", "value": "Vim"},
    ),
    "change": _example(
        "Its change, a moment later",
        {"content": "Switched to Emacs", "kind": "preference", "category": "tooling", "key": "editor", "value": "Emacs"},
    ),
    "bare": _example(
        "A preference without a category", {"content": "Prefers short answers", "kind": "preference", "key": "answers", "value": "short"}
    ),
    "dated": _example("A fact with a date", {"content": "Moved to Lisbon", "key": "home", "value": "Lisbon", "valid_from": "2026-01-05"}),
    "decision": _example(
        "A decision",
        {
            "content": "We store times in UTC",
            "kind": "decision",
            "project": "almanac",
            "lifespan": "project",
            "details": {"rationale": "One zone, no doubt", "alternatives": ["local time"], "related_files": ["clock.py"]},
        },
    ),
    "session": _example("Said in a session", {"content": "Will be away on Friday", "session_id": "first-session", "lifespan": "session"}),
    "dry_run": _example(
        "What would happen",
        {"content": "Uses Nano as editor", "kind": "preference", "category": "tooling", "key": "editor", "dry_run": True},
    ),
}

BATCH: Examples = {
    "three": _example(
        "Three facts",
        {"items": [{"content": "Has a dog called Rex"}, {"content": "Drinks tea"}, {"content": "Works from home on Fridays"}]},
    )
}

PATCH: Examples = {"importance": _example("More important than thought", {"importance": 0.9, "tags": ["pets"]})}

SUPERSEDE: Examples = {"content": _example("New content", {"content": "Has a cat called Tom"})}

RETRACT: Examples = {"now": _example("No longer true", {"reason": "Said so"}), "never": _example("Was never true", {"never_true": True})}

LINK: Examples = {
    "causes": _example(
        "It is the reason for another; paste the id of that one", {"type": "causes", "target_id": "01990000-0000-7000-8000-000000000000"}
    )
}

SEARCH: Examples = {
    "now": _example("What holds now", {"query": "which editor?"}),
    "before": _example("What held before", {"query": "which editor?", "as_of": "2026-01-01"}),
}

IMPORT = (
    '{"content": "Lives in Porto", "key": "home", "value": "Porto", "valid_from": "2020-03-01", "created_at": "2020-03-02"}\n'
    '{"content": "Lives in Lisbon", "key": "home", "value": "Lisbon", "valid_from": "2024-06-01", "created_at": "2024-06-03"}\n'
)

ERASE: Examples = {"session": _example("All that was said in a session", {"session_id": "first-session"})}

CATEGORY: Examples = {"tooling": _example("That of the stored example", "tooling")}

KEY: Examples = {"editor": _example("That of the stored example", "editor")}

LONE_KEY: Examples = {"answers": _example("That of the stored example", "answers")}

# Of a query parameter; Swagger UI fills the field with it.
QUESTION: dict[str, Any] = {"example": "which editor?"}

REVERT: Examples = {"one": _example("This operation alone", {"cascade": False})}

REVERTS: Examples = {"session": _example("A session, shown first", {"session_id": "first-session", "dry_run": True})}

DECISION: Examples = {"note": _example("With a reason", {"note": "Checked with the user"})}

DECIDE: Examples = {
    "shadow": _example(
        "The sure ones of shadow mode", {"decision": "accept", "filter": {"source": "shadow", "min_confidence": 0.9}, "limit": 50}
    )
}

MODE: Examples = {"shadow": _example("See before it happens", {"mode": "shadow"}), "live": _example("As usual", {"mode": "live"})}

SESSION: Examples = {"first": _example("That of the stored example", "first-session")}

PROJECT: Examples = {"almanac": _example("That of the stored example", "almanac")}

END: Examples = {
    "now": _example("It ended now", {"reason": "The conversation is over"}),
    "then": _example("It ended then", {"at": "2026-01-05"}),
}

SWEEP: Examples = {
    "dry_run": _example("What would change", {"dry_run": True}),
    "slot": _example("One slot", {"slot": {"category": "tooling", "key": "editor"}}),
}
