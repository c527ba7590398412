"""Record the SQL that calls of the service send, in the form of a file for people to read."""

import inspect
import re
import textwrap
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg
from psycopg.sql import Composable

from app.store import engine

ROOT = f"{Path(__file__).parents[2]}/"
STORE = "app/store/"

# The engine sends what the other modules write.
ENGINE = "app/store/engine.py"

# The door of reads runs what the other modules read.
DOOR = ("app/store/reads.py", "run")

# The job library's own statements belong to its version. Type look-ups belong to a new connection.
FOREIGN = ("procrastinate", "to_regtype", "FROM pg_type")


@dataclass
class RecordedCall:
    """A call of the service, and the statements that it sent: the texts with their senders."""

    label: str
    statements: dict[str, str] = field(default_factory=dict)


current_call: ContextVar[RecordedCall | None] = ContextVar("current_call", default=None)


# The names of the numbered parameters of statements, by their texts.
_NAMES: dict[str, tuple[str, ...]] = {}


_TO_DRIVER_SQL = engine.to_driver_sql


def _note_names(statement: str) -> engine.DriverSql:
    driver_sql = _TO_DRIVER_SQL(statement)
    _NAMES[driver_sql.text.decode()] = driver_sql.names
    return driver_sql


@contextmanager
def record_statements() -> Iterator[None]:
    """Let every statement that psycopg sends be noted in the call under way."""
    with (
        patch.object(engine, "to_driver_sql", _note_names),
        patch.object(psycopg.AsyncCursor, "execute", _noting(psycopg.AsyncCursor.execute)),
        patch.object(psycopg.AsyncCursor, "executemany", _noting(psycopg.AsyncCursor.executemany)),
        patch.object(psycopg.AsyncCursor, "stream", _noting(psycopg.AsyncCursor.stream)),
        patch.object(psycopg.AsyncCursor, "copy", _noting(psycopg.AsyncCursor.copy)),
        patch.object(
            psycopg.AsyncServerCursor, "execute", _noting(psycopg.AsyncServerCursor.execute)
        ),
    ):
        yield


def _noting(send: Callable[..., Any]) -> Callable[..., Any]:
    def note_and_send(cursor: Any, query: Any, *rest: Any, **more: Any) -> Any:
        call = current_call.get()
        if call is not None:
            _note(call, _read_text(query, cursor))
        return send(cursor, query, *rest, **more)

    return note_and_send


def _read_text(query: Any, cursor: Any) -> str:
    if isinstance(query, Composable):
        return query.as_string(cursor)
    return query.decode() if isinstance(query, bytes) else str(query)


def _note(call: RecordedCall, text: str) -> None:
    if not any(word in text for word in FOREIGN):
        call.statements.setdefault(format_statement(text), _find_sender())


def _find_sender() -> str:
    """Return the file and the function of the store that other rooms called for the statement."""
    sender = ENGINE
    frame = inspect.currentframe()
    while frame is not None:
        path = frame.f_code.co_filename.removeprefix(ROOT)
        is_door = path == ENGINE or (path, frame.f_code.co_name) == DOOR
        if path.startswith(STORE) and not is_door:
            sender = f"{path} {frame.f_code.co_name}"
        frame = frame.f_back
    return sender


# --- text --------------------------------------------------------------------------------------

WIDTH = 99  # and a semicolon

_NUMBERED = re.compile(r"\$(\d+)")
_NAMED = re.compile(r"%\((\w+)\)s(?:::\w+)?")
_QUOTED = re.compile(r"'(?:[^']|'')*'")
_ROW = r"\(%s(?:, %s)*\)"
_INSERTED = re.compile(rf"\((?P<columns>[\w, ]+)\)\s+VALUES {_ROW}(?:, {_ROW})*")
_COMPARED = re.compile(r"(?P<column>\w+) = %s")


# What begins a line of its own level. Other lines go on with the clause above them.
_CLAUSE = re.compile(
    r"(WITH|SELECT|FROM|(LEFT |FULL |CROSS )?JOIN|WHERE|GROUP BY|HAVING|WINDOW|ORDER BY|LIMIT"
    r"|UNION|INSERT|VALUES|ON CONFLICT|UPDATE|SET|DELETE|RETURNING|COPY|LOCK)\b"
    r"|\w+ AS (MATERIALIZED )?\($"
)


def format_statement(text: str) -> str:
    """Return the statement with `:names` for parameters, its lines indented and not too long.

    Nothing but parameters and whitespace differs from the text that was sent, and of several rows
    that are inserted the first stands for all. A parameter that was sent by its position has the
    name of its column.
    """
    lines: list[str] = []
    levels = [_Level(0)]
    for line in map(str.strip, _name_parameters(text).splitlines()):
        if line == ",":
            lines[-1] += ","
        elif line:
            lines.extend(_wrap_line(line, " " * _find_indent(line, levels)))
    return "\n".join(lines)


@dataclass
class _Level:
    """The lines inside a pair of parentheses."""

    indent: int
    has_clause: bool = False


def _find_indent(line: str, levels: list[_Level]) -> int:
    """Return the line's indent, and open and close the levels of its parentheses."""
    plain = _QUOTED.sub("''", line)
    rest = plain.lstrip(")")
    for _ in range(len(plain) - len(rest)):
        indent = levels.pop().indent - 4
    if rest == plain:
        level = levels[-1]
        is_clause = bool(_CLAUSE.match(plain))
        indent = level.indent + 4 * (level.has_clause and not is_clause)
        level.has_clause |= is_clause
    for character in rest:
        if character == "(":
            levels.append(_Level(indent + 4))
        elif character == ")":
            levels.pop()
    return indent


def _name_parameters(text: str) -> str:
    names = _NAMES.get(text, ())
    numbered = _NUMBERED.sub(lambda place: f":{names[int(place[1]) - 1]}" if names else "%s", text)
    named = _NAMED.sub(r":\1", numbered)
    named = _INSERTED.sub(_name_inserted, named)
    named = _COMPARED.sub(r"\g<column> = :\g<column>", named)
    return named.replace("%s", ":value").replace("%%", "%")


def _name_inserted(match: re.Match[str]) -> str:
    columns = match["columns"]
    values = ", ".join(f":{column}" for column in columns.split(", "))
    return f"({columns}) VALUES ({values})"


def _wrap_line(line: str, indent: str) -> list[str]:
    """Break a long line at its spaces, but not inside a quoted string."""
    guarded = _QUOTED.sub(lambda quoted: quoted[0].replace(" ", "\0"), line)
    wrapped = textwrap.wrap(
        guarded,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [part.replace("\0", " ") for part in wrapped]


HEAD = """\
-- The statements that every route sends, as they reach Postgres. `make golden` writes this file.
-- Each route has one representative call or a few. A statement stands in full under the first
-- call that sends it, and by the name of its sender under the others. Parameters that the driver
-- sends by position have the names of their columns here.
--
-- To run a statement in psql, give its parameters values first, as in  \\set agent '\\'alice\\''
"""


def format_calls(calls: list[RecordedCall]) -> str:
    """Return the golden file of these calls."""
    parts = [HEAD]
    first_calls: dict[str, str] = {}
    for call in calls:
        parts.append(f"\n\n-- ===== {call.label} =====\n")
        if not call.statements:
            parts.append("-- no statement\n")
        for text, sender in call.statements.items():
            if text in first_calls:
                parts.append(f"-- {sender}: as for {first_calls[text]}\n")
            else:
                first_calls[text] = call.label
                parts.append(f"\n-- {call.label}\n-- {sender}\n{text};\n")
    return "".join(parts)


async def run_recorded(label: str, run: Callable[[], Awaitable[Any]]) -> tuple[RecordedCall, Any]:
    """Run one call, and return it with its statements and its answer."""
    call = RecordedCall(label)
    token = current_call.set(call)
    try:
        return call, await run()
    finally:
        current_call.reset(token)


# --- reading the file ---------------------------------------------------------------------------

# The part of the table of indexes that belongs to one agent has the columns of the whole.
_PART_OF_INDEX = re.compile(r"\bindexed_memories_[0-9a-f]{16}\b")


def read_statements(text: str) -> list[str]:
    """Return the statements of the golden file, each without the comments above it."""
    parts = re.split(r";\n", _PART_OF_INDEX.sub("indexed_memories", text))
    statements = (re.sub(r"(?m)^--.*\n?", "", part).strip() for part in parts)
    return [statement for statement in statements if statement]


def number_parameters(statement: str) -> tuple[str, dict[str, int]]:
    """Return the statement with $1, $2 for its `:names`, and the number of each name."""
    names: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"${names.setdefault(match[1], len(names) + 1)}"

    return re.sub(r"(?<![:\w]):([a-z]\w*)", number, statement), names
