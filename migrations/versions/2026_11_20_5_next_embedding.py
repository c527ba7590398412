"""Where another model's vectors are made while the present ones are still read, and which model that is."""

from alembic import op

revision = "2026_11_20_5"
down_revision = "2026_11_20_4"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE memories ADD COLUMN embedding_next vector")
    op.execute("""
        ALTER TABLE encoder
            ADD COLUMN next_name text,
            ADD COLUMN next_dimensions integer CONSTRAINT encoder_next_dimensions_check CHECK (next_dimensions > 0),
            ADD CONSTRAINT encoder_next_check CHECK ((next_name IS NULL) = (next_dimensions IS NULL))
    """)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE encoder DROP COLUMN next_name, DROP COLUMN next_dimensions")
    op.execute("ALTER TABLE memories DROP COLUMN embedding_next")
