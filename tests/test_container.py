"""The image and the compose file: that they agree with the code, and, where a Docker engine answers, what a container does."""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address, ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import yaml

from app.jobs.worker import SHUTDOWN_GRACE
from app.services.background_tasks import PATIENCE
from app.settings import Settings, load_settings
from support.containers import POSTGRES_IMAGE, need_docker_engine

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = (ROOT / "docker-compose.yml").read_text()
CITUS_COMPOSE = (ROOT / "docker-compose.citus.yml").read_text()
KEY = "a-key-of-the-tests-0123456789abcdef"
NODES = ("node-1", "node-2")


def service(name: str) -> dict[str, Any]:
    described: dict[str, Any] = yaml.safe_load(COMPOSE)["services"][name]
    return described


def cluster_service(name: str) -> dict[str, Any]:
    described: dict[str, Any] = yaml.safe_load(CITUS_COMPOSE)["services"][name]
    return described


# --- what is written down ----------------------------------------------------------------------------------------------


def test_both_stages_start_from_one_pinned_image() -> None:
    assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) == {"${PYTHON_IMAGE}"}
    [image] = re.findall(r"^ARG PYTHON_IMAGE=(.+)$", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"python:3\.\d+-slim-[a-z]+@sha256:[0-9a-f]{64}", image)
    assert service("palimpsest")["build"]["args"] == {"PYTHON_IMAGE": f"${{PYTHON_IMAGE:-{image}}}"}


def test_every_image_is_pinned_by_its_digest() -> None:
    for name in yaml.safe_load(COMPOSE)["services"]:
        image = service(name)["image"]
        assert image == "palimpsest" or re.search(r"@sha256:[0-9a-f]{64}\}$", image), image


def test_compose_waits_until_what_is_under_way_has_ended() -> None:
    grace = {
        name: float(described.get("stop_grace_period", "10s").removesuffix("s"))
        for name, described in yaml.safe_load(COMPOSE)["services"].items()
    }
    serving = load_settings(host="127.0.0.1")
    needed = serving.shutdown_delay + serving.shutdown_timeout + PATIENCE
    assert grace["palimpsest"] >= needed
    assert grace["worker"] >= SHUTDOWN_GRACE + PATIENCE
    assert grace["postgres"] >= grace["palimpsest"]


def test_the_libraries_are_those_of_the_lock_with_their_hashes() -> None:
    installs = re.findall(
        r"pip (?:--python \S+ )?install (.*?)(?= \\$| &&|$)", DOCKERFILE, re.MULTILINE
    )
    assert len(installs) == 4
    assert all(
        "--no-deps --require-hashes -r requirements" in words or words.endswith("/wheel/*.whl")
        for words in installs
    )


def test_what_the_wheel_is_made_of_is_let_into_the_build() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {
        *wheel["packages"],
        *wheel["force-include"],
        project["project"]["readme"],
        "pyproject.toml",
        "requirements/service.lock",
    }
    let_in = [
        line[1:]
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    ]
    assert {
        name for name in needed if not any(fnmatch.fnmatch(name, pattern) for pattern in let_in)
    } == set()
    assert all((ROOT / name).exists() for name in let_in)


def test_every_setting_named_is_one_that_is_read() -> None:
    named = set(re.findall(r"\bPALIMPSEST_[A-Z_]+", DOCKERFILE + COMPOSE + CITUS_COMPOSE))
    assert named <= {f"PALIMPSEST_{field.upper()}" for field in Settings.model_fields}


def test_every_secret_is_asked_for_and_shown_in_the_example() -> None:
    secrets = dict(re.findall(r"\$\{(\w+):(\?[^}]*)\}", COMPOSE))
    example = dict(re.findall(r"^(\w+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert sorted(secrets) == sorted(example)
    assert not any(example.values()), "a copy that nobody filled in must not start with known keys"
    assert sorted(secrets) == ["PALIMPSEST_API_KEY", "POSTGRES_PASSWORD", "SERVICE_PASSWORD"]
    passed_on = [
        pair
        for name in ("palimpsest", "migrate", "worker", "postgres")
        for pair in service(name)["environment"].items()
    ]
    assert all(
        value.startswith("${") for name, value in passed_on if name.endswith(("PASSWORD", "KEY"))
    )


def test_only_postgres_and_the_migration_know_the_owner() -> None:
    for name in ("palimpsest", "worker"):
        told = service(name)["environment"]
        assert "PALIMPSEST_OWNER_URL" not in told
        assert "POSTGRES_PASSWORD" not in str(told)
        assert "palimpsest_login@" in told["PALIMPSEST_DATABASE_URL"]
    waits_for = service("palimpsest")["depends_on"]["migrate"]
    assert waits_for["condition"] == "service_completed_successfully"


def test_the_service_is_confined_and_only_this_machine_reaches_it() -> None:
    for name in ("palimpsest", "migrate", "worker", "postgres"):
        described = service(name)
        assert described["read_only"] is True
        assert described["cap_drop"] == ["ALL"]
        assert described["security_opt"] == ["no-new-privileges:true"]
        assert {"mem_limit", "pids_limit"} <= described.keys()
    assert all(port.startswith("127.0.0.1:") for port in service("palimpsest")["ports"])
    assert not {"ports"} & {*service("postgres"), *service("migrate"), *service("worker")}


def test_the_database_is_the_one_tested_with_and_its_volume_holds_what_it_writes() -> None:
    postgres = service("postgres")
    assert postgres["image"] == f"${{POSTGRES_IMAGE:-{POSTGRES_IMAGE}}}"
    assert postgres["volumes"] == ["postgres:/var/lib/postgresql"], (
        "from 18 on the data lies in a folder below"
    )
    assert "postgres" in yaml.safe_load(COMPOSE)["volumes"]
    assert service("palimpsest")["depends_on"]["postgres"]["condition"] == "service_healthy"


def test_the_nodes_of_a_cluster_are_confined() -> None:
    for name in (*NODES, "extend", "distribute"):
        described = cluster_service(name)
        assert described["read_only"] is True
        assert described["cap_drop"] == ["ALL"]
        assert described["security_opt"] == ["no-new-privileges:true"]
        assert {"mem_limit", "pids_limit"} <= described.keys()
        assert "ports" not in described


def test_nodes_trust_nobody_but_nodes() -> None:
    text = CITUS_COMPOSE.replace("${NODES_NETWORK:-10.213.0}", "10.213.0")
    described = yaml.safe_load(text)
    services = described["services"]
    others = ip_network(described["networks"]["nodes"]["ipam"]["config"][0]["ip_range"])
    assert described["networks"]["nodes"]["internal"] is True
    for name in ("postgres", *NODES):
        node = services[name]
        rules = re.search(r"<<'RULES'\n(.*?)RULES\n", node["entrypoint"][2], re.DOTALL)
        assert rules
        remote = [line.split()[3:] for line in rules[1].splitlines() if line.startswith("host ")]
        [trusted] = [
            ip_network(address)
            for address, method in remote
            if method == "trust" and not ip_network(address).is_loopback
        ]
        assert remote[-1] == ["all", "scram-sha-256"]
        assert ip_address(node["networks"]["nodes"]["ipv4_address"]) in trusted
        assert not trusted.overlaps(others)
        assert "--hba-file=/tmp/pg_hba.conf" in node["command"]
        assert "POSTGRES_HOST_AUTH_METHOD" not in node.get("environment", {})
    assert services["extend"]["networks"] == ["nodes"], "an address out of the others' range"
    assert "networks" not in services["palimpsest"], "the coordinator alone is reached"


def test_a_cluster_serves_when_its_tables_are_spread() -> None:
    distribute = cluster_service("distribute")
    words = distribute["command"]
    assert [word for flag, word in pairwise(words) if flag == "--worker"] == [
        f"{name}:5432" for name in NODES
    ]
    for name, needed in (("palimpsest", "distribute"), ("distribute", "migrate")):
        waits_for = cluster_service(name)["depends_on"][needed]
        assert waits_for["condition"] == "service_completed_successfully"
    assert {cluster_service(name)["volumes"][0] for name in NODES} == {
        f"{name}:/var/lib/postgresql" for name in NODES
    }


def test_a_cluster_starts_again() -> None:
    """A node that the coordinator knows refuses CREATE EXTENSION, whether it has it or not."""
    script = cluster_service("extend")["entrypoint"][2]
    assert script.count("CREATE EXTENSION") == 1
    assert "WHERE NOT EXISTS (SELECT FROM pg_extension" in script


def test_the_user_of_the_image_may_look_into_its_home() -> None:
    user = re.search(r"^USER (\d+):(\d+)$", DOCKERFILE, re.MULTILINE)
    assert user
    home = f"/data:uid={user[1]},gid={user[2]},mode=0700"
    for described in (
        *map(service, ("palimpsest", "migrate", "worker")),
        cluster_service("distribute"),
    ):
        assert described["tmpfs"] == ["/tmp", home]


def test_nothing_but_the_service_and_its_worker_reaches_the_database() -> None:
    networks = yaml.safe_load(COMPOSE)["networks"]
    assert networks["database"] == {"internal": True}
    assert service("postgres")["networks"] == ["database"]


def test_a_build_may_pin_its_images_by_digest() -> None:
    default = re.search(r"^ARG PYTHON_IMAGE=(\S+)$", DOCKERFILE, re.MULTILINE)
    assert default
    arguments = service("palimpsest")["build"]["args"]
    assert arguments == {"PYTHON_IMAGE": f"${{PYTHON_IMAGE:-{default[1]}}}"}


def test_the_image_holds_a_list_of_what_it_is_made_of() -> None:
    made = re.search(r"cyclonedx-py environment /opt/venv .*?--output-file (\S+)", DOCKERFILE, re.S)
    assert made
    assert made[1].startswith("/opt/app/"), "what is copied into the image"


# --- what a container does ---------------------------------------------------------------------------------------------


def docker(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DOCKER_BUILDKIT": "1"}
    done = subprocess.run(
        ["docker", *words],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env=environment,
    )
    assert not check or done.returncode == 0, (
        f"docker {words[0]}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    )
    return done


@pytest.fixture(scope="module")
def base() -> str:
    """The image to build on: PALIMPSEST_TEST_PYTHON_IMAGE, or that of the Dockerfile."""
    if not os.environ.get("PALIMPSEST_TEST_DOCKER"):
        pytest.skip("`make test-docker` asks for containers")
    need_docker_engine()
    if not shutil.which("docker"):
        pytest.skip("no docker command: an engine alone does not build")
    default = re.search(r"^ARG PYTHON_IMAGE=(\S+)$", DOCKERFILE, re.MULTILINE)
    assert default
    name = os.environ.get("PALIMPSEST_TEST_PYTHON_IMAGE", default[1])
    if (
        docker("image", "inspect", name, check=False).returncode
        and (pull := docker("pull", name, check=False)).returncode
    ):
        pytest.skip(f"no base image {name}: {pull.stderr.strip()}")
    return name


@contextmanager
def built(base: str, *options: str) -> Iterator[str]:
    """Builds an image, which is removed in the end; its name."""
    name = f"palimpsest-test-{uuid4().hex[:8]}"
    argument = f"PYTHON_IMAGE={base}"
    docker("build", "--build-arg", argument, *options, "--tag", name, str(ROOT))
    yield name
    docker("image", "rm", "--force", name)


@pytest.fixture(scope="module")
def image(base: str) -> Iterator[str]:
    with built(base) as name:
        yield name


@pytest.fixture
def run(image: str) -> Iterator[Callable[..., str]]:
    """Starts a container of the image on a volume of the test's own, confined as the compose file does it; returns its name."""
    volume, started = f"palimpsest-test-{uuid4().hex[:8]}", []

    def start(*words: str) -> str:
        started.append(f"{volume}-{len(started)}")
        confined = (
            "--read-only",
            "--tmpfs",
            "/tmp",
            "--cap-drop",
            "ALL",
            "--security-opt",
            "no-new-privileges",
        )
        published = ("--volume", f"{volume}:/data", "--publish", "127.0.0.1::8000")
        docker(
            "run",
            "--detach",
            "--name",
            started[-1],
            *confined,
            *published,
            "--env",
            f"PALIMPSEST_API_KEY={KEY}",
            image,
            *words,
        )
        return started[-1]

    yield start
    for container in started:
        docker("rm", "--force", "--volumes", container)
    docker("volume", "rm", "--force", volume)


@contextmanager
def ready(container: str) -> Iterator[httpx.Client]:
    """A client of the container, which is ready."""
    for _ in range(600):
        assert state(container, "Running") == "true", docker("logs", container).stderr
        if answers(address := f"http://{docker('port', container, '8000').stdout.split()[0]}"):
            break
        time.sleep(0.1)
    with httpx.Client(base_url=address, headers={"X-API-Key": KEY}, timeout=60) as client:
        yield client


def answers(address: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{address}/readyz").is_success
    return False


def state(container: str, what: str) -> str:
    return docker("inspect", "--format", f"{{{{.State.{what}}}}}", container).stdout.strip()


def contents(container: str) -> list[str]:
    with ready(container) as client:
        return [memory["content"] for memory in client.get("/v1/memories").json()["items"]]


def test_alone_it_keeps_what_it_was_told_over_a_stop_and_over_a_kill(
    run: Callable[..., str],
) -> None:
    container = run()
    with ready(container) as client:
        assert client.post("/v1/memories", json={"content": "Büro in Łódź"}).status_code == 201
    docker("stop", "--time", "30", container)
    assert state(container, "ExitCode") == "0"
    docker("start", container)
    assert contents(container) == ["Büro in Łódź"]
    docker("kill", "--signal", "KILL", container)
    docker("start", container)
    assert contents(container) == ["Büro in Łódź"]
    assert docker("diff", container).stdout == "", "nothing but the volume was written"


def test_the_embedded_postgres_knows_the_letters_of_other_languages(
    run: Callable[..., str],
) -> None:
    with ready(run()) as client:
        client.post("/v1/memories", json={"content": "ÜBERGABE DER ÄMTER"})
        found = client.post("/v1/search", json={"query": "übergabe", "mode": "text"}).json()[
            "results"
        ]
    assert found[0]["scores"]["text"], "as a word, whatever its case"


def test_its_health_is_that_of_readyz(run: Callable[..., str]) -> None:
    container = run()
    for _ in range(120):
        if state(container, "Health.Status") != "starting":
            break
        time.sleep(0.5)
    assert state(container, "Health.Status") == "healthy"


def test_a_second_container_does_not_serve_the_same_volume(run: Callable[..., str]) -> None:
    first = run()
    assert contents(first) == []
    second = run()
    assert docker("wait", second).stdout.strip() == "1"
    said = docker("logs", second).stderr
    assert said.count("\n") == 1
    assert "in use by a process that cannot be seen" in said
    assert contents(first) == []


def test_without_a_key_it_refuses_in_one_line(image: str) -> None:
    refused = docker("run", "--rm", image, check=False)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert "PALIMPSEST_API_KEY" in refused.stderr


def test_it_is_nobody_special_and_holds_no_tools_to_build_with(image: str) -> None:
    tools = "id -u; command -v pip gcc cc make ld git curl; python -c 'import pip' 2>&1 | tail -1"
    writable = "find / -xdev -writable -type f 2>/dev/null"
    said = docker(
        "run", "--rm", "--entrypoint", "sh", image, "-c", f"{tools}; {writable} || true"
    ).stdout.splitlines()
    assert said == ["10001", "ModuleNotFoundError: No module named 'pip'"]


def test_two_builds_have_the_same_layers(base: str, image: str) -> None:
    with built(base, "--no-cache") as another:
        layers = [
            json.loads(docker("inspect", "--format", "{{json .RootFS.Layers}}", name).stdout)
            for name in (image, another)
        ]
    # Docker marks what was removed of the base with the date of the build: in one small layer.
    differing = [pair for pair in zip(*layers, strict=True) if pair[0] != pair[1]]
    assert len(differing) <= 1
