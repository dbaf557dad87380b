"""The door itself: bounded in time and size, one kind of error, nothing left running."""

import os
import socket
import stat
import sys
import threading
import time
from pathlib import Path

import pytest

from doctor.outside import Outside, OutsideError

POSIX = pytest.mark.skipif(os.name != "posix", reason="pipes, devices and process groups are POSIX")
NOBODY = 65534


@pytest.fixture
def outside():
    return Outside()


def python(code):
    return [sys.executable, "-c", code]


def kind_of(look):
    with pytest.raises(OutsideError) as caught:
        look()
    assert "\n" not in str(caught.value)
    return caught.value.kind


# --- commands ---


def test_run_gives_status_and_both_streams(outside):
    done = outside.run(python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), timeout=20)
    assert (done.status, done.stdout.strip(), done.stderr.strip(), done.truncated) == (3, "out", "err", False)


def test_run_has_no_standard_input(outside):
    """What is piped into doctor is doctor's: a program it starts must not eat it."""
    reader, writer = os.pipe()
    os.write(writer, b"a log")
    os.close(writer)
    own = os.dup(0)
    os.dup2(reader, 0)
    try:
        assert outside.run(python("import sys; print(repr(sys.stdin.read()))"), timeout=20).stdout.strip() == "''"
    finally:
        os.dup2(own, 0)
        os.close(own)
        os.close(reader)


def test_run_passes_only_the_environment_it_is_given(outside):
    code = "import os; print(sorted(name for name in os.environ if name.startswith('DOCTOR_')))"
    environ = {**os.environ, "DOCTOR_A": "1"}
    assert outside.run(python(code), timeout=20, environ=environ).stdout.strip() == "['DOCTOR_A']"
    assert Outside(environ).run(python(code), timeout=20).stdout.strip() == "['DOCTOR_A']"
    assert outside.run(python(code), timeout=20).stdout.strip() == "[]"


def test_run_takes_arguments_as_they_are(outside):
    argument = "$(touch x); `y` 'z' *"
    assert outside.run([*python("import sys; print(sys.argv[1])"), argument], timeout=20).stdout.strip() == argument


@POSIX
def test_run_reports_a_signal_as_a_negative_status(outside):
    assert outside.run(python("import os, signal; os.kill(os.getpid(), signal.SIGILL)"), timeout=20).status == -4


def _ended(pid):
    """Whether a process is gone, or dead and only waiting for its parent to look."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for the child in /proc")
def test_run_deadline_ends_the_program_and_its_children(outside, tmp_path):
    note = tmp_path / "pid"
    code = (
        "import pathlib, subprocess, sys, time;"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid)); time.sleep(60)"
    )
    started = time.monotonic()
    assert kind_of(lambda: outside.run(python(code), timeout=1.5)) == "timeout"
    assert time.monotonic() - started < 6
    pid = int(note.read_text())
    for _ in range(50):
        if _ended(pid):
            break
        time.sleep(0.05)
    assert _ended(pid)


def test_run_cuts_the_output_at_the_limit(outside):
    done = outside.run(python("print('x' * 5000)"), timeout=20, limit=1000)
    assert (done.stdout, done.truncated) == ("x" * 1000, True)


def test_run_stops_what_prints_without_end(outside):
    code = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    assert kind_of(lambda: outside.run(python(code), timeout=30, limit=1 << 16)) == "too-large"


def test_run_decodes_what_is_not_text(outside):
    assert outside.run(python(r"import sys; sys.stdout.buffer.write(b'a\xff')"), timeout=20).stdout == "a\ufffd"


def test_run_missing_denied_and_invalid(outside, tmp_path):
    script = tmp_path / "no-permission"
    script.write_text("#!/bin/sh\n")
    assert kind_of(lambda: outside.run([str(tmp_path / "nothing")], timeout=1)) == "missing"
    assert kind_of(lambda: outside.run(["x\0y"], timeout=1)) == "invalid"
    if os.name == "posix":
        assert kind_of(lambda: outside.run([str(script)], timeout=1)) == "denied"
        script.write_bytes(b"\x7fELF, but broken")
        script.chmod(0o755)
        assert kind_of(lambda: outside.run([str(script)], timeout=1)) == "invalid"


def test_which_goes_by_the_given_path(tmp_path):
    program = tmp_path / ("tool.exe" if os.name == "nt" else "tool")
    program.write_text("")
    program.chmod(0o755)
    assert Outside({"PATH": str(tmp_path)}).which(program.name) == str(program)
    assert Outside({"PATH": ""}).which(program.name) is None


# --- files ---


def test_read_bytes_up_to_the_limit(outside, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"12345")
    assert outside.read_bytes(str(path), 5) == b"12345"
    assert kind_of(lambda: outside.read_bytes(str(path), 4)) == "too-large"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"])
def test_read_text_of_every_unicode_file(outside, tmp_path, encoding):
    path = tmp_path / "f"
    text = "显存 ok"
    path.write_bytes(("\ufeff" + text if encoding.startswith("utf-16") else text).encode(encoding))
    assert outside.read_text(str(path)) == text


def test_read_text_of_bytes_that_are_no_text(outside, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"a\xff\x00b")
    assert outside.read_text(str(path)) == "a\ufffd\0b"


def test_open_of_what_is_not_there_or_no_path(outside, tmp_path):
    assert kind_of(lambda: outside.open(str(tmp_path / "no"))) == "missing"
    file = tmp_path / "f"
    file.write_text("")
    assert kind_of(lambda: outside.open(str(file / "below"))) == "missing"
    assert kind_of(lambda: outside.open("a\0b")) == "invalid"
    assert kind_of(lambda: outside.open("x" * 5000)) in ("failed", "missing")


@POSIX
def test_files_without_permission(outside, tmp_path):
    path = tmp_path / "f"
    path.write_text("x")
    path.chmod(0)
    tmp_path.chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)  # the superuser may read everything
    try:
        kinds = {
            kind_of(lambda look=look: look(str(path))) for look in (outside.open, outside.stat, outside.list_folder)
        }
    finally:
        if root:
            os.seteuid(0)
        tmp_path.chmod(0o700)
    assert kinds == {"denied"}


@POSIX
def test_open_refuses_pipe_device_and_folder_at_once(outside, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to(pipe)
    before = len(os.listdir("/dev/fd"))
    started = time.monotonic()
    for path in (pipe, link, Path("/dev/zero"), tmp_path):
        assert kind_of(lambda path=path: outside.open(str(path))) == "invalid"
    assert time.monotonic() - started < 2
    assert len(os.listdir("/dev/fd")) == before  # and nothing stays open


def test_stat_exists_and_list(outside, tmp_path):
    (tmp_path / "b").write_bytes(b"123")
    (tmp_path / "a").mkdir()
    info = outside.stat(str(tmp_path / "b"))
    assert (info.size, info.is_file, info.is_dir) == (3, True, False)
    assert outside.stat(str(tmp_path / "a")).is_dir
    assert outside.exists(str(tmp_path / "a"))
    assert not outside.exists(str(tmp_path / "c"))
    assert not outside.exists("a\0b")
    assert outside.list_folder(str(tmp_path)) == ["a", "b"]
    assert len(outside.list_folder(str(tmp_path), limit=1)) == 1
    assert kind_of(lambda: outside.list_folder(str(tmp_path / "c"))) == "missing"
    assert kind_of(lambda: outside.stat(str(tmp_path / "c"))) == "missing"


def test_real_path_follows_links_and_home(outside, tmp_path, clean_environment):
    if os.name == "posix":
        (tmp_path / "link").symlink_to(tmp_path / "target")
        assert outside.real_path(str(tmp_path / "link")) == os.path.realpath(tmp_path / "target")
    assert outside.real_path("~/x") == os.path.realpath(clean_environment / "x")


def test_disk_usage(outside, tmp_path):
    total, free = outside.disk_usage(str(tmp_path))
    assert 0 < free <= total
    assert kind_of(lambda: outside.disk_usage(str(tmp_path / "no"))) == "missing"


def test_write_text_writes_what_it_was_given(outside, tmp_path):
    path = tmp_path / "f"
    outside.write_text(str(path), "显存\n")
    assert path.read_bytes() == "显存\n".encode()
    outside.write_text(str(path), "")
    assert path.read_bytes() == b""
    assert os.listdir(tmp_path) == ["f"]


def test_write_text_writes_all_or_nothing(outside, tmp_path):
    """A text that cannot be encoded fails half way: the old file stays and nothing is left beside it."""
    path = tmp_path / "f"
    path.write_text("old")
    assert kind_of(lambda: outside.write_text(str(path), "new" * 100_000 + "\udcff")) == "invalid"
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]
    assert kind_of(lambda: outside.write_text(str(tmp_path / "no" / "f"), "x")) == "missing"
    assert kind_of(lambda: outside.write_text(str(tmp_path), "x")) in ("failed", "invalid")


def test_readers_see_the_old_file_or_the_new_one(outside, tmp_path):
    path = tmp_path / "f"
    texts = ["a" * 300_000, "b" * 300_000]
    path.write_text(texts[0])
    done = threading.Event()
    seen = set()

    def read():
        while not done.is_set():
            seen.add(path.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(20):
        outside.write_text(str(path), texts[number % 2])
    done.set()
    reader.join()
    assert seen <= set(texts)


@POSIX
def test_write_text_keeps_nothing_readable_for_others(outside, tmp_path):
    """A new file may hold a configuration with a key in it."""
    path = tmp_path / "f"
    outside.write_text(str(path), "x")
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_chunks_of_a_pipe_come_as_they_are(outside):
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as stream:
        os.write(writer, b"first")
        pieces = outside.chunks(stream)
        assert next(pieces) == b"first"
        os.write(writer, b"second")
        assert next(pieces) == b"second"
        os.close(writer)
        assert list(pieces) == []


# --- network ---


class Loopback:
    """Answers each connection on 127.0.0.1 with a function of (socket, request bytes)."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.over = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection):
        with connection:
            try:
                request = connection.recv(65536)
                self.requests.append(request)
                self.answer(connection, request)
            except OSError:
                pass  # the client has left

    def close(self):
        self.over.set()
        self.listener.close()


@pytest.fixture
def serve():
    servers = []

    def start(answer):
        if isinstance(answer, bytes):
            text = answer
            servers.append(Loopback(lambda connection, request: connection.sendall(text)))
        else:
            servers.append(Loopback(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def reply(body=b"", status="200 OK", **headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_http_gives_status_headers_and_body(outside, serve):
    server = serve(reply(b"hello", "404 Not Found", X_Thing="a"))
    got = outside.http("POST", server.url + "v1?x=1", headers={"Authorization": "Bearer sk-local-test"}, body=b"{}")
    assert (got.status, got.body, got.truncated, got.headers["x-thing"]) == (404, b"hello", False, "a")
    assert got.milliseconds > 0
    head = server.requests[0]
    assert head.startswith(b"POST /v1?x=1 HTTP/1.1")
    assert b"authorization: bearer sk-local-test" in head.lower()


def test_http_refused(outside):
    assert kind_of(lambda: outside.http("GET", f"http://127.0.0.1:{free_port()}/")) == "refused"


@pytest.mark.parametrize("drips", ["nothing", "headers", "body"])
def test_http_deadline_is_for_the_whole_exchange(outside, serve, drips):
    """A server that sends a byte now and then keeps no limit of a single read from running out."""

    def answer(connection, request):
        if drips == "nothing":
            server.over.wait(20)
            return
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + (b"Content-Length: 100000\r\n\r\n" if drips == "body" else b""))
        while not server.over.wait(0.1):
            connection.sendall(b"x")

    server = serve(answer)
    started = time.monotonic()
    assert kind_of(lambda: outside.http("GET", server.url, timeout=0.7)) == "timeout"
    assert time.monotonic() - started < 3


def test_http_body_is_read_up_to_the_limit(outside, serve):
    def answer(connection, request):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while not server.over.is_set():
            connection.sendall(b"x" * 65536)

    server = serve(answer)
    got = outside.http("GET", server.url, limit=100_000)
    assert (got.body, got.truncated) == (b"x" * 100_000, True)


def test_http_does_not_unpack_what_it_did_not_ask_for(outside, serve):
    import gzip

    packed = gzip.compress(b"0" * (64 << 20))
    got = outside.http("GET", serve(reply(packed, Content_Encoding="gzip")).url)
    assert got.body == packed


@pytest.mark.parametrize("answer", [b"SSH-2.0-OpenSSH_9.6\r\n", b"\x00\x01\x02\x03", b"", b"HTTP/1.1 banana\r\n\r\n"])
def test_http_of_something_else(outside, serve, answer):
    assert kind_of(lambda: outside.http("GET", serve(answer).url)) == "not-http"


def test_http_follows_no_redirect(outside, serve):
    target = serve(reply(b"other"))
    server = serve(reply(b"", "302 Found", Location=target.url))
    got = outside.http("GET", server.url)
    assert (got.status, got.headers["location"]) == (302, target.url)
    assert target.requests == []


def test_http_ignores_proxy_variables_and_netrc(outside, serve, monkeypatch, clean_environment):
    proxy = serve(reply(b"proxy"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    (clean_environment / ".netrc").write_text("machine 127.0.0.1 login me password sk-local-test\n")
    server = serve(reply(b"server"))
    assert outside.http("GET", server.url).body == b"server"
    assert proxy.requests == []
    assert b"authorization" not in server.requests[0].lower()


def test_https_to_a_plain_server_is_a_tls_error(outside, serve):
    server = serve(reply(b"x"))
    assert kind_of(lambda: outside.http("GET", server.url.replace("http:", "https:"))) == "tls"


@pytest.mark.parametrize(
    "url", ["", "nonsense", "http://", "ftp://127.0.0.1/", "http://127.0.0.1:99999/", "http://[::1"]
)
def test_http_of_what_is_no_address(outside, url):
    assert kind_of(lambda: outside.http("GET", url, timeout=2)) == "invalid"


def test_http_of_headers_that_cannot_be_sent(outside, serve):
    server = serve(reply())
    assert kind_of(lambda: outside.http("GET", server.url, headers={"X": "a\r\nEvil: 1"})) == "invalid"
    assert all(b"Evil" not in request for request in server.requests)


def test_port_open(outside, serve):
    assert outside.port_open("127.0.0.1", serve(b"").port)
    assert not outside.port_open("127.0.0.1", free_port())
    assert not outside.port_open("127.0.0.1", 99999)
    assert not outside.port_open("x" * 300, 80)


def test_resolve(outside):
    assert "127.0.0.1" in outside.resolve("127.0.0.1")
    assert outside.resolve("x" * 300) == ()


# --- the rest ---


def test_home_and_folder(outside, clean_environment, tmp_path, monkeypatch):
    assert outside.home() == str(clean_environment)
    assert Outside({"USERPROFILE": "C:\\Users\\ann", "HOME": "/home/ann"}, "win32").home() == "C:\\Users\\ann"
    monkeypatch.chdir(tmp_path)
    assert outside.folder() == str(tmp_path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lets go of a folder one stands in")
def test_folder_that_is_gone(outside, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert outside.folder() == "."


def test_identity_names_user_and_host():
    names = Outside({"USER": "ann", "HOSTNAME": "box"}).identity()
    assert {"ann", "box", socket.gethostname()} <= set(names)
    assert "" not in names


def test_clock_goes_on(outside):
    before = outside.monotonic()
    assert abs(outside.now() - time.time()) < 5
    assert outside.monotonic() >= before


def test_modules_of_the_machine(outside):
    assert outside.nvml().__name__ == "pynvml"
    assert outside.psutil().cpu_count() >= 1


@pytest.mark.parametrize("module", ["pynvml", "psutil"])
def test_module_that_is_not_there(outside, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    look = {"pynvml": outside.nvml, "psutil": outside.psutil}[module]
    assert kind_of(look) == "missing"


@pytest.mark.skipif(os.name != "posix", reason="pipes with names")
def test_write_text_replaces_no_device_and_no_pipe(outside, tmp_path):
    """As root, `--save /dev/null` would otherwise put a file in the place of the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert kind_of(lambda: outside.write_text(str(pipe), "x")) == "invalid"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_real_path_of_what_is_none(outside, tmp_path):
    assert outside.real_path("a\0b") == "a\0b"
    (tmp_path / "ring").symlink_to(tmp_path / "ring")
    assert outside.real_path(str(tmp_path / "ring")).endswith("ring")


def test_standard_input_that_is_closed(outside, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert kind_of(outside.stdin) == "missing"


def test_a_file_that_has_nothing_to_read_right_now_is_empty(outside, monkeypatch, tmp_path):
    """/proc/kmsg is a regular file that answers None to a reader that does not wait."""

    class Waiting:
        def read(self, size):
            return None

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

    monkeypatch.setattr(outside, "open", lambda path: Waiting())
    assert outside.read_bytes(str(tmp_path / "x")) == b""


def test_identity_knows_the_short_host_name_and_the_owner_of_the_home_folder():
    names = Outside({"HOME": "/home/ann", "HOSTNAME": "box.example.org"}).identity()
    assert {"ann", "box", "box.example.org"} <= set(names)
    assert "models" not in Outside({"HOME": "/srv/models"}).identity()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users have numbers on POSIX")
def test_whose_processes_are_ours(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert Outside({}).user_ids() == (0,)
    assert Outside({"SUDO_UID": "1000"}).user_ids() == (0, 1000)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert Outside({"SUDO_UID": "0"}).user_ids() == (1000,)
