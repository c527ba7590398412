"""The Helm chart: that it agrees with the code, and what it renders to, where there is a helm."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from app import __version__
from app.services.background_tasks import PATIENCE
from app.settings import Settings, load_settings

ROOT = Path(__file__).parents[1]
CHART = ROOT / "deploy" / "helm" / "palimpsest"
TOOLS = ROOT / ".venv-helm" / "bin"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA = Draft7Validator(json.loads((CHART / "values.schema.json").read_text()))

IMAGE = {"repository": "registry.example/palimpsest"}
SECRETS = {"palimpsest_database_url": "postgresql://a:'\"#@db/p", "palimpsest_api_key": 'k: "#{{'}
LEAST = {"image": IMAGE, "secret": {"existing": "memory"}}
WITH_VALUES = {"image": IMAGE, "secret": {"values": SECRETS}}
ALL = {
    "image": {**IMAGE, "digest": f"sha256:{'0' * 64}", "pullSecrets": ["pull"]},
    "secret": {"values": SECRETS},
    "migration": {"ownerUrl": "postgresql://owner@db/p"},
    "replicas": 3,
    "settings": {"PALIMPSEST_LLM_MODEL": "qwen3:8b"},
    "archiveClaim": "archive",
    "ingress": {
        "enabled": True,
        "host": "memory.example",
        "className": "nginx",
        "tlsSecret": "tls",
        "annotations": {"a/b": "c"},
    },
    "service": {"annotations": {"a/b": "c"}},
    "podAnnotations": {"a/b": "true"},
    "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}]},
}


def merge(values: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return the values with these changes, as helm merges files of values."""
    return values | {
        name: merge(values.get(name, {}), value) if isinstance(value, dict) else value
        for name, value in changes.items()
    }


# --- what is written down ------------------------------------------------------------------------


def test_the_chart_has_the_version_of_the_service() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


def test_every_setting_named_is_one_that_is_read() -> None:
    texts = [path.read_text() for path in CHART.rglob("*") if path.is_file()]
    named = {
        name.lower() for text in texts for name in re.findall(r"palimpsest_[a-z]\w+", text, re.I)
    }
    assert named <= {f"palimpsest_{field}" for field in Settings.model_fields} | {"palimpsest_…"}
    assert "palimpsest_shutdown_delay" in named


def test_a_pod_is_left_the_time_that_it_takes_to_end() -> None:
    chosen = {name.removeprefix("PALIMPSEST_").lower(): v for name, v in VALUES["settings"].items()}
    settings = load_settings(host="127.0.0.1", **chosen)
    needed = settings.shutdown_delay + settings.shutdown_timeout + PATIENCE
    assert VALUES["terminationGracePeriodSeconds"] >= needed


def test_the_user_is_that_of_the_image() -> None:
    user = re.search(r"^USER (\d+):(\d+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert user
    helpers = (CHART / "templates" / "_helpers.tpl").read_text()
    assert set(re.findall(r"(?:runAsUser|runAsGroup|fsGroup): (\d+)", helpers)) == {*user.groups()}


@pytest.mark.parametrize("changes", [LEAST, WITH_VALUES, ALL], ids=["least", "values", "all"])
def test_the_schema_takes_values_that_work(changes: dict[str, Any]) -> None:
    assert [error.message for error in SCHEMA.iter_errors(merge(VALUES, changes))] == []


REFUSED: dict[str, dict[str, Any]] = {
    "no image": {"secret": {"existing": "memory"}},
    "no database": {"image": IMAGE},
    "no key": {
        "image": IMAGE,
        "secret": {"values": {"palimpsest_database_url": "postgresql://db/p"}},
    },
    "two secrets": {"image": IMAGE, "secret": {"existing": "memory", "values": SECRETS}},
    "a misspelt value": {**LEAST, "replica": 2},
    "a number as a setting": {**LEAST, "settings": {"PALIMPSEST_WORKERS": 2}},
    "a setting in small letters": {**LEAST, "settings": {"palimpsest_workers": "2"}},
    "a tag as a digest": {**LEAST, "image": {**IMAGE, "digest": "latest"}},
    "an ingress for no host": {**LEAST, "ingress": {"enabled": True}},
    "two owners": {
        **LEAST,
        "migration": {"existingSecret": "owner", "ownerUrl": "postgresql://db/p"},
    },
}


@pytest.mark.parametrize("changes", REFUSED.values(), ids=REFUSED)
def test_the_schema_refuses_values_that_cannot_work(changes: dict[str, Any]) -> None:
    assert not SCHEMA.is_valid(merge(VALUES, changes))


# --- what helm makes of it -----------------------------------------------------------------------


def find_tool(name: str) -> str:
    found = shutil.which(name, path=f"{TOOLS}{os.pathsep}{os.environ['PATH']}")
    return found or pytest.skip(f"there is no {name}: `make test-helm` installs it")


def run_helm(
    tmp_path: Path, values: dict[str, Any], *words: str
) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    homes = {
        name: str(tmp_path) for name in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME")
    }
    return subprocess.run(
        [find_tool("helm"), *words, str(CHART), "--values", str(file)],
        env={**os.environ, **homes},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def render(tmp_path: Path, values: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the objects by kind and name."""
    done = run_helm(tmp_path, values, "template", "memory")
    assert done.returncode == 0, done.stderr
    objects = list(yaml.safe_load_all(done.stdout))
    return {(one["kind"], one["metadata"]["name"]): one for one in objects}


def get_pod(rendered: dict[tuple[str, str], dict[str, Any]], kind: str, component: str) -> Any:
    return rendered[kind, f"memory-palimpsest-{component}"]["spec"]["template"]["spec"]


@pytest.mark.parametrize("values", [LEAST, WITH_VALUES, ALL], ids=["least", "values", "all"])
def test_what_is_rendered_is_valid(tmp_path: Path, values: dict[str, Any]) -> None:
    linted = run_helm(tmp_path, values, "lint", "--strict")
    assert linted.returncode == 0, linted.stdout
    rendered = run_helm(tmp_path, values, "template", "memory")
    assert rendered.returncode == 0, rendered.stderr
    (tmp_path / "rendered.yaml").write_text(rendered.stdout)
    checked = subprocess.run(
        [find_tool("kubernetes-validate"), "--strict", str(tmp_path / "rendered.yaml")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_nothing_is_rendered_without_an_image_and_a_database(tmp_path: Path) -> None:
    refused = run_helm(tmp_path, {}, "template", "memory")
    assert refused.returncode != 0
    assert "/image/repository" in refused.stderr
    assert "palimpsest_database_url" in refused.stderr


def test_every_pod_is_confined(tmp_path: Path) -> None:
    rendered = render(tmp_path, ALL)
    for kind, component in (("Deployment", "serve"), ("Deployment", "worker"), ("Job", "migrate")):
        pod = get_pod(rendered, kind, component)
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False, "PALIMPSEST_PORT would be an address"
        [container] = pod["containers"]
        assert container["args"] == [component]
        assert container["securityContext"] == {
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]
        assert container["image"].endswith(f"@sha256:{'0' * 64}")
        assert {mount["mountPath"] for mount in container["volumeMounts"]} == {
            "/run/secrets/palimpsest",
            "/tmp",
            "/data",
            "/archive",
        }


def test_only_the_migration_knows_the_owner(tmp_path: Path) -> None:
    rendered = render(tmp_path, ALL)
    knowing = {name for name, one in rendered.items() if "owner@db" in json.dumps(one)}
    assert knowing == {("Secret", "memory-palimpsest-migrate")}
    hook = rendered["Secret", "memory-palimpsest-migrate"]["metadata"]["annotations"]
    job = rendered["Job", "memory-palimpsest-migrate"]["metadata"]["annotations"]
    assert int(hook["helm.sh/hook-weight"]) < int(job.get("helm.sh/hook-weight", "0"))
    for annotations in (hook, job):
        assert annotations["helm.sh/hook"] == "pre-install,pre-upgrade"
        assert "hook-succeeded" in annotations["helm.sh/hook-delete-policy"]
    named = merge(LEAST, {"migration": {"existingSecret": "owner"}})
    rendered = render(tmp_path, named)
    secrets = {
        component: get_pod(rendered, kind, component)["volumes"][0]["secret"]["secretName"]
        for kind, component in (
            ("Deployment", "serve"),
            ("Deployment", "worker"),
            ("Job", "migrate"),
        )
    }
    assert secrets == {"serve": "memory", "worker": "memory", "migrate": "owner"}
    mixed = run_helm(tmp_path, merge(LEAST, {"migration": {"ownerUrl": "x"}}), "template", "memory")
    assert "goes with secret.values" in mixed.stderr


def test_secrets_come_through_as_they_are_and_are_in_no_other_object(tmp_path: Path) -> None:
    rendered = render(tmp_path, WITH_VALUES)
    assert rendered["Secret", "memory-palimpsest"]["stringData"] == SECRETS
    others = [one for (kind, _), one in rendered.items() if kind != "Secret"]
    assert SECRETS["palimpsest_api_key"] not in str(others)


def test_the_service_and_the_probes_reach_the_container(tmp_path: Path) -> None:
    rendered = render(tmp_path, ALL)
    service = rendered["Service", "memory-palimpsest"]["spec"]
    labels = {
        component: rendered["Deployment", f"memory-palimpsest-{component}"]["spec"]["template"][
            "metadata"
        ]["labels"]
        for component in ("serve", "worker")
    }
    assert service["selector"].items() <= labels["serve"].items()
    assert not service["selector"].items() <= labels["worker"].items()
    [container] = get_pod(rendered, "Deployment", "serve")["containers"]
    [port] = container["ports"]
    assert service["ports"][0]["targetPort"] == port["name"]
    assert f"PALIMPSEST_PORT={port['containerPort']}\n" in (ROOT / "Dockerfile").read_text()
    probes = {
        name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")
    }
    assert {name: probe["path"] for name, probe in probes.items()} == {
        "startup": "/livez",
        "liveness": "/livez",
        "readiness": "/readyz",
    }
    assert {probe["port"] for probe in probes.values()} == {port["name"]}
    [rule] = rendered["Ingress", "memory-palimpsest"]["spec"]["rules"]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert backend == {"name": "memory-palimpsest", "port": {"name": "http"}}
