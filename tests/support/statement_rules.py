"""Check statements for what a Citus cluster demands of them. Postgres' own parser reads them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pglast import ast, parse_sql
from pglast.enums import A_Expr_Kind, BoolExprType

from support.recorded_statements import number_parameters

# How parameters name the agent. The recording names those that are sent by position.
_AGENT = re.compile(r"agent(_id(_\d+)?)?")

# The rows of an import wait there. They are temporary.
_INCOMING = "incoming_"


@dataclass(frozen=True)
class Database:
    """What the rules must know of a database.

    `distributed` are the tables with the rows of agents, `volatility` has the worst letter of
    pg_proc for each name of a function.
    """

    distributed: frozenset[str]
    volatility: dict[str, str]


@dataclass
class _Level:
    """One SELECT, UPDATE or DELETE: its relations by their aliases, and its conditions."""

    relations: dict[str, str] = field(default_factory=dict)
    conditions: list[ast.Node] = field(default_factory=list)


def find_broken_rules(statement: str, database: Database) -> list[str]:
    """Return a sentence for each rule that the statement breaks. Parameters are `:names`."""
    return _Check(statement, database).run()


class _Check:
    def __init__(self, statement: str, database: Database) -> None:
        numbered, numbers = number_parameters(statement)
        self.agents = {numbers[name] for name in numbers if _AGENT.fullmatch(name)}
        self.trees = [raw.stmt for raw in parse_sql(numbered)]
        self.database = database
        self.ctes = {
            node.ctename for node in self.walk_all() if isinstance(node, ast.CommonTableExpr)
        }

    def walk_all(self) -> Iterator[ast.Node]:
        for tree in self.trees:
            yield from walk(tree)

    def run(self) -> list[str]:
        levels = [level for node in self.walk_all() if (level := self._read_level(node))]
        read = {name for level in levels for name in level.relations.values()}
        broken = [*self._check_changes(), *self._check_conflicts()]
        if read & self.database.distributed:
            broken += [*self._check_agents(levels), *self._check_others(read)]
        return broken

    # --- rule 1: each relation is narrowed by the agent itself -----------------------------------

    def _check_agents(self, levels: list[_Level]) -> Iterator[str]:
        for level in levels:
            narrowed = {name for node in level.conditions for name in self._find_narrowed(node)}
            own = {
                alias: name
                for alias, name in level.relations.items()
                if name in self.database.distributed
            }
            for alias, name in own.items():
                if alias not in narrowed and not (len(own) == 1 and "" in narrowed):
                    yield f"{name} {alias} is not narrowed by agent_id = :agent"

    def _find_narrowed(self, node: ast.Node | None) -> Iterator[str]:
        """Yield the alias of each relation that a condition narrows; "" for a bare column."""
        if isinstance(node, ast.BoolExpr) and node.boolop == BoolExprType.AND_EXPR:
            for part in node.args:
                yield from self._find_narrowed(part)
        elif isinstance(node, ast.A_Expr) and node.kind == A_Expr_Kind.AEXPR_OP:
            column, value = node.lexpr, node.rexpr
            is_agent = isinstance(value, ast.ParamRef) and value.number in self.agents
            if node.name[0].sval == "=" and is_agent and isinstance(column, ast.ColumnRef):
                *alias, name = (part.sval for part in column.fields)
                if name == "agent_id":
                    yield alias[0] if alias else ""

    def _read_level(self, node: ast.Node) -> _Level | None:
        """Return what a statement reads and changes itself, None if the node is none."""
        level = _Level()
        if isinstance(node, ast.SelectStmt):
            sources = node.fromClause or ()
        elif isinstance(node, ast.UpdateStmt):
            sources = (node.relation, *(node.fromClause or ()))
        elif isinstance(node, ast.DeleteStmt):
            sources = (node.relation, *(node.usingClause or ()))
        else:
            return None
        for source in sources:
            self._add_source(level, source)
        if node.whereClause is not None:
            level.conditions.append(node.whereClause)
        return level

    def _add_source(self, level: _Level, source: ast.Node) -> None:
        if isinstance(source, ast.JoinExpr):
            self._add_source(level, source.larg)
            self._add_source(level, source.rarg)
            if source.quals is not None:
                level.conditions.append(source.quals)
        elif isinstance(source, ast.RangeVar) and source.relname not in self.ctes:
            alias = source.alias.aliasname if source.alias else source.relname
            level.relations[alias] = source.relname

    # --- rule 2: functions in changes ------------------------------------------------------------

    def _check_changes(self) -> Iterator[str]:
        for node in self.walk_all():
            if isinstance(node, ast.UpdateStmt | ast.DeleteStmt):
                changes = node.targetList if isinstance(node, ast.UpdateStmt) else ()
                for part in (*(changes or ()), node.whereClause):
                    yield from self._check_expression(part)

    def _check_expression(self, part: ast.Node | None) -> Iterator[str]:
        for name, _ in self._find_calls(part):
            if self.database.volatility.get(name) == "v":
                yield f"{name}() is volatile, in a change"
        for name, call in self._find_calls(part, skip=ast.SubLink):
            if self._is_stable(name) and _has_column(call):
                yield f"{name} is stable and reads a column, in a change"

    def _check_conflicts(self) -> Iterator[str]:
        for node in self.walk_all():
            if isinstance(node, ast.OnConflictClause):
                for part in (*(node.targetList or ()), node.whereClause):
                    for name, _ in self._find_calls(part):
                        if name == INTERVAL or self.database.volatility.get(name, "i") != "i":
                            yield f"{name} is not immutable, in ON CONFLICT"

    def _is_stable(self, name: str) -> bool:
        return name == INTERVAL or self.database.volatility.get(name) == "s"

    def _find_calls(
        self, part: ast.Node | None, *, skip: type[ast.Node] | tuple[()] = ()
    ) -> Iterator[tuple[str, ast.Node]]:
        if part is None:
            return
        for node in walk(part, skip=skip):
            if isinstance(node, ast.FuncCall):
                yield node.funcname[-1].sval, node
            elif _is_time_arithmetic(node):
                yield INTERVAL, node

    # --- rule 3: what may not stand with the tables of agents ---------------------------------

    def _check_others(self, read: set[str]) -> Iterator[str]:
        for name in sorted(read):
            if name.startswith("pg_"):
                yield f"the catalog {name} is read with the tables of agents"
            if name.startswith(_INCOMING):
                yield f"the temporary {name} is read with the tables of agents"


INTERVAL = "time and interval"


def _is_time_arithmetic(node: ast.Node) -> bool:
    """Return True for a time plus or minus an interval, which depends on the time zone."""
    return (
        isinstance(node, ast.A_Expr)
        and node.name[0].sval in ("+", "-")
        and isinstance(node.rexpr, ast.TypeCast)
        and node.rexpr.typeName.names[-1].sval == "interval"
    )


def _has_column(node: ast.Node) -> bool:
    return any(isinstance(part, ast.ColumnRef) for part in walk(node, skip=ast.SubLink))


def walk(node: object, *, skip: type[ast.Node] | tuple[()] = ()) -> Iterator[ast.Node]:
    """Yield the node and all nodes in it, but none in nodes of the type to skip."""
    if isinstance(node, tuple | list):
        for part in node:
            yield from walk(part, skip=skip)
    elif isinstance(node, ast.Node) and not isinstance(node, skip):
        yield node
        for name in node:
            yield from walk(getattr(node, name), skip=skip)
