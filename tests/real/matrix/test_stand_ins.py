"""The stand-ins make the requests that the real programs were recorded to make with the same files and variables."""

import json
from pathlib import Path

import pytest

from tests.real.matrix.clients import CLIENTS, NoRequest

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "clients"
# Recordings of what the matrix does to settings; the others are about files and providers that it leaves alone.
NAMES = {
    "claude-code": "auth-token settings-env settings-env-vs-shell both-key-and-token ok-base ok-base-slash ok-base-v1 "
    "base-full-endpoint base-no-scheme no-key empty-key login-only login-plus-key login-plus-token haiku-default",
    "codex": "ok-v1 slash no-v1 envkey-unset wire-chat unknown-provider no-key-at-all",
    "opencode": "ok-v1 slash no-v1 full-endpoint key-env-subst no-key unknown-model id-of-the-model",
    "qwen-code": "ok-v1 slash no-v1 full-endpoint no-key settings-only env-vs-settings",
    "cline": "ok-v1 slash no-v1 full-endpoint no-key",
}
CASES = [
    (client, case)
    for client, names in NAMES.items()
    for case in json.loads((FIXTURES / client / "sent.json").read_text("utf-8"))["cases"]
    if case["case"] in names.split()
]


@pytest.mark.parametrize(("client", "case"), CASES, ids=[f"{client}-{case['case']}" for client, case in CASES])
def test_the_request_is_the_recorded_one(client, case, tmp_path):
    for path, text in case["files"].items():
        target = Path(path.replace("{HOME}", str(tmp_path)).replace("{WORK}", str(tmp_path / "project")))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace("{HOME}", str(tmp_path)), encoding="utf-8")
    try:
        sent = CLIENTS[client].reads(tmp_path, case["env"])
    except NoRequest:
        assert case["sent"] is None
        return
    wanted = case["sent"]
    assert wanted is not None
    assert (sent.url, sent.headers.get("Authorization")) == (wanted["url"], wanted["authorization"])
    assert sent.headers.get("x-api-key") == wanted["x-api-key"] and wanted["model"] in (sent.model, None)
