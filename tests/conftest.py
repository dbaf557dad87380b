"""Every test runs in a clean, empty home: no setting or key of the machine it runs on can reach it."""

import os

import pytest

KEEP = {"PATH", "LD_LIBRARY_PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "CI"}


@pytest.fixture(autouse=True)
def clean_environment(tmp_path_factory, monkeypatch):
    for name in list(os.environ):
        if name not in KEEP and not name.startswith(("PYTEST_", "COV_", "PYTHON")):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("NO_COLOR", "1")
    return home
