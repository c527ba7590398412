"""The named pieces that SQL statements are made of, and the contract of the names in them.

A statement that uses these pieces keeps to this contract:

- `m` is a row of `memories`, `b` the belief about it that the statement reads, and `u` the
  counters in `memory_usage` that count at the moment of the read.
- `o` is another row of `memories`, `x` an earlier belief in `memory_beliefs`.
- `tie` is a link that binds, seen from `tie.memory_id` to `tie.other_id`; `e` is the memory at
  its other end, with its belief.
- `moment` is a CTE of one row, the point on both axes that the statement reads: `as_of` on valid
  time and `known_at` on known time. MOMENT writes it.
- Parameters have these names everywhere. `:agent` is the agent's id. `:as_of` and `:known_at` are
  the point that the caller named, NULL for now. `:used_by` is the time up to which uses count,
  NULL for all of them. `:half_life_<tier>_<kind>` is a half-life in days. `:limit` is the greatest
  number of rows. `:language` is the text search configuration. `:encoder` is the model of the
  caller's vectors.

Every table of a statement is narrowed by `agent_id = :agent` itself.
"""

from datetime import UTC, datetime

from app.store.columns import BELIEF_COLUMNS

# The known time of an agent that knows nothing yet. No operation is dated by it or earlier.
NEVER = datetime(1, 1, 1, tzinfo=UTC)
NEVER_SQL = "timestamptz '0001-01-01 00:00:00+00'"

AS_OF = "(SELECT as_of FROM moment)"
KNOWN_AT = "(SELECT known_at FROM moment)"

# The default on valid time is never earlier than the agent's last write. So the next read sees a
# write even if the clock went back. The default on known time is the last write that was seen.
MOMENT = """
    moment AS MATERIALIZED (
        SELECT
            coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
            coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
        FROM (SELECT clock_timestamp() AS now) AS clock,
            (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
    )
"""

# Lock the row of an agent that is there, as every write of the agent does first.
LOCK_AGENT = "SELECT FROM agents WHERE agent_id = :agent FOR UPDATE"

# The FROM of an UPDATE that needs the time. Citus refuses a function of the time in SET and WHERE.
CLOCK = "(SELECT clock_timestamp() AS now) AS clock"

# The same with the time at or before which a lease ran out that was renewed then.
CLOCK_AND_LEASE = """(
        SELECT clock_timestamp() AS now,
               clock_timestamp() - CAST(:lease AS interval) AS lease_end
    ) AS clock"""

MOMENT_COLUMNS = "moment.as_of AS moment_as_of, moment.known_at AS moment_known_at"


def build_stands(belief: str, at: str) -> str:
    """Return the predicate that a version holds at this time, or resumes after it."""
    return f"""
    {belief}valid_from <= {at}
    AND ({belief}valid_until IS NULL OR {belief}valid_until > {at})
"""


def build_holds(belief: str, at: str) -> str:
    """Return the one predicate of DESIGN §2: the belief holds at this time.

    `covered` has the moments at which the version is covered and resumes, in turn. So it is covered
    after an odd number of them. Most versions are never covered. That is said apart, because the
    planner would expect one in 200 to hold otherwise, and read an agent whole for a page of a list.
    """
    return f"""{build_stands(belief, at).rstrip()}
    AND ({belief}covered = '{{}}' OR width_bucket({at}, {belief}covered) % 2 = 0)
"""


STANDS = build_stands("b.", AS_OF)
HOLDS = build_holds("b.", AS_OF)

# A memory that holds now is never cold (app/store/log/retention.py). Postgres cannot know that: if
# a statement only looks at ends, it reads an agent's whole past. With this condition the index of
# warm rows is the cheapest.
WARM = "NOT m.cold"

# The slot of a memory holds one value at a time. `domain/fact` has the same rule. The names are
# unqualified, because indexes have the rule too; no other table of a statement has such columns.
ONE_VALUE = "slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS NOT false"


def list_belief_columns(row: str) -> str:
    """Return the columns of a belief, read from the row of this name."""
    return ", ".join(f"{row}.{name}" for name in BELIEF_COLUMNS)


def build_latest_source(memory: str, belief: str, table: str = "memories") -> str:
    """Return the FROM of memories, each with the latest belief about it.

    `table` is that of the memories, or a CTE with rows of it.
    """
    return f"""
        {table} {memory}
        CROSS JOIN LATERAL (SELECT {list_belief_columns(memory)}) AS {belief}
    """


def build_past_source(memory: str, belief: str, table: str = "memories") -> str:
    """Return the FROM of memories, each with the belief at the moment's known time.

    `table` is that of the memories, or a CTE with rows of it. A memory that was not known then is
    left out. The second half of the union is entered only for rows about which something else was
    believed then.
    """
    return f"""
        {table} {memory}
        JOIN LATERAL (
            SELECT {list_belief_columns(memory)}
            WHERE {memory}.known_from <= {KNOWN_AT}
            UNION ALL
            SELECT {list_belief_columns("x")}
            FROM memory_beliefs x
            WHERE {memory}.known_from > {KNOWN_AT}
                AND x.agent_id = :agent
                AND x.memory_id = {memory}.id
                AND x.known_from <= {KNOWN_AT}
                AND x.known_until > {KNOWN_AT}
        ) AS {belief} ON true
    """


def build_once_in_chain(chain: str) -> str:
    """Return the SELECT of the ids of the memories that stand or once stood in this chain.

    `chain` is the expression of its id. Only temporary versions change chains: the one that began
    this chain may have left it, and few others may.
    """
    return f"""
        SELECT y.id FROM memories y WHERE y.agent_id = :agent AND y.chain_id = {chain}
        UNION ALL SELECT {chain}
        UNION ALL
        SELECT x.memory_id FROM memory_beliefs x
        WHERE x.agent_id = :agent AND x.chain_id = {chain}
            AND x.temporary AND x.chain_id <> x.memory_id
    """


LATEST = build_latest_source("m", "b")
PAST = build_past_source("m", "b")
