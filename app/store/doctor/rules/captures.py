"""Rules of captures: what they point to, what is done, and what an erasure must have emptied."""

from app.store.doctor.rules.rule import Rule

# Find operations that captured facts name and that are neither in the log nor archived.
_MISSING_OPERATIONS = """
    SELECT ARRAY[CAST(c.id AS text), CAST(c.log_id AS text)] AS ids, c.id, c.log_id
    FROM captured_facts c
    WHERE c.agent_id = :agent AND c.log_id IS NOT NULL
      AND NOT EXISTS (
          SELECT FROM consolidation_log l WHERE l.agent_id = :agent AND l.id = c.log_id
      )
      AND NOT EXISTS (
          SELECT FROM folded_operations f
          WHERE f.agent_id = :agent AND f.id = c.log_id AND f.archive_id IS NOT NULL
      )
"""

# Find captures that are done although facts of a message are not read.
_DONE_TOO_EARLY = """
    SELECT DISTINCT ARRAY[CAST(c.id AS text)] AS ids, c.id
    FROM captures c
    JOIN turns t ON t.agent_id = :agent AND t.capture_id = c.id
    WHERE c.agent_id = :agent AND c.state = 'done' AND NOT t.done
"""

# Find captured facts that still have the words of an erased memory.
_FACTS_NOT_EMPTY = """
    SELECT ARRAY[CAST(c.id AS text), CAST(m.id AS text)] AS ids, c.id, m.id AS memory_id
    FROM captured_facts c
    JOIN memories m
      ON m.agent_id = :agent AND m.id = c.memory_id AND m.erased_at IS NOT NULL
    WHERE c.agent_id = :agent AND c.content IS NOT NULL
"""

# Find messages that still have the words from which an erased memory was read.
_TURNS_NOT_BLANK = """
    SELECT DISTINCT ARRAY[CAST(t.id AS text), CAST(m.id AS text)] AS ids, t.id, m.id AS memory_id
    FROM captured_facts c
    JOIN memories m
      ON m.agent_id = :agent AND m.id = c.memory_id AND m.erased_at IS NOT NULL
    CROSS JOIN LATERAL jsonb_to_recordset(c.quotes)
        AS q (turn_id uuid, "start" integer, "end" integer)
    JOIN turns t ON t.agent_id = :agent AND t.id = q.turn_id
    WHERE c.agent_id = :agent AND substr(t.content, q.start + 1, q.end - q.start) ~ '[^ ]'
"""

CAPTURES = (
    Rule(
        "captures",
        "Captured fact {id} names operation {log_id}, which is neither in the log nor archived.",
        _MISSING_OPERATIONS,
    ),
    Rule(
        "captures",
        "Capture {id} is done, but facts of a message are not read.",
        _DONE_TOO_EARLY,
    ),
    Rule(
        "erased",
        "Captured fact {id} still has the words of memory {memory_id}, which is erased.",
        _FACTS_NOT_EMPTY,
    ),
    Rule(
        "erased",
        "Message {id} still has the words that memory {memory_id}, which is erased, was read from.",
        _TURNS_NOT_BLANK,
    ),
)
