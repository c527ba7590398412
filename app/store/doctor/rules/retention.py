"""Rules of retention: cold memories, operations that left the log, and their checkpoints."""

from app.planning.audit.faults import Remedy, RemedyTable
from app.store.doctor.rules.rule import Rule

# Find cold memories that hold or will hold.
_COLD_BUT_HOLDING = """
    SELECT ARRAY[CAST(id AS text)] AS ids, id
    FROM memories
    WHERE agent_id = :agent AND cold
      AND (valid_until IS NULL OR valid_until > clock_timestamp())
"""

# Compare the last folded operation with the agent's row.
_WRONG_FOLDED_UNTIL = """
    SELECT CAST('{}' AS text[]) AS ids, f.told, a.log_folded_until AS stated
    FROM agents a
    CROSS JOIN LATERAL (
        SELECT max(created_at) AS told FROM folded_operations WHERE agent_id = :agent
    ) AS f
    WHERE a.agent_id = :agent AND f.told IS DISTINCT FROM a.log_folded_until
"""

# Find operations in the log that are older than its checkpoints and not noted as staying there.
_UNNOTED_OPERATIONS = """
    SELECT ARRAY[CAST(l.id AS text)] AS ids, l.id
    FROM consolidation_log l
    JOIN agents a ON a.agent_id = :agent
    WHERE l.agent_id = :agent AND l.created_at <= a.log_folded_until AND NOT EXISTS (
        SELECT FROM folded_operations f
        WHERE f.agent_id = :agent AND f.id = l.id AND f.archive_id IS NULL
    )
"""

# Find operations that are noted as staying in the log and are not there.
_LOST_OPERATIONS = """
    SELECT ARRAY[CAST(f.id AS text)] AS ids, f.id
    FROM folded_operations f
    WHERE f.agent_id = :agent AND f.archive_id IS NULL AND NOT EXISTS (
        SELECT FROM consolidation_log l WHERE l.agent_id = :agent AND l.id = f.id
    )
"""

# Compare the number of operations of each archive with those that are noted.
_WRONG_ARCHIVE_SIZE = """
    SELECT ARRAY[CAST(a.id AS text)] AS ids, a.id, a.operations AS stated, f.known
    FROM log_archives a
    CROSS JOIN LATERAL (
        SELECT count(*) AS known
        FROM folded_operations
        WHERE agent_id = :agent AND archive_id = a.id
    ) AS f
    WHERE a.agent_id = :agent AND a.operations <> f.known
"""

# Find ids of memories in folded operations that are no memory of the agent.
_MISSING_IN_FOLDED = """
    SELECT ARRAY[CAST(f.id AS text), CAST(ref AS text)] AS ids, f.id, ref
    FROM folded_operations f
    CROSS JOIN LATERAL unnest(f.memory_ids) AS ref
    WHERE f.agent_id = :agent AND NOT EXISTS (
        SELECT FROM memories m WHERE m.agent_id = :agent AND m.id = ref
    )
"""

# Find checkpoints of erased memories with hashes of words.
_SEALED_BUT_ERASED = """
    SELECT ARRAY[CAST(m.id AS text)] AS ids, m.id
    FROM log_checkpoints c
    JOIN memories m ON m.agent_id = :agent AND m.id = c.memory_id
    WHERE c.agent_id = :agent AND m.erased_at IS NOT NULL AND c.sealed <> '{}'
"""

RETENTION = (
    Rule(
        check="cold",
        sentence="Memory {id} is kept out of plain reads as past, but it holds, or will.",
        statement=_COLD_BUT_HOLDING,
        remedy=lambda row: Remedy(RemedyTable.MEMORY, row["id"], {"cold": False}),
    ),
    Rule(
        check="archives",
        sentence="The checkpoints of the log tell of operations up to {told}; the agent's row "
        "says up to {stated}.",
        statement=_WRONG_FOLDED_UNTIL,
        remedy=lambda row: Remedy(RemedyTable.AGENT, None, {"log_folded_until": row["told"]}),
    ),
    Rule(
        "archives",
        "Operation {id} is older than the checkpoints of the log, which do not know that it was "
        "kept.",
        _UNNOTED_OPERATIONS,
    ),
    Rule(
        "archives",
        "Operation {id} was kept in the log, but is not there.",
        _LOST_OPERATIONS,
    ),
    Rule(
        "archives",
        "Archive {id} was made of {stated} operations; {known} are known to be in it.",
        _WRONG_ARCHIVE_SIZE,
    ),
    Rule(
        "archives",
        "Operation {id}, which was archived, names memory {ref}, which this agent does not have.",
        _MISSING_IN_FOLDED,
    ),
    Rule(
        "erased",
        "The checkpoint of memory {id}, which is erased, still holds hashes of its words.",
        _SEALED_BUT_ERASED,
    ),
)
