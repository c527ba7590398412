"""F5: the primary of a replicated pair dies under load, and its standby takes over."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store import schema
from support.replication import Node, replicated_pair
from support.service_process import palimpsest, served
from support.writers import four_writers, is_ready, list_contents, wait_until


@pytest.fixture
def pair() -> Iterator[tuple[Node, Node]]:
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as name:
        Path(name).chmod(0o755)
        with replicated_pair(Path(name)) as nodes:
            yield nodes


def test_nothing_acknowledged_is_lost_when_the_standby_takes_over(
    pair: tuple[Node, Node], tmp_path: Path
) -> None:
    primary, standby = pair
    hosts = ",".join(f"127.0.0.1:{node.port}" for node in pair)
    url = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write"
    schema.migrate_database(url)
    with served(tmp_path, PALIMPSEST_DATABASE_URL=url) as service:
        with four_writers(service) as acknowledged:
            time.sleep(0.5)
            primary.kill()
            wait_until(lambda: not is_ready(service))
            standby.run("pg_ctl", "promote", "-w")
            wait_until(lambda: is_ready(service))
            before = standby.ask("SELECT count(*) FROM memories")
            wait_until(lambda: standby.ask("SELECT count(*) FROM memories") != before)
        assert acknowledged
        assert acknowledged <= list_contents(service)
    examined = palimpsest("doctor", PALIMPSEST_DATABASE_URL=url)
    assert examined.returncode == 0, examined.stderr
