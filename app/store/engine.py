"""The connection pool, and how a connection is set up."""

import asyncio
import logging
import os
import re
import select
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import (
    aclosing,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from typing import Any, TypeVar, cast

import numpy as np
import psycopg
import sqlalchemy as sa
from numpy.typing import NDArray
from pgvector.psycopg import register_vector_async
from psycopg import sql
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo, TransactionStatus
from psycopg.rows import dict_row
from psycopg.types.array import ListBinaryDumper
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from app.database_urls import list_options, split_options
from app.domain.agent import AgentId
from app.store.installation import SEARCH_PATH, Installation, read_installation
from app.store.roles import Role


class NoAddress(ValueError):
    """A database URL that cannot be read. The message does not quote it: it may hold a password."""

    def __init__(self, unknown_options: Sequence[str] = ()) -> None:
        if unknown_options:
            super().__init__(
                f"Postgres has no option {', '.join(unknown_options)}; remove that from the address"
            )
            return
        super().__init__(
            "it cannot be read; percent-encode what is special in its password, "
            "as in postgresql://user:p%40ss@host/name"
        )


class VectorList(list[NDArray[np.float32]]):
    """Vectors as one parameter, sent in binary.

    psycopg would send a list as text, which takes sixty times as long.
    """


def sqlalchemy_url(url: str) -> sa.URL:
    """Return a postgresql:// URL with psycopg 3 as its driver. Raise NoAddress.

    The URL may name several hosts, which are tried in their order. The options of this service are
    left out.
    """
    plain, _ = split_options(url)
    try:
        parameters = {name: str(value) for name, value in conninfo_to_dict(plain).items()}
    except psycopg.ProgrammingError:
        raise NoAddress(_list_unknown_options(plain)) from None
    if _is_misread(host=parameters.get("host", ""), port=parameters.get("port", "")):
        raise NoAddress
    return sa.URL.create(
        "postgresql+psycopg",
        username=parameters.pop("user", None),
        password=parameters.pop("password", None),
        database=parameters.pop("dbname", None),
        query=parameters,
    )


def _list_unknown_options(url: str) -> list[str]:
    """Return the options of another program, without any that may be part of the password."""
    known = {option.keyword.decode() for option in Conninfo.get_defaults()} | {"ssl"}
    if "@" in url.partition("?")[2]:
        return []
    names = [name for name in list_options(url) if re.fullmatch("[A-Za-z_]{2,40}", name)]
    return [name for name in names if name not in known]


def _is_misread(*, host: str, port: str) -> bool:
    """Return whether a part of the password was read as the host or the port.

    That happens if the password holds a special character. Errors of the server name both. Folders
    of sockets may have any name.
    """
    ports = port.replace(",", "")
    is_name = not host.startswith("/")
    return (is_name and "@" in host) or not (ports == "" or ports.isdecimal())


logger = logging.getLogger(__name__)

T = TypeVar("T")

# Uses after which psycopg prepares a statement on the server.
PREPARED_AFTER = 5

# Seconds after its own timeout that a running server may take to report it.
GRACE = 5.0


@dataclass(frozen=True, slots=True)
class Patience:
    """The time that the database may take, in seconds. 0 is for ever, except for `connect`."""

    pool: float = 10.0
    connect: int = 5
    statement: float = 30.0
    lock: float = 10.0
    idle_transaction: float = 60.0

    @property
    def deadline(self) -> float | None:
        """How long a statement is waited for here. Only a server that runs ends its own."""
        return self.statement + GRACE if self.statement else None

    @property
    def limits(self) -> dict[str, str]:
        """The server's limits for a transaction, in its own words."""
        return {
            "statement_timeout": f"{self.statement * 1000:.0f}ms",
            "lock_timeout": f"{self.lock * 1000:.0f}ms",
            "idle_timeout": f"{self.idle_transaction * 1000:.0f}ms",
            "node_timeout": f"{self.connect * 1000}ms",
        }


# What the server says if a pooler gave the transaction a session that prepared other statements.
MISTAKEN_SESSION = (
    psycopg.errors.DuplicatePreparedStatement,
    psycopg.errors.InvalidSqlStatementName,
)

# What a Citus coordinator says without a code of its own when it loses another node: at the commit,
# and before it.
_LOSSES_OF_NODES = (
    "could not commit transaction for shard",
    "failure on connection marked as essential",
)


class TimelyConnection(psycopg.AsyncConnection[Any]):
    """A connection that gives up a step that takes longer than `deadline` seconds.

    A step is a statement, a row of a stream, a commit. The server's own timeouts do not help if it
    is stopped, or if the line swallows what it says. Raises OperationalError then, and is closed:
    nobody knows what the server made of the statement.
    """

    patience: Patience = Patience()
    deadline: float | None = None
    installation: Installation = Installation()
    # Where names without a schema are looked up: among the tables, then in pgvector's schema.
    search_path: str = ""
    # Whether the server is the coordinator of a Citus cluster.
    on_cluster: bool = False
    # Called if the server turns out to be behind a pooler.
    note_pooler: Callable[[], None] = staticmethod(lambda: None)
    # What `fetch_rows` begins the transaction of each statement with; None if one is open already.
    scope: Mapping[str, str] | None = None

    async def wait(
        self,
        gen: PQGen[T],
        interval: float = 0.1,
        timeout: float | None = None,  # noqa: ASYNC109 - as psycopg has it
    ) -> T:
        try:
            return await super().wait(gen, interval, self.deadline if timeout is None else timeout)
        except psycopg.OperationalError as error:
            # What the server itself says has a code.
            is_silent = error.sqlstate is None
            if is_silent and self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.pgconn.finish()
            raise
        except MISTAKEN_SESSION:
            self.prepare_threshold = None
            self.note_pooler()
            raise
        except psycopg.InternalError as error:
            if self.on_cluster and str(error).startswith(_LOSSES_OF_NODES):
                raise psycopg.errors.ConnectionFailure(str(error)) from error
            raise


# A connection whose other end went away silently (a failover, a cut cable) is noticed within half
# a minute.
_KEEPALIVES = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


def create_engine(
    url: str, *, pool_size: int, patience: Patience, behind_pooler: bool = False
) -> AsyncEngine:
    """Return a pool of at most `pool_size` connections.

    Behind a transaction pooler, the next transaction may run in another session, which has not
    prepared the same statements. Waiting too long for a connection raises TimeoutError.
    """
    installation = read_installation(url)
    engine = create_async_engine(
        sqlalchemy_url(url),
        poolclass=Pool,
        pool_size=pool_size,
        max_overflow=0,
        pool_use_lifo=True,  # the connection used last has the statements prepared
        pool_timeout=patience.pool,
        hide_parameters=True,  # errors are logged, and parameters hold facts
        connect_args={
            "connect_timeout": patience.connect,
            "prepare_threshold": None if behind_pooler else PREPARED_AFTER,
            "async_creator_fn": TimelyConnection.connect,
            **_KEEPALIVES,
        },
    )

    def set_patience(
        dbapi_connection: DBAPIConnection, _record: object, _proxy: object = None
    ) -> None:
        driver = dbapi_connection.driver_connection
        driver.patience = patience
        driver.deadline = patience.deadline

    def set_up(dbapi_connection: DBAPIConnection, _record: object) -> None:
        driver = dbapi_connection.driver_connection
        driver.installation = installation
        driver.note_pooler = partial(stop_preparing, engine)
        if dbapi_connection.run_async(_set_up):
            stop_preparing(engine)

    def prepare_or_not(dbapi_connection: DBAPIConnection, _record: object, _proxy: object) -> None:
        if is_behind_pooler(engine):
            dbapi_connection.driver_connection.prepare_threshold = None

    sa.event.listen(engine.sync_engine, "connect", set_patience)
    sa.event.listen(engine.sync_engine, "checkout", set_patience)
    sa.event.listen(engine.sync_engine, "connect", set_up)
    sa.event.listen(engine.sync_engine, "checkout", _refuse_stale)
    sa.event.listen(engine.sync_engine, "checkout", prepare_or_not)
    assert isinstance(engine.pool, Pool)
    engine.pool.is_behind_pooler = behind_pooler
    return engine


def is_behind_pooler(engine: AsyncEngine) -> bool:
    """Return whether a pooler lies before Postgres, by the settings or by what was noticed."""
    assert isinstance(engine.pool, Pool)
    return engine.pool.is_behind_pooler


def stop_preparing(engine: AsyncEngine) -> None:
    """Prepare nothing on the server from now on, because a pooler was noticed before it."""
    if not is_behind_pooler(engine):
        assert isinstance(engine.pool, Pool)
        engine.pool.is_behind_pooler = True
        logger.warning(
            "a pooler lies before Postgres, so nothing is prepared there: set "
            "PALIMPSEST_DATABASE_POOLER=true"
        )


def lower_backend_priority(engine: AsyncEngine, niceness: int) -> None:
    """Give way to other work in Postgres, too, if it runs on this machine and lets us.

    Every connection of the pool has a process of its own there, which gets this niceness.
    """

    def lower_priority(dbapi_connection: DBAPIConnection, _record: object) -> None:
        server = dbapi_connection.driver_connection.info
        is_local_socket = server.host.startswith("/")
        if is_local_socket:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, server.backend_pid, niceness)

    sa.event.listen(engine.sync_engine, "connect", lower_priority)


class Pool(sa.AsyncAdaptedQueuePool):
    """The usual pool, which also knows how many wait for a connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.waiting = 0
        self.is_behind_pooler = False

    def _do_get(self) -> ConnectionPoolEntry:
        self.waiting += 1
        try:
            return super()._do_get()
        finally:
            self.waiting -= 1


# Learn about the session, and set its path for the transaction.
_READ_SESSION = f"""
    SELECT
        pg_backend_pid() AS pid,
        EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS on_cluster,
        set_config('search_path', {SEARCH_PATH}, true) AS search_path
""".encode()


async def _set_up(driver: TimelyConnection) -> bool:
    """Prepare a new connection for its use. Return whether it leads to a pooler."""
    cursor = driver.cursor(row_factory=dict_row)
    await cursor.execute(_READ_SESSION, {"schema": driver.installation.schema})
    session = await cursor.fetchone()
    assert session is not None
    driver.on_cluster = session["on_cluster"]
    driver.search_path = session["search_path"]
    await register_vector_async(driver)
    driver.adapters.register_dumper(VectorList, ListBinaryDumper)
    await driver.rollback()
    return _leads_to_pooler(driver, session["pid"])


def _leads_to_pooler(driver: psycopg.AsyncConnection[Any], pid: int) -> bool:
    """Return whether the process that answered the login is another one than the server's `pid`.

    A pooler answers a login itself.
    """
    return driver.info.backend_pid != pid


async def stop_preparing_behind_pooler(driver: psycopg.AsyncConnection[Any]) -> None:
    """Let a connection prepare nothing on the server if it leads to a pooler."""
    cursor = await driver.execute("SELECT pg_backend_pid()")
    [pid] = await cursor.fetchone() or [0]
    if _leads_to_pooler(driver, pid):
        driver.prepare_threshold = None
    await driver.rollback()


def _refuse_stale(dbapi_connection: DBAPIConnection, _record: object, _proxy: object) -> None:
    """Make the pool replace a connection that the server has closed.

    The server sends nothing on an idle connection but its goodbye. Looking for that costs two
    microseconds; a question to the server (`pool_pre_ping`) costs a hundred times as much.
    """
    driver = dbapi_connection.driver_connection
    if driver.closed or _has_unread_input(driver.fileno()):
        raise sa.exc.DisconnectionError("closed by the server")


def _has_unread_input(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


# --- transactions ------------------------------------------------------------------------------

# Begin a transaction: its role, its path, its agent, its time zone and its limits. Nothing is set
# for longer than the transaction, because behind a pooler the next one may run in another session.
# To compile a statement (`jit`) takes seconds, and none of ours runs that long: before Postgres 18
# it is done for whatever reads a small table whole while `enable_seqscan` is off.
_BEGIN = b"""
    SELECT
        set_config('role', %(role)s, true),
        set_config('search_path', %(search_path)s, true),
        set_config('palimpsest.agent', %(agent)s, true),
        set_config('timezone', 'UTC', true),
        set_config('jit', 'off', true),
        set_config('statement_timeout', %(statement_timeout)s, true),
        set_config('lock_timeout', %(lock_timeout)s, true),
        set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, true)
"""

# The same for what is done often for one agent. A statement is planned once in a session, for any
# agent: to plan a search takes longer than to run it for a small one. Such a plan must read by an
# index, because a plan that reads the whole table suits only an agent that owns most of it.
_BEGIN_FOR_AGENT = (
    _BEGIN
    + b""",
        set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('enable_seqscan', 'off', true)
"""
)

# The same on a Citus cluster, whose other nodes must know the agent, the time zone and the limits.
# They know the role, because the coordinator logs in there by it. Postgres looks the functions up
# before it sets the path, so they are named with their schema.
_BEGIN_ON_CLUSTER = b"""
    SELECT
        set_config('role', %(role)s, true),
        set_config('search_path', %(search_path)s, true),
        SCHEMA.set_on_every_node('palimpsest.agent', %(agent)s),
        SCHEMA.set_on_every_node('timezone', 'UTC'),
        SCHEMA.set_on_every_node('jit', 'off'),
        SCHEMA.set_on_every_node('statement_timeout', %(statement_timeout)s),
        SCHEMA.set_on_every_node('lock_timeout', %(lock_timeout)s),
        set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, true),
        set_config('citus.node_connection_timeout', %(node_timeout)s, true)
"""

# Go on with a transaction in another role, or for another agent.
_TAKE_ROLE = b"""
    SELECT
        set_config('role', %(role)s, true),
        set_config('palimpsest.agent', %(agent)s, true)
"""

_TAKE_ROLE_ON_CLUSTER = b"""
    SELECT
        set_config('role', %(role)s, true),
        set_on_every_node('palimpsest.agent', %(agent)s)
"""

# No agent has this id, so the policies of the tables show no row.
NO_AGENT = AgentId("")
# The name by which Postgres knows the role of the login itself.
_LOGIN = "none"


@asynccontextmanager
async def begin_for_agent(
    engine: AsyncEngine, agent: AgentId, role: Role = Role.SERVICE
) -> AsyncIterator[AsyncConnection]:
    """Open a transaction that sees and changes this agent alone, and commit it at the end.

    Each statement sees one consistent state.
    """
    async with engine.begin() as connection:
        await _begin(connection, role, agent, _BEGIN_FOR_AGENT)
        yield connection


@asynccontextmanager
async def connect_for_agent(
    engine: AsyncEngine, agent: AgentId, role: Role = Role.SERVICE
) -> AsyncIterator[AsyncConnection]:
    """Open a connection for reads of this agent alone, of one statement each, by `fetch_rows`.

    Each statement is a transaction that begins and ends in the same round trip. None is open
    between them.
    """
    async with engine.connect() as plain:
        connection = await plain.execution_options(isolation_level="AUTOCOMMIT")
        driver = _get_timely_driver(connection)
        driver.scope = _build_scope(driver, role, agent)
        try:
            yield connection
        finally:
            driver.scope = None


@asynccontextmanager
async def begin_as_operator(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Open a transaction that sees every agent and changes none."""
    async with engine.begin() as connection:
        await _begin(connection, Role.OPERATOR, NO_AGENT)
        yield connection


@asynccontextmanager
async def begin_for_keys(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Open a transaction that reads and changes the keys of callers, and commit it at the end."""
    async with engine.begin() as connection:
        await _begin(connection, Role.KEYS, NO_AGENT)
        yield connection


@asynccontextmanager
async def begin_as_owner(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Open a transaction that changes the tables themselves, and commit it at the end.

    Its login owns the tables. Their policies show it no row, unless it is a superuser.
    """
    async with engine.begin() as connection:
        await _begin(connection, _LOGIN, NO_AGENT)
        yield connection


@asynccontextmanager
async def open_owner_session(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Open a session for what cannot be done in a transaction, in the role of the login itself.

    No pooler may lie between: the path is set for the session.
    """
    async with engine.connect() as plain:
        connection = await plain.execution_options(isolation_level="AUTOCOMMIT")
        driver = _get_timely_driver(connection)
        await driver.execute("SELECT set_config('search_path', %s, false)", [driver.search_path])
        yield connection


@asynccontextmanager
async def open_snapshot(
    engine: AsyncEngine, agent: AgentId, role: Role = Role.SERVICE
) -> AsyncIterator[AsyncConnection]:
    """Open a connection whose statements all see the agent as it is at the first one.

    They are planned for how much the agent has, because most of them read all of it.
    """
    async with engine.connect() as plain:
        connection = await plain.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        await _begin(connection, role, agent)
        yield connection


async def _begin(
    connection: AsyncConnection, role: str, agent: AgentId, begin: bytes = _BEGIN
) -> None:
    driver = _get_timely_driver(connection)
    await _execute_begin(driver, begin, _build_scope(driver, role, agent))


def _build_scope(driver: TimelyConnection, role: str, agent: str) -> dict[str, str]:
    """Return the parameters of a statement that begins a transaction."""
    return {
        "role": _name_role(driver, role),
        "agent": agent,
        "search_path": driver.search_path,
        **driver.patience.limits,
    }


def _name_role(driver: TimelyConnection, role: str) -> str:
    return driver.installation.name_role(role) if isinstance(role, Role) else role


async def _execute_begin(driver: TimelyConnection, begin: bytes, scope: Mapping[str, str]) -> None:
    if driver.on_cluster:
        schema = sql.Identifier(driver.installation.schema).as_bytes().replace(b"%", b"%%")
        begin = _BEGIN_ON_CLUSTER.replace(b"SCHEMA", schema)
    await driver.execute(begin, scope)


def is_on_cluster(driver: psycopg.AsyncConnection[Any]) -> bool:
    """Return whether the connection is to the coordinator of a Citus cluster."""
    return isinstance(driver, TimelyConnection) and driver.on_cluster


@contextmanager
def limit_steps(connection: AsyncConnection, seconds: float) -> Iterator[None]:
    """Give up each step of the connection after so many seconds, in this block."""
    driver = _get_timely_driver(connection)
    usual = driver.deadline
    driver.deadline = seconds
    try:
        yield
    finally:
        driver.deadline = usual


async def take_role(connection: AsyncConnection, role: Role | None, agent: AgentId) -> None:
    """Go on with the transaction in this role and for this agent; None is the login's own role."""
    driver = _get_timely_driver(connection)
    take = _TAKE_ROLE_ON_CLUSTER if driver.on_cluster else _TAKE_ROLE
    await driver.execute(take, {"role": _name_role(driver, role or _LOGIN), "agent": agent})


# --- statements --------------------------------------------------------------------------------


def get_driver(connection: AsyncConnection) -> psycopg.AsyncConnection[Any]:
    """Return the psycopg connection of a connection, in the same transaction.

    SQLAlchemy has no COPY.
    """
    raw = connection.sync_connection
    assert raw is not None
    driver = raw.connection.driver_connection
    assert isinstance(driver, psycopg.AsyncConnection)
    return driver


def _get_timely_driver(connection: AsyncConnection) -> TimelyConnection:
    driver = get_driver(connection)
    assert isinstance(driver, TimelyConnection)
    return driver


# To make so many rows takes a few milliseconds.
_FETCHED_AT_ONCE = 500


async def fetch_rows(
    connection: AsyncConnection, statement: str, parameters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the rows of a statement with `:names`, in the same transaction. Raise psycopg errors.

    The statement goes straight to the driver. SQLAlchemy takes 0.3 ms more for a search, because
    it parses the text, and guards and wraps every row.
    """
    driver = get_driver(connection)
    driver_sql = to_driver_sql(statement)
    cursor = psycopg.AsyncRawCursor(driver, row_factory=dict_row)
    values = driver_sql.list_values(parameters)
    if isinstance(driver, TimelyConnection) and driver.scope is not None:
        # On a cluster, other nodes learn of settings in a transaction block alone.
        block = driver.transaction() if driver.on_cluster else nullcontext()
        async with driver.pipeline(), block:
            await _execute_begin(driver, _BEGIN_FOR_AGENT, driver.scope)
            await cursor.execute(driver_sql.text, values)
    else:
        await cursor.execute(driver_sql.text, values)
    # `description` would describe each column, which takes a third of a millisecond.
    if cursor.pgresult is None or not cursor.pgresult.nfields:
        return []
    # Other tasks run between slices of a long result.
    rows = await cursor.fetchmany(_FETCHED_AT_ONCE)
    while len(rows) < cursor.rowcount:
        await asyncio.sleep(0)
        rows += await cursor.fetchmany(_FETCHED_AT_ONCE)
    return rows


async def stream_rows(
    connection: AsyncConnection, statement: str, parameters: Mapping[str, Any]
) -> AsyncGenerator[dict[str, Any]]:
    """Yield the rows of a statement with `:names` as they arrive, in the same transaction.

    The connection can send no other statement meanwhile. Whoever stops reading early closes the
    generator (`aclose`).
    """
    driver = get_driver(connection)
    driver_sql = to_driver_sql(statement)
    async with psycopg.AsyncRawCursor(driver, row_factory=dict_row) as cursor:
        stream = cursor.stream(driver_sql.text, driver_sql.list_values(parameters))
        async with aclosing(cast("AsyncGenerator[dict[str, Any]]", stream)) as rows:
            async for row in rows:
                yield row


async def stream_server_cursor(
    connection: AsyncConnection, name: str, statement: str, parameters: Mapping[str, Any]
) -> AsyncGenerator[dict[str, Any]]:
    """Yield the rows of a statement through a cursor of this name in the database.

    Several such cursors can be read at the same time.
    """
    driver = get_driver(connection)
    driver_sql = to_driver_sql(statement)
    async with psycopg.AsyncRawServerCursor(driver, name, row_factory=dict_row) as cursor:
        cursor.itersize = 200
        await cursor.execute(driver_sql.text, driver_sql.list_values(parameters))
        async for row in cursor:
            yield row


async def lift_statement_timeout(connection: AsyncConnection) -> None:
    """Let the statements of this transaction take any time. They grow with what is stored."""
    driver = get_driver(connection)
    if isinstance(driver, TimelyConnection):
        driver.deadline = None  # until the connection is back in the pool
    await set_on_every_node(connection, "statement_timeout", "0")


async def forget_plans(connection: AsyncConnection) -> None:
    """Let Postgres plan the statements of this session anew, checks of foreign keys included.

    A plan that was made while a table was small may read all that an agent has in it. Postgres
    keeps it until the table is analyzed, and nobody analyzes what a long write has not committed.
    """
    driver = get_driver(connection)
    await driver.execute(b"DISCARD PLANS")


async def set_on_every_node(connection: AsyncConnection, setting: str, value: str) -> None:
    """Set a setting of Postgres until the end of the transaction, on each node of a cluster."""
    statement = "SELECT set_on_every_node(:setting, :value)"
    await fetch_rows(connection, statement, {"setting": setting, "value": value})


async def read_clock(connection: AsyncConnection) -> datetime:
    """Return the database's clock, which dates every write and every use."""
    [row] = await fetch_rows(connection, "SELECT clock_timestamp() AS now", {})
    now: datetime = row["now"]
    return now


async def is_read_only(connection: AsyncConnection) -> bool:
    """Return True for a standby, and for a database that an operator made read-only."""
    statement = "SELECT current_setting('transaction_read_only')::boolean AS is_read_only"
    [row] = await fetch_rows(connection, statement, {})
    return bool(row["is_read_only"])


@dataclass(frozen=True, slots=True)
class DriverSql:
    """A statement as Postgres takes it: `$1` stands for the parameter of the first of its names.

    A long statement with names would be parsed by psycopg each time.
    """

    text: bytes
    names: tuple[str, ...]

    def list_values(self, parameters: Mapping[str, Any]) -> list[Any]:
        return [parameters[name] for name in self.names]


@lru_cache(maxsize=512)
def to_driver_sql(statement: str) -> DriverSql:
    compiled = sa.text(statement).compile(dialect=_DIALECT)
    return DriverSql(str(compiled).encode(), tuple(compiled.positiontup or ()))


_DIALECT = PGDialect_psycopg(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]
