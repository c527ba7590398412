"""R13: what a service shows of itself, and what it leaves behind if it is killed."""

import signal
import subprocess
from pathlib import Path

import httpx

from support.service_process import Served, served


def list_metrics(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("palimpsest-metrics-*")}


def kill(service: Served) -> None:
    service.process.send_signal(signal.SIGKILL)
    service.process.wait(60)


def test_the_next_start_removes_the_metrics_of_a_service_that_was_killed(
    made_folder: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    for name in ("one", "two", "three"):
        subprocess.run(["cp", "-a", str(made_folder), str(tmp_path / name)], check=True)
    with served(tmp_path / "one", TMPDIR=str(temporary)) as service:
        kill(service)
    killed = list_metrics(temporary)
    assert killed
    with served(tmp_path / "two", TMPDIR=str(temporary)) as running:
        first = list_metrics(temporary)
        assert not first & killed
        with served(tmp_path / "three", TMPDIR=str(temporary)):
            assert first < list_metrics(temporary)  # that of a service that runs stays
        assert httpx.get(f"{running.address}/metrics").is_success
    assert list_metrics(temporary) == set()


def test_no_answer_names_what_serves_it(tmp_path: Path, database_url: str) -> None:
    with served(tmp_path, PALIMPSEST_DATABASE_URL=database_url) as service:
        for path in ("/livez", "/v1/memories", "/ui", "/nowhere"):
            assert "server" not in httpx.get(f"{service.address}{path}").headers
