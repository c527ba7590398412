"""Reads at the nodes of a cluster: what they say there, and where they go. No cluster is needed."""

import asyncio
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pglast import ast, parse_sql
from pglast.stream import RawStream

from app.domain.agent import AgentId
from app.store import nodes as nodes_module
from app.store.columns import Filters
from app.store.engine import Patience, create_engine
from app.store.memories import Point
from app.store.nodes import (
    FUNCTIONS_OF_TABLES,
    Address,
    Node,
    Nodes,
    Part,
    Route,
    build_parts,
    name_parts,
)
from app.store.placement import DISTRIBUTED, LOCAL, REFERENCE
from app.store.search import build_search_statement
from support.recorded_statements import number_parameters, read_statements
from support.statement_rules import walk

GOLDEN = Path(__file__).parent / "golden" / "statements.sql"
RECORDED = list(dict.fromkeys(read_statements(GOLDEN.read_text())))
PARTS = {
    table: f"{table}_102{number:03}" for number, table in enumerate((*DISTRIBUTED, *REFERENCE))
}
TABLES = {part: table for table, part in PARTS.items()}
NAMES = tuple(PARTS.items())

AGENT = AgentId("alice")


def parse(statement: str) -> Any:
    return parse_sql(number_parameters(statement)[0])


def list_tables(tree: Any) -> set[str]:
    return {node.relname for node in walk(tree) if isinstance(node, ast.RangeVar)}


def changes(statement: str) -> bool:
    """Whether a statement changes or locks rows, by Postgres' own parser."""
    kinds = (ast.InsertStmt, ast.UpdateStmt, ast.DeleteStmt, ast.LockingClause, ast.LockStmt)
    return any(isinstance(node, kinds) for node in walk(parse(statement)))


def deparse(statement: str) -> str:
    """The statement without its format, with the tables of parts, and no alias that is its table's name."""
    tree = parse(statement)
    for node in walk(tree):
        if isinstance(node, ast.RangeVar):
            node.relname = TABLES.get(node.relname, node.relname)
            if node.alias is not None and node.alias.aliasname == node.relname:
                node.alias = None
    return str(RawStream()(tree))


# --- statements ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_read_at_a_node_names_parts_and_is_the_same_otherwise() -> None:
    rewritten = 0
    for statement in RECORDED:
        at_node = name_parts(statement, NAMES)
        if at_node is not None:
            rewritten += 1
            assert not list_tables(parse(at_node)) & {*DISTRIBUTED, *REFERENCE, *LOCAL}, at_node
            assert deparse(at_node) == deparse(statement)
    assert rewritten > 50


def test_what_changes_or_locks_rows_goes_to_the_coordinator() -> None:
    changing = [statement for statement in RECORDED if changes(statement)]
    assert len(changing) > 50
    assert [statement for statement in changing if name_parts(statement, NAMES)] == []


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
def test_a_search_can_be_run_at_a_node(mode: str) -> None:
    statement, _ = build_search_statement(mode, Filters(), Point())
    at_node = name_parts(statement, NAMES)
    assert at_node is not None
    assert PARTS["memories"] in at_node


def test_a_table_without_an_alias_keeps_its_name() -> None:
    statement = "SELECT agents.agent_id FROM agents WHERE agents.agent_id = :agent"
    part = PARTS["agents"]
    assert name_parts(statement, NAMES) == statement.replace(
        "FROM agents", f"FROM {part} AS agents"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT version_num FROM alembic_version",
        "SELECT 1 FROM memories m, reviews r WHERE m.agent_id = :agent AND r.agent_id = :agent",
        "SELECT choose_words(:language, :query, 1, 2)",
        "SELECT 1 FROM agents WHERE agent_id = :agent FOR SHARE",
    ],
)
def test_what_a_node_cannot_run_alone_goes_to_the_coordinator(statement: str) -> None:
    assert name_parts(statement, NAMES) is None


def test_a_table_that_is_not_distributed_yet_goes_to_the_coordinator() -> None:
    names = tuple((table, part) for table, part in NAMES if table != "reviews")
    assert name_parts("SELECT 1 FROM reviews r WHERE r.agent_id = :agent", names) is None
    assert name_parts("SELECT 1 FROM memories m WHERE m.agent_id = :agent", names) is not None


def test_every_function_that_reads_tables_is_known(template_url: str) -> None:
    tables = "|".join((*DISTRIBUTED, *REFERENCE, *LOCAL))
    with psycopg.connect(template_url) as connection:
        reading = {
            name
            for name, source in connection.execute(
                "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
            )
            if re.search(rf"\b({tables})\b", source)
        }
    assert set(FUNCTIONS_OF_TABLES) == reading


# --- places --------------------------------------------------------------------------------------


def row(
    table: str, part: int, host: str = "one", span: str | None = "-2147483648"
) -> dict[str, Any]:
    return {
        "table": table,
        "range": span,
        "part": part,
        "name": f"{table}_{part}",
        "host": host,
        "port": 5432,
    }


def test_what_lies_together_is_one_part() -> None:
    rows = [
        row("memories", 7),
        row("agents", 3),
        row("memories", 8, host="two", span="0"),
        row("agents", 4, host="two", span="0"),
        row("encoder", 1, span=None),
        row("encoder", 1, host="two", span=None),
    ]
    names = (("agents", "agents_3"), ("encoder", "encoder_1"), ("memories", "memories_7"))
    parts = build_parts(rows)
    assert parts[7] == Part(7, Address("one", 5432), names)
    assert parts[8].address == Address("two", 5432)


def test_what_lies_apart_is_no_part() -> None:
    assert build_parts([row("memories", 7), row("agents", 3, host="two")]) == {}


# --- routes --------------------------------------------------------------------------------------


class Coordinator:
    """It has one part, at an address at which nobody listens, and counts what it is asked."""

    def __init__(self) -> None:
        self.looks = 0
        self.opened: list[Address] = []

    async def ask(self, statement: str, _parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        if "pg_dist_shard" in statement:
            self.looks += 1
            return [row("memories", 7, host="127.0.0.1") | {"port": 1}]
        return [{"part": 7}]

    def open_engine(self, address: Address) -> Any:
        self.opened.append(address)
        url = f"postgresql://nobody@{address}/nothing"
        return create_engine(url, pool_size=1, patience=Patience(connect=2))


def test_one_server_is_asked_nothing() -> None:
    coordinator = Coordinator()
    nodes = Nodes(coordinator.open_engine)
    assert asyncio.run(nodes.find_route(AGENT, coordinator.ask)) is None
    assert coordinator.looks == 0


def test_a_node_that_cannot_be_reached_is_tried_beside_the_reads_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    coordinator = Coordinator()

    async def read_for_a_while() -> None:
        nodes = Nodes(coordinator.open_engine, is_cluster=True)
        for _ in range(30):
            assert await nodes.find_route(AGENT, coordinator.ask) is None
            for node in nodes._nodes.values():
                node._next_try = 0.0
            await asyncio.sleep(0.01)
        await nodes.dispose()

    with caplog.at_level(logging.INFO):
        asyncio.run(read_for_a_while())
    assert coordinator.opened == [Address("127.0.0.1", 1)]
    [message] = [record.message for record in caplog.records if "node" in record.message]
    assert message.startswith("node 127.0.0.1:1 is read through the coordinator: ")


def test_places_are_read_again_after_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    coordinator = Coordinator()
    now = 1_000.0
    monkeypatch.setattr(nodes_module.time, "monotonic", lambda: now)

    async def read(nodes: Nodes, later: float) -> int:
        nonlocal now
        now += later
        await nodes.find_route(AGENT, coordinator.ask)
        return coordinator.looks

    async def read_and_move() -> list[int]:
        nodes = Nodes(coordinator.open_engine, is_cluster=True)
        looks = [await read(nodes, 0), await read(nodes, 5)]
        nodes.note_move()
        looks += [await read(nodes, 0), await read(nodes, 0)]
        nodes.note_move()
        looks += [await read(nodes, 0.5), await read(nodes, 0.6), await read(nodes, 11)]
        await nodes.dispose()
        return looks

    assert asyncio.run(read_and_move()) == [1, 1, 2, 2, 2, 3, 4]


@pytest.mark.parametrize(
    ("problem", "falls_back", "stays_open"),
    [
        (psycopg.OperationalError("the connection is lost"), True, False),
        (psycopg.errors.AdminShutdown(), True, False),
        (psycopg.errors.InsufficientPrivilege(), True, False),
        (psycopg.errors.UndefinedFunction(), True, False),
        (psycopg.errors.UndefinedTable(), True, True),
        (psycopg.errors.QueryCanceled(), False, True),
        (psycopg.errors.InvalidTextRepresentation(), False, True),
        (psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes"), False, True),
    ],
)
def test_the_coordinator_answers_what_is_the_fault_of_the_node(
    problem: psycopg.Error, *, falls_back: bool, stays_open: bool
) -> None:
    coordinator = Coordinator()
    address = Address("127.0.0.1", 1)
    node = Node(address, coordinator.open_engine(address), is_open=True)
    part = Part(7, address, NAMES)
    route = Route(Nodes(coordinator.open_engine), node, part)
    assert route.note_trouble(problem) == falls_back
    assert node.is_open == stays_open
