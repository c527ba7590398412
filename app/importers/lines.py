"""The lines of an import (`POST /v1/import`) that facts of another product become."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.domain.secrets import redact_secrets
from app.importers.facts import LeftOut, SourceFact, UnreadableRecord

_LONGEST_SOURCE = 500  # characters
_LAST = "~"  # sorts after all times in text


@dataclass(frozen=True, slots=True)
class Line:
    """One version to import, and the fact that it is of."""

    fact: SourceFact
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a memory that an earlier import stored: a correction, or a new text.

    `fields` are those of the call that corrects or supersedes it.
    """

    fact: SourceFact
    memory_id: str
    fields: dict[str, Any]

    @property
    def is_new_text(self) -> bool:
        return "content" in self.fields


@dataclass(slots=True)
class Lines:
    """What is sent, in the order of the known times, and what is not."""

    lines: list[Line] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    duplicates: int = 0

    @property
    def fact_count(self) -> int:
        return len({id(line.fact) for line in self.lines})


class Earlier:
    """What earlier imports stored, by the names of the facts in their product.

    The memories come newest known first: of those with the same name, the first one counts.
    """

    def __init__(self, memories: Iterable[Mapping[str, Any]]) -> None:
        self._memories: dict[str, Mapping[str, Any]] = {}
        for memory in memories:
            for source in {memory["source"], *memory["sources"]} - {None}:
                self._memories.setdefault(source, memory)
        self._chains = {source.rpartition("/")[0] for source in self._memories}

    def has(self, product: str, fact: SourceFact) -> bool:
        name = name_source(product, fact.origin)
        if fact.chain is None:
            return name in self._memories or name in self._chains
        return name in self._memories or name_source(product, fact.chain) in self._memories

    def find_change(self, product: str, fact: SourceFact) -> Change | None:
        """Return what the fact says since it was imported, None if it says the same.

        Raises UnreadableRecord if somebody here has decided otherwise in the meantime.
        """
        name, name_of_ended = name_source(product, fact.origin), _name_ended(product, fact)
        memory = self._memories.get(name_of_ended) or self._memories.get(name)
        if memory is None:
            return None
        # What is stored may be without its secrets.
        if memory["content"] not in (fact.content, redact_secrets(fact.content)[0]):
            is_own = memory["source"] in (name, name_of_ended)
            if not is_own or memory["status"] != "current":
                state = memory["status"] if is_own else "merged with others"
                raise UnreadableRecord(
                    f"its text changed since it was imported as {memory['id']}, which is {state} "
                    f"here: `palimpsest supersede {memory['id']} TEXT`"
                )
            return Change(fact, memory["id"], _build_successor(product, fact, memory))
        if fact.valid_until is None or memory["status"] != "current":
            return None
        if memory["valid_until"] is None:
            return Change(fact, memory["id"], {"valid_until": _write_time(fact.valid_until)})
        if datetime.fromisoformat(memory["valid_until"]) != fact.valid_until:
            raise UnreadableRecord(
                f"it ends {fact.valid_until.isoformat()}, but as {memory['id']} it ends "
                f"{memory['valid_until']}: PATCH /v1/memories/{memory['id']} changes `valid_until`"
            )
        return None


def name_source(product: str, origin: str) -> str:
    """Return the `source` of a memory, which is the same for each import of a fact."""
    name = f"{product}:{origin}"
    if len(name) <= _LONGEST_SOURCE:
        return name
    return f"{product}:sha256-{hashlib.sha256(origin.encode()).hexdigest()}"


def name_tag(product: str) -> str:
    return f"imported:{product}"


def build_lines(
    product: str,
    facts: Sequence[SourceFact],
    earlier: Earlier,
    *,
    now: datetime,
    with_known_times: bool,
) -> Lines:
    """Return the lines of the facts that no earlier import stored, and what changed of the others.

    With known times, a fact whose end became known later is two versions of one chain: the first
    without an end, and the second, which replaces it when the end became known.
    """
    result = Lines()
    for fact in facts:
        if earlier.has(product, fact):
            try:
                change = earlier.find_change(product, fact)
            except UnreadableRecord as problem:
                result.left_out.append(LeftOut(fact.line, f"{fact.origin}: {problem}"))
                continue
            if change:
                result.changes.append(change)
            else:
                result.duplicates += 1
        elif reason := _find_reason_against(fact, now):
            result.left_out.append(LeftOut(fact.line, f"{fact.origin}: {reason}"))
        elif with_known_times:
            result.lines += _build_dated_lines(product, fact)
        else:
            result.lines.append(Line(fact, _build_undated_line(product, fact)))
    result.lines.sort(key=lambda line: line.fields.get("created_at") or _LAST)
    return result


def _find_reason_against(fact: SourceFact, now: datetime) -> str | None:
    learned = [time for time in (fact.learned_at, fact.end_learned_at) if time]
    if any(time > now for time in learned):
        return f"it became known in the future ({max(learned).isoformat()})"
    start = _find_start(fact)
    if fact.valid_until and fact.valid_until <= (start or now):
        return f"it ends ({fact.valid_until.isoformat()}) before it begins"
    return None


def _find_start(fact: SourceFact) -> datetime | None:
    return fact.valid_from or _find_said_at(fact) or fact.learned_at


def _find_said_at(fact: SourceFact) -> datetime | None:
    """Return when the words were said: not after they became known."""
    if fact.said_at and fact.learned_at and fact.said_at > fact.learned_at:
        return None
    return fact.said_at


def _build_dated_lines(product: str, fact: SourceFact) -> list[Line]:
    fields = _build_fields(product, fact) | {"created_at": _write_time(fact.learned_at)}
    if fact.end_learned_at is None or fact.learned_at is None:
        return [Line(fact, _drop_none(fields))]
    chained = {"key": _name_chain(product, fact)} | fields
    opened = chained | {"valid_until": None}
    ended = chained | {
        "created_at": _write_time(fact.end_learned_at),
        "source": _name_ended(product, fact),
    }
    return [Line(fact, _drop_none(opened)), Line(fact, _drop_none(ended))]


def _build_undated_line(product: str, fact: SourceFact) -> dict[str, Any]:
    """Return the line of a fact that becomes known now, and was said when it became known there."""
    said_at = _find_said_at(fact) or fact.learned_at
    return _drop_none(_build_fields(product, fact) | {"said_at": _write_time(said_at)})


def _build_successor(product: str, fact: SourceFact, memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a new text, which holds from its own start if that is a later one."""
    fields = _build_undated_line(product, fact)
    start = _find_start(fact)
    if start is None or start <= datetime.fromisoformat(memory["valid_from"]):
        fields.pop("valid_from", None)
    return fields | {"read_dates": False}


def _build_fields(product: str, fact: SourceFact) -> dict[str, Any]:
    words = dict(fact.words)
    if fact.chain is not None:
        words["key"] = _name_chain(product, fact)
    learned = {"learned_at": _write_time(fact.learned_at)} if fact.learned_at else {}
    return {
        **words,
        "content": fact.content,
        "valid_from": _write_time(_find_start(fact)),
        "valid_until": _write_time(fact.valid_until),
        "said_at": _write_time(_find_said_at(fact)),
        "source": name_source(product, fact.origin),
        "tags": [*words.get("tags", [])[:99], name_tag(product)],
        "details": {product: {**fact.details, **learned}},
    }


def _name_ended(product: str, fact: SourceFact) -> str:
    return name_source(product, f"{fact.origin}/end")


def _name_chain(product: str, fact: SourceFact) -> str:
    return name_source(product, fact.chain or fact.origin)


def _write_time(time: datetime | None) -> str | None:
    return time.isoformat(timespec="microseconds") if time else None


def _drop_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
