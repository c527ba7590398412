"""Markdown that people and agents write for agents, such as CLAUDE.md and MEMORY.md."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from app.domain.secrets import redact_secrets
from app.importers import mem0
from app.importers.documents import Document
from app.importers.facts import Reading, SourceFact, UnreadableRecord, check_text, drop_empty

NAME = "markdown"
FILES = (
    *("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "MEMORY.md", "USER.md"),
    *("memory/*.md", "memories/*.md"),
)

_FRONT = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*$", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"\s*(```+|~~~+)")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_BOLD_LINE = re.compile(r"\*\*([^*]+)\*\*:?$")
_BULLET = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
# A line that names what it says, as in profiles: "City: Faro", "**Docs**: …".
_LABEL = re.compile(r"\**[A-Z][\w /-]{0,30}\**:\**\s+\S")
_RULE = re.compile(r"\s*([-*_])(?:\s*\1){2,}\s*$|</?\w[^>]*>\s*$")
_LINK = re.compile(r"!?\[([^][]{0,500})\]\([^()]{0,2000}\)")
_EMPHASIS = re.compile(r"\*\*([^*]+)\*\*")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_DATED = re.compile(r"\[?(\d{4}-\d\d-\d\d)\]?\s*[-–—:]\s*(?=\S)")
_RULE_WORDS = re.compile(r"(?i)\b(?:always|never|must|do not|don't|from now on)\b")
_PREFERENCE = re.compile(r"(?i)\bprefer")

_FEWEST_WORDS = 3  # that say what they are about without their heading


@dataclass(frozen=True, slots=True)
class Statement:
    """A bullet or a paragraph, and the headings above it; with a `problem`, what cannot be one."""

    line: int
    text: str
    headings: tuple[str, ...]
    problem: str | None = None


def matches(document: Document) -> bool:
    """Return True if there is Markdown that is no export of another product."""
    return any(name.endswith(".md") for name in document.texts) and not mem0.matches(document)


def read(document: Document) -> Reading:
    """Return a fact for each bullet and paragraph. Blocks of code are left out."""
    reading = Reading()
    for name, text in document.texts.items():
        origins, written = set(), _DAY.search(name.rpartition("/")[2])
        for statement in read_statements(text):
            with reading.leave_out_unreadable(statement.line, name):
                fact = build_fact(statement, name, day=written[0] if written else None)
                if fact.origin not in origins:
                    origins.add(fact.origin)
                    reading.facts.append(fact)
    if any(fact.learned_at is None for fact in reading.facts):
        reading.notes.append("What has no date of its own holds from now on.")
    return reading


def build_fact(
    statement: Statement, place: str, project: str = "", day: str | None = None
) -> SourceFact:
    """Return the fact of a statement of a file, written on a day. Raises UnreadableRecord."""
    if statement.problem:
        raise UnreadableRecord(statement.problem)
    text = statement.text
    if dated := _DATED.match(text):
        text, day = text[dated.end() :], dated[1]
    try:
        learned_at = datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None
    except ValueError:
        raise UnreadableRecord(f"its date is none: {day}") from None
    return SourceFact(
        line=statement.line,
        # The text names the fact for later imports; names are stored as they are.
        origin=f"{place}/{redact_secrets(text)[0]}",
        content=check_text(text),
        learned_at=learned_at,
        words=drop_empty({"kind": _choose_kind(text), "project": project}),
        details=drop_empty({"file": place, "heading": " > ".join(statement.headings)}),
    )


def _choose_kind(text: str) -> str:
    """Return `constraint` for a standing instruction."""
    if _RULE_WORDS.search(text):
        return "constraint"
    return "preference" if _PREFERENCE.search(text) else "fact"


def read_lines(text: str) -> Iterator[Statement]:
    """Yield each line of a list that has one statement a line, with or without bullets."""
    for number, line in enumerate(text.splitlines(), start=1):
        bullet = _BULLET.match(line)
        if words := _clean(bullet[2] if bullet else line):
            yield Statement(number, words, ())


# --- the text ------------------------------------------------------------------------------------


def read_statements(text: str) -> Iterator[Statement]:
    """Yield the bullets and paragraphs of a text, and what cannot be a statement."""
    # Line breaks stay, so that each line keeps its number.
    text = _FRONT.sub(lambda match: "\n" * match[0].count("\n"), text, count=1)
    text = _blank_comments(text)
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), start=1):
        yield from reader.take(number, line.expandtabs(4))
    yield from reader.finish()


def _blank_comments(text: str) -> str:
    """Return the text without its comments. One that never ends is none."""
    parts, place = [], 0
    while (start := text.find("<!--", place)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts += [text[place:start], "\n" * text.count("\n", start, end)]
        place = end + 3
    return "".join([*parts, text[place:]])


@dataclass(slots=True)
class _Reader:
    """Where the reading of a text stands."""

    headings: list[str] = field(default_factory=list)
    fence: str = ""
    # The bullet or paragraph that lines still belong to, and what leads the ones below it.
    line: int = 0
    words: list[str] = field(default_factory=list)
    indent: int = -1
    leads: list[tuple[int, str]] = field(default_factory=list)
    is_table: bool = False

    def take(self, number: int, line: str) -> Iterator[Statement]:
        """Yield what ends with this line."""
        if self.fence or _FENCE.match(line):
            yield from self._take_code(number, line)
        elif not line.strip() or _RULE.match(line):
            yield from self.finish()
            self.is_table = False
        elif heading := _HEADING.match(line) or (not self.words and _BOLD_LINE.match(line)):
            yield from self.finish()
            self._take_heading(heading)
        elif bullet := _BULLET.match(line):
            yield from self.finish()
            self.line, self.words, self.indent = number, [bullet[2]], len(bullet[1])
        elif line.startswith(("|", "@")) and not self.words:
            yield from self._leave_out(number, line)
        else:
            if self.indent < 0 and _LABEL.match(line):
                yield from self.finish()
            self.line = self.line if self.words else number
            self.words.append(line.strip().removeprefix(">").strip())

    def finish(self) -> Iterator[Statement]:
        """Yield the statement that is being read. One that ends with a colon leads those below."""
        text, indent = _clean(" ".join(self.words)), self.indent
        self.words, self.indent = [], -1
        if not text:
            return
        self.leads = [(place, lead) for place, lead in self.leads if place < indent]
        if text.endswith(":"):
            self.leads.append((indent, text))
            return
        lead = " ".join(lead for _, lead in self.leads)
        if not lead and self.headings and len(text.split()) < _FEWEST_WORDS:
            lead = f"{self.headings[-1]}:"
        yield Statement(self.line, f"{lead} {text}".strip(), tuple(self.headings))

    def _take_heading(self, heading: re.Match[str]) -> None:
        """Note the heading; a line in bold stands below all others."""
        is_bold = heading.re is _BOLD_LINE
        level = 7 if is_bold else len(heading[1])
        self.headings = [*self.headings[: level - 1], _clean(heading[1 if is_bold else 2])]
        self.leads = []

    def _take_code(self, number: int, line: str) -> Iterator[Statement]:
        if not self.fence:
            yield from self.finish()
            fence = _FENCE.match(line)
            assert fence
            self.fence = fence[1]
            yield Statement(number, "", (), "it is a block of code")
        elif line.strip().startswith(self.fence):
            self.fence = ""

    def _leave_out(self, number: int, line: str) -> Iterator[Statement]:
        """Yield a table once, by its first row, and each name of another file."""
        if line.startswith("@"):
            yield Statement(number, "", (), f"it names another file: {line.strip()}")
        elif not self.is_table:
            self.is_table = True
            yield Statement(number, "", (), "it is a table")


def _clean(text: str) -> str:
    """Return the words without the marks of emphasis and links."""
    return " ".join(_EMPHASIS.sub(r"\1", _LINK.sub(r"\1", text)).split())
