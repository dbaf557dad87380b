"""What conftest.py says about the two real servers is true, and none of them outlives its test."""

import json
import subprocess
import sys
import urllib.request

import pytest

from tests.real.conftest import KEY, RUNNER, end, free_port, status_of

pytestmark = pytest.mark.real


def get(url, path):
    with urllib.request.urlopen(url + path, timeout=5) as reply:
        return json.loads(reply.read())


def test_the_wheel_has_one_slot_and_no_build_number(start_server):
    with start_server() as running:
        props = get(running.url, "/props")
        assert (props["total_slots"], props["build_info"]) == (1, "b0-unknown")
        assert "init: model loaded" in running.log()
    assert running.process.poll() is not None
    assert status_of(running.url) is None


def test_the_wheel_wants_the_key_for_its_models(start_server):
    with start_server(api_keys=[KEY]) as running:
        assert status_of(f"{running.url}/v1/models") == 401


def test_the_binary_has_four_slots_with_one_cache(start_llama_server):
    with start_llama_server("-c", "1024") as running:
        props = get(running.url, "/props")
        assert (props["total_slots"], props["build_info"]) == (4, "b1-7e4c0a9")
        assert "llama_server: model loaded" in running.log()
        assert "kv_unified = 'true'" in running.log()
    assert running.process.poll() is not None


def test_the_binary_gives_its_models_without_the_key(start_llama_server):
    with start_llama_server("--api-key", KEY) as running:
        assert (status_of(f"{running.url}/v1/models"), status_of(f"{running.url}/props")) == (200, 401)


def test_a_server_that_cannot_start_is_no_endless_wait(start_server, tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    with pytest.raises(ChildProcessError), start_server(model_path=broken):
        pass


def test_the_runner_ends_with_whoever_started_it(model):
    pytest.importorskip("xllamacpp")
    task = {"model": str(model), "port": free_port(), "options": {"n_ctx": 512}}
    process = subprocess.Popen(
        [sys.executable, str(RUNNER), json.dumps(task)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout.readline().startswith(b"ready http://127.0.0.1:")
        process.stdin.close()
        assert process.wait(10) == 0
    finally:
        end(process)
        process.stdout.close()
