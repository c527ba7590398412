"""`palimpsest serve` over the embedded Postgres."""

import signal
from pathlib import Path

import httpx
import psutil

from support.scripted_model import ScriptedModel
from support.scripted_vectors import embeds
from support.service_process import palimpsest, served


def postmaster(folder: Path) -> int | None:
    file = folder / "postgres" / "postmaster.pid"
    return int(file.read_text().splitlines()[0]) if file.exists() else None


def test_serve_starts_its_own_postgres_and_stops_it(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        assert (
            httpx.post(f"{service.address}/v1/memories", json={"content": "Has a dog"}).status_code
            == 201
        )
        pid = postmaster(tmp_path)
        assert pid is not None
        assert psutil.pid_exists(pid)
    assert postmaster(tmp_path) is None
    with served(tmp_path) as service:
        assert len(httpx.get(f"{service.address}/v1/memories").json()["items"]) == 1


def test_after_a_kill_the_next_start_takes_the_database_over(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        stored = httpx.post(f"{service.address}/v1/memories", json={"content": "Has a dog"}).json()[
            "memory"
        ]["id"]
        service.process.send_signal(signal.SIGKILL)
        service.process.wait(10)
        pid = postmaster(tmp_path)
    assert pid is not None
    assert psutil.pid_exists(pid), "Postgres outlives the service"
    with served(tmp_path) as service:
        assert postmaster(tmp_path) == pid
        assert httpx.get(f"{service.address}/v1/memories/{stored}").json()["content"] == "Has a dog"
        examined = palimpsest("doctor", PALIMPSEST_DATA_DIR=str(tmp_path))
        assert (examined.returncode, examined.stdout) == (
            0,
            "1 agent examined: everything holds.\n",
        ), examined.stderr
    assert postmaster(tmp_path) is None, "the takeover stops it in the end"


def test_workers_share_the_port_and_the_database_and_stay_small(tmp_path: Path) -> None:
    with served(tmp_path, "--workers", "2") as service:
        stored = httpx.post(f"{service.address}/v1/memories", json={"content": "Has a dog"}).json()[
            "memory"
        ]["id"]
        for _ in range(20):
            assert httpx.get(f"{service.address}/v1/memories/{stored}").status_code == 200
        services = [
            p
            for p in psutil.Process(service.process.pid).children(recursive=True)
            if "python" in p.name()
        ]
        resident = [p.memory_info().rss / 2**20 for p in services]
        assert max(resident) <= 300, "an idle service process stays under 300 MB"
    assert postmaster(tmp_path) is None


def test_reembed_joins_the_postgres_of_a_running_service_and_leaves_it_running(
    tmp_path: Path,
) -> None:
    with ScriptedModel(embeds(8)) as server, served(tmp_path) as service:
        assert (
            httpx.post(f"{service.address}/v1/memories", json={"content": "Has a dog"}).status_code
            == 201
        )
        remote = {
            "PALIMPSEST_EMBEDDING_BASE_URL": server.url,
            "PALIMPSEST_EMBEDDING_MODEL": "scripted",
            "PALIMPSEST_EMBEDDING_DIMENSIONS": "8",
        }
        changed = palimpsest("reembed", PALIMPSEST_DATA_DIR=str(tmp_path), **remote)
        assert "made by scripted/8 (8 dimensions) now" in changed.stdout, changed.stderr
        assert httpx.post(f"{service.address}/v1/search", json={"query": "dog"}).status_code == 503
        assert (
            httpx.get(f"{service.address}/v1/memories").json()["items"][0]["content"] == "Has a dog"
        )
    assert postmaster(tmp_path) is None
