"""Messages are read by a network where rules read them, and what they skip is called anew.

Thanks and greetings are small talk, and what is only supposed counts as a wish.
"""

from alembic import op

revision = "2026_11_28_b"
down_revision = "2026_11_28_a"

CHECKS = {"extract": "captures_extract", "extractor": "captures_extractor_check"}


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    _rename_reader("rules", "network")
    _rename_reason("politeness", "small_talk")
    _rename_reason("hypothetical", "wish")


def downgrade() -> None:
    """What only the network tells becomes the nearest that the rules told."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    _rename_reader("network", "rules")
    _rename_reason("small_talk", "politeness")
    _rename_reason("event", "no_statement")


def _rename_reader(old: str, new: str) -> None:
    # Forced row-level security hides the rows from their owner too.
    op.execute("ALTER TABLE captures NO FORCE ROW LEVEL SECURITY")
    for column, check in CHECKS.items():
        op.execute(f"ALTER TABLE captures DROP CONSTRAINT {check}")
        op.execute(f"UPDATE captures SET {column} = '{new}' WHERE {column} = '{old}'")
        op.execute(
            f"ALTER TABLE captures ADD CONSTRAINT {check} "
            f"CHECK ({column} IN ('{new}', 'model', 'off'))"
        )
    op.execute("ALTER TABLE captures FORCE ROW LEVEL SECURITY")


def _rename_reason(old: str, new: str) -> None:
    op.execute("ALTER TABLE turns NO FORCE ROW LEVEL SECURITY")
    op.execute(
        f"""
        UPDATE turns SET skipped = (
            SELECT jsonb_agg(
                CASE WHEN span ->> 'reason' = '{old}'
                THEN jsonb_set(span, '{{reason}}', '"{new}"') ELSE span END
                ORDER BY place
            )
            FROM jsonb_array_elements(skipped) WITH ORDINALITY AS spans (span, place)
        )
        WHERE skipped @> '[{{"reason": "{old}"}}]'
        """
    )
    op.execute("ALTER TABLE turns FORCE ROW LEVEL SECURITY")
