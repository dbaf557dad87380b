"""What the collectors say, held against the first request the real programs made with the same files and variables."""

import importlib
import json
from pathlib import Path

import pytest

from doctor.facts.record import known
from doctor.secrets import Vault

from .homes import Home, collected

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "clients"
MODULES = {
    "codex": "codex",
    "opencode": "opencode",
    "qwen-code": "qwen_code",
    "cline": "cline",
    "continue": "continue_dev",
    "gemini-cli": "gemini_cli",
    "pi": "pi_agent",
    "copilot-cli": "copilot_cli",
}
CASES = [
    (folder, module, case)
    for folder, module in MODULES.items()
    for case in json.loads((FIXTURES / folder / "sent.json").read_text("utf-8"))["cases"]
]


def placed(text, here):
    for name, folder in here.items():
        text = text.replace(name, folder)
    return text


@pytest.mark.parametrize(("folder", "module", "case"), CASES, ids=[f"{f}-{c['case']}" for f, _, c in CASES])
def test_the_request_is_the_one_that_was_really_made(folder, module, case, tmp_path):
    here = {"{HOME}": str(tmp_path / "home"), "{WORK}": str(tmp_path / "work")}
    env = {name: placed(value, here) for name, value in case["env"].items()}
    files = {path: placed(text, here) for path, text in case["files"].items()}
    world = Home(tmp_path, files, {"SHELL": "/bin/sh", **env})
    below = tmp_path / "work" / case.get("folder", "")
    below.mkdir(parents=True, exist_ok=True)
    world.folder = lambda: str(below)
    vault = Vault()
    client = collected(importlib.import_module(f"doctor.facts.clients.{module}"), world, vault)[0]
    sent = case["sent"]
    if sent is None:
        unset = any({"unset", "empty"} & set(key.problems) for key in client.credentials)
        told = client.unusable or known(client.proxy) or unset or not client.credentials or client.overridden
        assert told or client.base_url is None, case["said"]
        return
    assert client.request_url == sent["url"]
    assert known(client.proxy) is None
    assert client.unusable is None
    if sent["model"] is not None:
        assert client.model.value == sent["model"]
    keys = {key.header: vault.get(key.token) for key in client.credentials if key.token}
    if client.id == "codex" and any("newline" in key.problems for key in client.credentials):
        keys = {}  # it leaves out a header that cannot be sent
    for header, prefix in (("authorization", "Bearer "), ("x-api-key", ""), ("x-goog-api-key", "")):
        there = sent.get(header)
        # Continue sends the word alone where it has no key.
        assert (None if there == "Bearer" else there) == (prefix + keys[header] if header in keys else None)


def test_every_program_was_really_asked():
    assert {folder for folder, _, _ in CASES} == set(MODULES)
