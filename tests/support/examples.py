"""The examples of the adapters' READMEs, run with a scripted model as an agent nobody else is."""

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

CLIENTS = Path(__file__).parents[2] / "clients"
SCRIPT = "SCRIPT"  # the name of the scripted model


def read_example(adapter: str, agent: str) -> str:
    """Return the example of a README, for this agent and the model of the name SCRIPT."""
    text = (CLIENTS / adapter / "README.md").read_text()
    [code] = re.findall(r"```(?:python|js)\n(.*?)```", text, re.DOTALL)
    code = code.replace('"ada"', f'"{agent}"')
    code, models = re.subn(r"(?m)^((?:const )?MODEL = ).*$", rf"\1{SCRIPT}", code)
    assert models == 1
    return code


def run_example(adapter: str, model: Any, service: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the example of a README, and return the agent whose memory it used."""
    agent = f"{adapter}-{uuid4().hex}"
    monkeypatch.setenv("PALIMPSEST_URL", service)
    exec(read_example(adapter, agent), {SCRIPT: model, "__name__": "example"})
    return agent
