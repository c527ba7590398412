"""What erase leaves: rows without text, hashes or vector, and when an agent last erased."""

from alembic import op

revision = "2026_11_20_3"
down_revision = "2026_11_20_2"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE agents ADD COLUMN last_erased_at timestamptz")
    op.execute("""
        ALTER TABLE memories
            ADD COLUMN erased_at timestamptz,
            ALTER COLUMN embedding DROP NOT NULL,
            DROP CONSTRAINT memories_content_check,
            ADD CONSTRAINT memories_erased_check CHECK ((erased_at IS NULL) = (content <> ''))
    """)


def downgrade() -> None:
    """What was erased stays erased: those rows say so in place of their text, and lie in no direction."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE memories DROP CONSTRAINT memories_erased_check")
    op.execute("""
        UPDATE memories SET content = '(erased)', embedding = (SELECT array_fill(1, ARRAY[dimensions])::vector FROM encoder)
        WHERE erased_at IS NOT NULL
    """)
    op.execute("""
        ALTER TABLE memories
            DROP COLUMN erased_at,
            ALTER COLUMN embedding SET NOT NULL,
            ADD CONSTRAINT memories_content_check CHECK (content <> '')
    """)
    op.execute("ALTER TABLE agents DROP COLUMN last_erased_at")
