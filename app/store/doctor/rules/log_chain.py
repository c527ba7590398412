"""Rules of the log as a chain: the links between operations, and the end of the chain.

`planning/audit/log_chain_checks.py` compares each operation with its own hash.
"""

from app.domain.log_chain import START
from app.store.doctor.rules.rule import Rule

# The links of all operations, those in archives included, in their order.
_LINKS = """
    SELECT id, operation, created_at, previous_hash, hash
    FROM consolidation_log
    WHERE agent_id = :agent
    UNION ALL
    SELECT id, operation, created_at, previous_hash, hash
    FROM folded_operations
    WHERE agent_id = :agent AND archive_id IS NOT NULL
"""

# Find operations whose previous hash is not the hash of the operation before them.
_BROKEN_LINKS = f"""
    SELECT ARRAY[CAST(id AS text)] AS ids, id
    FROM (
        SELECT id, previous_hash, lag(hash) OVER (ORDER BY created_at, id) AS before
        FROM ({_LINKS}) AS links
    ) AS pairs
    WHERE previous_hash <> coalesce(before, decode('{START.hex()}', 'hex'))
"""

# Find operations without a hash after operations with one.
_UNLINKED_OPERATIONS = f"""
    SELECT ARRAY[CAST(id AS text)] AS ids, id
    FROM (
        SELECT id, hash, count(hash) OVER (ORDER BY created_at, id) AS linked_before
        FROM ({_LINKS}) AS links
    ) AS counted
    WHERE hash IS NULL AND linked_before > 0
"""

# Compare the last hash with the agent's row.
_WRONG_HEAD = f"""
    SELECT CAST('{{}}' AS text[]) AS ids
    FROM agents a
    WHERE a.agent_id = :agent AND a.log_head IS DISTINCT FROM (
        SELECT hash FROM ({_LINKS}) AS links ORDER BY created_at DESC, id DESC LIMIT 1
    )
"""

# Find operations that lost their salt, as erased ones do, although no erasure came after them.
_UNERASED_WITHOUT_SALT = f"""
    SELECT ARRAY[CAST(id AS text)] AS ids, id
    FROM consolidation_log
    WHERE agent_id = :agent AND hash IS NOT NULL AND content_salt IS NULL
      AND created_at >= coalesce(
          (SELECT max(created_at) FROM ({_LINKS}) AS links WHERE operation = 'ERASE'),
          '-infinity'
      )
"""

LOG_CHAIN = (
    Rule(
        "log_chain",
        "Operation {id} does not follow the operation before it in the log. An operation between "
        "them is missing, or one was added, changed or moved.",
        _BROKEN_LINKS,
    ),
    Rule(
        "log_chain",
        "Operation {id} has no hash, although operations before it have one. It was added past "
        "this service, or its hash was removed.",
        _UNLINKED_OPERATIONS,
    ),
    Rule(
        "log_chain",
        "The log does not end with the operation that the agent's row names as its last. "
        "Operations at its end are missing, or were added or changed.",
        _WRONG_HEAD,
    ),
    Rule(
        "log_chain",
        "Operation {id} is marked as one that lost words to an erasure, but no erasure came after "
        "it.",
        _UNERASED_WITHOUT_SALT,
    ),
)
