import json
import os
import socket
import subprocess
import time
from types import SimpleNamespace

import pytest

from doctor.facts.launch import record as launch
from doctor.facts.launch.record import Launch, collect
from doctor.facts.record import Unknown, from_json, to_json
from doctor.outside import Outside, OutsideError
from doctor.secrets import Vault
from tests.binaries import llama_server


class Process:
    """A process as psutil shows it; `denied` names what the system does not tell."""

    def __init__(self, pid, argv, environ=None, parent=1, folder="/srv", name=None, denied=(), user=1000):
        self.pid, self._argv, self._environ, self._parent, self._folder = pid, argv, environ or {}, parent, folder
        self._denied, self.user = denied, user
        self.info = {"name": name or os.path.basename(argv[0])}

    def _tell(self, what, value):
        if what in self._denied:
            raise Psutil.AccessDenied
        return value

    def cmdline(self):
        return self._tell("cmdline", self._argv)

    def environ(self):
        return self._tell("environ", self._environ)

    def uids(self):
        return SimpleNamespace(real=self.user)

    def ppid(self):
        return self._parent

    def cwd(self):
        return self._tell("cwd", self._folder)


class Psutil:
    class Error(Exception):
        pass

    class AccessDenied(Error):
        pass

    def __init__(self, processes):
        self._processes = processes

    def process_iter(self, attributes):
        return iter(self._processes)


class Machine(Outside):
    """This machine with other processes on it."""

    def __init__(self, *processes, groups="0::/user.slice", platform="linux"):
        super().__init__({"HOME": "/home/me"}, platform)
        self.user_ids = lambda: (1000,) if platform != "win32" else ()
        self._processes, self._groups = processes, groups

    def psutil(self):
        return Psutil(self._processes)

    def read_text(self, path, limit=1 << 20):
        return self._groups if path.endswith("/cgroup") else super().read_text(path, limit)


def look(*processes, port=None, **machine):
    vault = Vault()
    return collect(Machine(*processes, **machine), vault, text=None, build_number=11434, port=port), vault


def test_text_wins_and_is_judged_for_the_build():
    found = collect(Outside(), Vault(), text="llama-server -m x.gguf -fa", build_number=6000)
    assert (found.source, found.flash_attn, found.problems) == ("option", "on", ())
    assert (
        collect(Outside(), Vault(), text="llama-server -m x.gguf -fa", build_number=None).problems[0].kind
        == "missing-value"
    )


def test_text_without_a_launch_is_unknown():
    assert isinstance(collect(Outside(), Vault(), text="make me a sandwich", build_number=None), Unknown)


def test_no_server_runs():
    shell = Process(5, ["/bin/bash"])
    other = Process(6, ["/usr/bin/server", "--listen", ":80"])
    script = Process(7, ["python3", "-m", "http.server"], name="python3")
    assert look(shell, other, script)[0] is None


def test_a_running_server():
    argv = ["/opt/llama-server", "-m", "q.gguf", "-c", "8192", "--api-key", "sk-local-test"]
    found, vault = look(Process(42, argv, {"LLAMA_ARG_N_PARALLEL": "2", "PATH": "/bin"}))
    assert (found.source, found.pid, found.program, found.other_pids) == ("process", 42, "/opt/llama-server", None)
    assert (found.model, found.ctx_size, found.parallel) == ("/srv/q.gguf", 8192, 2)
    assert found.environment == {"LLAMA_ARG_N_PARALLEL": "2"}
    assert vault.get(found.api_key_token) == "sk-local-test"
    assert "sk-local-test" not in json.dumps(to_json(found))


def test_the_server_on_the_port_is_taken_and_the_others_are_named():
    first = Process(1, ["llama-server", "-m", "a.gguf"])
    second = Process(2, ["llama-server", "-m", "b.gguf", "--port", "9000"])
    third = Process(3, ["llama-server", "-m", "c.gguf"], {"LLAMA_ARG_PORT": "9001"})
    assert [look(first, second, third, port=port)[0].pid for port in (None, 9000, 9001, 8080, 1)] == [1, 2, 3, 1, 1]
    assert look(first, second, third, port=9000)[0].other_pids == (1, 3)


def test_a_router_comes_before_its_models():
    router = Process(20, ["llama-server", "--models-dir", "/m", "--port", "8080"])
    child = Process(10, ["llama-server", "-m", "/m/a.gguf", "--port", "50000"], parent=20)
    assert look(child, router)[0].pid == 20


def test_a_server_of_another_user():
    found, _ = look(Process(42, ["llama-server", "-m", "/m/q.gguf", "-c", "8192"], denied=("environ", "cwd")))
    assert found.ctx_size == 8192
    assert isinstance(found.environment, Unknown) and "42" in found.environment.reason
    assert isinstance(found.parallel, Unknown)


@pytest.mark.parametrize(
    ("user", "platform", "other"), [(1000, "linux", False), (1001, "linux", True), (7, "win32", None)]
)
def test_whose_server_it_is(user, platform, other):
    found, _ = look(Process(42, ["llama-server", "-m", "/m/q.gguf"], user=user), platform=platform)
    assert found.other_user is other


def test_a_stranger_cannot_make_us_read_a_file(tmp_path):
    """The first line of that file would be tried as the key: sent to the stranger's server."""
    (tmp_path / "private").write_text("sk-local-test\n")
    argv = ["llama-server", "-m", "/m/q.gguf", "--api-key-file", str(tmp_path / "private")]
    found, vault = look(Process(42, argv, user=1001))
    assert isinstance(found.api_key_token, Unknown) and vault.secrets() == ()
    assert look(Process(42, argv))[0].api_key_token == "<key-1>"


def test_a_process_that_may_not_be_seen_is_passed_over():
    hidden = Process(1, ["llama-server", "-m", "q.gguf"], denied=("cmdline",))
    assert look(hidden)[0] is None


@pytest.mark.parametrize(
    ("groups", "container"),
    [
        (f"0::/system.slice/docker-{'0123456789abcdef' * 4}.scope", "docker 0123456789ab"),
        (f"12:cpu:/docker/{'0123456789abcdef' * 4}", "docker 0123456789ab"),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/llama.service", None),
    ],
)  # fmt: skip
def test_a_server_inside_a_container(groups, container):
    found, _ = look(Process(42, ["/app/llama-server", "-m", "models/q.gguf"]), groups=groups)
    assert found.container == container
    assert found.model == ("models/q.gguf" if container else "/srv/models/q.gguf")


def test_another_program_that_serves_gguf():
    found, _ = look(Process(42, ["/usr/bin/python3", "-m", "llama_cpp.server", "--model", "q.gguf"], name="python3"))
    assert found.program == "llama_cpp.server"
    assert (found.problems, found.model) == ((), "/srv/q.gguf")
    assert isinstance(found.ctx_size, Unknown)


def test_without_psutil_it_is_unknown():
    class Bare(Outside):
        def psutil(self):
            raise OutsideError("missing", "the package psutil is not usable")

    assert collect(Bare(), Vault(), text=None, build_number=None) == Unknown("the package psutil is not usable")


def test_the_key_out_of_a_file(tmp_path):
    (tmp_path / "keys").write_text("# ours\n\nsk-local-test\nsecond\n")
    vault = Vault()
    found = collect(Outside(), vault, text=f"llama-server --api-key-file {tmp_path}/keys", build_number=None)
    assert (found.api_key, vault.get(found.api_key_token)) == (True, "sk-local-test")
    assert vault.secrets() == ("sk-local-test", "second")
    missing = collect(Outside(), vault, text=f"llama-server --api-key-file {tmp_path}/none", build_number=None)
    assert missing.api_key is True and isinstance(missing.api_key_token, Unknown)


def test_the_record_survives_json():
    found = collect(Outside(), Vault(), text="LLAMA_ARG_PORT=1 llama-server -m $X -c 64K", build_number=11434)
    assert from_json(Launch, json.loads(json.dumps(to_json(found)))) == found


def test_finding_costs_little():
    machine = Machine(*(Process(pid, ["/usr/bin/thing", str(pid)]) for pid in range(5000)))
    started = time.process_time()
    launch.find(machine, Vault(), text=None)
    assert time.process_time() - started < 0.5


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.real
def test_a_real_server_process(tmp_path):
    """llama-server without a model waits as a router: its process is found by its port."""
    port = free_port()
    argv = [llama_server(), "--host", "127.0.0.1", "--port", str(port), "--models-dir", ".", "--no-mmap", "-c", "4K"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LLAMA_API_KEY": "sk-local-test"}
    with subprocess.Popen(
        argv, env=environ, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            vault = Vault()
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline and not Outside().port_open("127.0.0.1", port):
                time.sleep(0.05)
            found = collect(Outside(), vault, text=None, build_number=10434, port=port)
        finally:
            server.kill()
    assert (found.pid, found.port, found.program) == (server.pid, port, argv[0])
    assert vault.get(found.api_key_token) == "sk-local-test"
    assert [(problem.kind, problem.replacement) for problem in found.problems] == [
        ("deprecated", "--load-mode none"), ("misread", "-c 4096"),
    ]  # fmt: skip
