"""The sweep: what it has done so far, and the job library's own tables, in a schema of their own."""

from pathlib import Path

from alembic import op

revision = "2026_11_20_8"
down_revision = "2026_11_20_7"

# As the job library's version at the time made them; a later version of the library brings a migration of its own.
JOBS = Path(__file__).parent.parent / "job_library.sql"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("""
        CREATE TABLE sweeps (
            agent_id text NOT NULL CONSTRAINT sweeps_agent_fkey REFERENCES agents (agent_id),
            id uuid NOT NULL,
            status text NOT NULL CONSTRAINT sweeps_status_check CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled')),
            origin text NOT NULL CONSTRAINT sweeps_origin_check CHECK (origin IN ('store', 'request', 'schedule')),
            slot jsonb,
            slot_hash bytea,
            since timestamptz,
            dry_run boolean NOT NULL,
            total integer,
            examined integer NOT NULL,
            counts jsonb NOT NULL,
            findings jsonb NOT NULL,
            place uuid,
            runner uuid,
            alive_at timestamptz,
            failures integer NOT NULL,
            error text,
            created_at timestamptz NOT NULL,
            started_at timestamptz,
            finished_at timestamptz,
            PRIMARY KEY (agent_id, id)
        )
    """)
    op.execute("CREATE INDEX sweeps_created ON sweeps (agent_id, created_at, id)")
    op.execute(
        "CREATE INDEX sweeps_open ON sweeps (agent_id, id) WHERE status IN ('queued', 'running')"
    )
    op.execute("CREATE SCHEMA jobs")
    op.execute("SET LOCAL search_path TO jobs, public")
    op.get_bind().connection.cursor().execute(
        JOBS.read_text()
    )  # many statements at once: only the driver itself takes them
    op.execute("SET LOCAL search_path TO DEFAULT")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP SCHEMA jobs CASCADE")
    op.execute("DROP TABLE sweeps")
