"""Models and shared servers of the matrix, and the table its cells are written into."""

import json
import os
import shutil
from pathlib import Path

import pytest

from doctor.engine.load import load
from doctor.outside import Outside
from tests.real.matrix import models, servers
from tests.real.matrix.clients import PLACES, SDK

STARTED_WITH = dict(os.environ)


@pytest.fixture(scope="session")
def matrix_models(tmp_path_factory):
    """name -> path of a model. The rules are compiled by now: a cell in which a server is loading does not wait for that."""
    load(Outside())
    folder = tmp_path_factory.mktemp("matrix")
    return {
        "model": models.agent_model(folder / "tiny.gguf"),
        "strict": models.agent_model(folder / "strict.gguf", models.STRICT),
        "endless": models.agent_model(folder / "endless.gguf", endless=True),
    }


@pytest.fixture(scope="package")  # the router would be found by tests of other folders
def pool(tmp_path_factory, matrix_models):
    """Sound servers for cells whose fault is not the server's."""
    pytest.importorskip("xllamacpp")
    made = servers.Pool(tmp_path_factory.mktemp("pool"), matrix_models["model"])
    yield made
    made.close()


@pytest.fixture(scope="session")
def table():
    """Write down how a cell went: DOCTOR_MATRIX names the file (JSON lines) that table.py makes the page of."""
    target = os.environ.get("DOCTOR_MATRIX")

    def note(**cell):
        if target:
            with Path(target).open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(cell) + "\n")

    return note


@pytest.fixture
def home(clean_environment, monkeypatch):
    """An empty home with an empty project folder, in which everything runs.

    Servers that other people run on this machine are no part of a set-up, so none of its processes is looked at.
    """
    monkeypatch.setattr("doctor.facts.launch.processes._servers", lambda _: iter(()))
    for name in (PLACES, SDK):
        if name in STARTED_WITH:
            monkeypatch.setenv(name, STARTED_WITH[name])
    project = clean_environment / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    yield clean_environment
    shutil.rmtree(clean_environment, ignore_errors=True)
