"""Mutants of an export: copies in which one value is another, each of which a hostile caller could send."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from support.transfers import lines_of

DEEP: Any = "x"
for _ in range(300):
    DEEP = [DEEP]

# Other types, other members of an enumeration, numbers and times at the edge of what can be read, and what is long or deep.
VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "minus one": -1,
    "a fraction": 0.5,
    "a large integer": 2**31 - 1,
    "a larger integer": 2**63 - 1,
    "a small integer": -(2**31),
    "a huge number": 1e308,
    "a word": "zebra",
    "nothing": "",
    "turned round": "\u202e",
    "long": "x" * 99_999,
    "an id": "00000000-0000-0000-0000-000000000000",
    "the first time": "0001-01-01T00:00:00.000000Z",
    "before the first time": "0001-01-01T00:00:00.000000+14:00",
    "the last time": "9999-12-31T23:59:59.999999Z",
    "a time without a zone": "2024-01-01T00:00:00",
    "an array": [],
    "an array of one": [-1],
    "an object": {},
    "an object of one": {"zebra": -1},
    "deep": DEEP,
}

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Mutant:
    """One value of one line, and what it becomes. `line` counts from 1."""

    line: int
    path: Place
    name: str

    def __str__(self) -> str:
        return f"line {self.line}, {'.'.join(map(str, self.path))}: {self.name}"

    def apply(self, export: bytes) -> bytes:
        lines = export.split(b"\n")
        line = json.loads(lines[self.line - 1])
        inner = line
        for step in self.path[:-1]:
            inner = inner[step]
        if self.name == "missing":
            del inner[self.path[-1]]
        elif self.name == "one more":
            inner[self.path[-1]]["zebra"] = "zebra"
        else:
            inner[self.path[-1]] = VALUES[self.name]
        lines[self.line - 1] = json.dumps(line).encode()
        return b"\n".join(lines)


def list_mutants(export: bytes) -> Iterator[Mutant]:
    """Yield each value in the place of each field, once for each kind of place."""
    seen: set[str] = set()
    for number, line in enumerate(lines_of(export), 1):
        for path, value in list_places(line):
            kind = f"{line['type']} {_name_place(path)}"
            if kind in seen or path == ("type",) or line["type"] == "end":
                continue
            seen.add(kind)
            names = ["missing", *VALUES]
            if isinstance(value, dict):
                names.append("one more")
            for name in names:
                if name not in VALUES or VALUES[name] != value:
                    yield Mutant(number, path, name)


def list_places(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    if path:
        yield path, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from list_places(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from list_places(inner, (*path, place))


def _name_place(path: Place) -> str:
    """The path without the places in arrays and without the ids and times that are keys."""
    steps = ("[]" if isinstance(step, int) else step for step in path)
    return ".".join(re.sub(r"^([0-9a-f-]{36}|\d{4}-.*)$", "{}", step) for step in steps)


# --- reads ----------------------------------------------------------------------------------------

_PAGES = ("", "/agents", "/reviews", "/log", "/captures", "/sweeps", "/insights?period=all")
_OPTIONS = {
    "/v1/memories": ("", "?include_superseded=true", "?as_of=2021-06-01", "?stale=true"),
    "/v1/search": ("?q=dog", "?q=dog&include_superseded=true"),
    "/v1/context": ("", "?query=dog", "?questions=3"),
    "/v1/reviews": tuple(f"?status={one}" for one in ("pending", "accepted", "overtaken", "all")),
    "/v1/events": ("", "?after=00000000-0000-0000-0000-000000000000&limit=1000"),
    "/v1/insights": ("", "?exact=true"),
}
_ELSEWHERE = ("/v1/keys", "/v1/webhooks", "/livez", "/readyz", "/metrics", "/version")
# The lines whose ids a path takes, and the page of the console for one of them.
_IDS = {
    "memory_id": ("memory", "facts"),
    "log_id": ("operation", "log"),
    "review_id": ("review", "reviews"),
    "capture_id": ("capture", "captures"),
}


def list_reads(client: httpx.Client, export: bytes, agent: str, *, near: str) -> list[str]:
    """Return the path of every read of an agent that was made from this export.

    Of reads of one thing, those of the ids in `near`, and of one more of each kind.
    """
    ids: dict[str, list[str]] = {name: [] for name in _IDS}
    for line in lines_of(export):
        for name, (kind, _) in _IDS.items():
            if line["type"] == kind and (line["id"] in near or not ids[name]):
                ids[name].append(line["id"])
    document = client.get("/openapi.json").json()
    paths: list[str] = []
    for path, methods in document["paths"].items():
        if "get" not in methods or path in _ELSEWHERE or "{sweep_id}" in path:
            continue
        plain = path.format_map(_Names(agent_id=agent, category="", key="editor"))
        name = next((name for name in _IDS if f"{{{name}}}" in plain), None)
        if name:
            paths += [plain.replace(f"{{{name}}}", one) for one in ids[name]]
        elif "{" not in plain:
            paths += [plain + option for option in _OPTIONS.get(path, ("",))]
    pages = [f"/ui{page}" for page in _PAGES]
    for name, (_, page) in _IDS.items():
        pages += [f"/ui/{page}/{one}" for one in ids[name]]
    for page in pages:
        paths.append(f"{page}{'&' if '?' in page else '?'}agent={agent}")
    return paths


class _Names(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"
