"""`doctor fix --launch FILE`: what it shows, asks, writes, refuses and takes back."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from doctor.cli import main
from tests.facts.clients.homes import Home
from tests.facts.ladder.serving import as_json, serving
from tests.facts.test_launch import Process, Psutil

KEY = "sk-local-test-0123456789abcdef"
WRONG = (
    "#!/bin/bash\n# mine\nCTX=64K   # context\n"
    f'llama-server -m /m/a.gguf -c $CTX --no-mmap --api-key {KEY} \\\n\t--port PORT "$@"\n'
)
RIGHT = WRONG.replace("64K", "65536").replace("--no-mmap", "--load-mode none")


class World(Home):
    """A home, a current folder, and somebody in front of it or nobody (`answer` None)."""

    answer = None
    asked = ""
    processes = ()

    def psutil(self):
        return Psutil(self.processes)

    def is_asking(self):
        return self.answer is not None

    def ask(self, question):
        self.asked = question
        return self.answer


@pytest.fixture
def world(tmp_path):
    return World(tmp_path, {"work/start.sh": WRONG.replace("PORT", "9")})


def path_of(world, name="start.sh"):
    return world.root / "work" / name


def run(world, capsys, *words):
    words = ("fix", *words)
    if "--undo" not in words:
        words += ("--for-build", "b10434")
    status = main(list(words), world)
    told = capsys.readouterr()
    assert KEY not in told.out + told.err
    return status, told.out


def fix(world, capsys, *words, name="start.sh"):
    return run(world, capsys, "--launch", str(path_of(world, name)), *words)


def test_dry_run_writes_nothing(world, capsys):
    status, out = fix(world, capsys, "--dry-run")
    assert status == 0 and "+CTX=65536   # context" in out and "<key-1>" in out
    assert "launch/value-misread" in out and "launch/option-deprecated" in out  # both in one edit
    assert path_of(world).read_text() == WRONG.replace("PORT", "9") and not os.path.exists(world.root / "home/.local")


@pytest.mark.parametrize(("answer", "written"), [("y", True), ("n", False), ("", False)])
def test_it_asks(world, capsys, answer, written):
    world.answer = answer
    status, out = fix(world, capsys)
    assert (path_of(world).read_text() == RIGHT.replace("PORT", "9")) is written
    assert out.count("The edit") == 1 and "[y/N]" in world.asked and (status == 2) is not written


def test_nobody_to_ask(world, capsys):
    status, out = fix(world, capsys)
    assert status == 2 and "--yes" in out and path_of(world).read_text() == WRONG.replace("PORT", "9")


def test_yes_then_undo(world, capsys):
    before = path_of(world).read_bytes()
    path_of(world).chmod(0o755)
    _, out = fix(world, capsys, "--yes")
    assert path_of(world).read_text() == RIGHT.replace("PORT", "9") and path_of(world).stat().st_mode & 0o777 == 0o755
    assert f"bash {path_of(world)}" in out and "next start" in out and "cured" not in out
    (note,) = (world.root / "home/.local/state/doctor/edits").iterdir()
    assert sorted(os.listdir(note)) == ["edit.json", "start.sh"] and KEY not in (note / "edit.json").read_text()
    status, out = run(world, capsys, "--undo")
    assert status == 0 and path_of(world).read_bytes() == before


def test_found_in_the_current_folder(world, capsys):
    _, out = run(world, capsys, "--yes")
    assert path_of(world).read_text() == RIGHT.replace("PORT", "9") and "start.sh" in out


@pytest.mark.parametrize(("argument", "written"), [("64K", True), ("4096", False)])
def test_the_file_here_that_the_running_server_was_started_by(world, capsys, argument, written):
    path_of(world).write_text("llama-server -m /m/a.gguf -c 64K\n")
    world.processes = (Process(42, ["/opt/llama-server", "-m", "/m/a.gguf", "-c", argument]),)
    run(world, capsys, "--yes")
    assert (path_of(world).read_text() == "llama-server -m /m/a.gguf -c 65536\n") is written


def test_nothing_wrong(world, capsys):
    path_of(world).write_text("llama-server -m /m/a.gguf -c 65536\n")
    status, out = fix(world, capsys, "--yes")
    assert path_of(world).read_text() == "llama-server -m /m/a.gguf -c 65536\n"
    assert status in (0, 1) and "The edit" not in out  # the model that is not here is still told


def test_json(world, capsys):
    _, out = fix(world, capsys, "--format", "json", "--yes")
    told = json.loads(out)
    assert told["state"] == "launch-partly" and {item["rule"] for item in told["gone"]} == {
        "launch/value-misread",
        "launch/option-deprecated",
    }
    assert [item["rule"] for item in told["left"]] == ["model/path-missing-here"] and told["restart"].startswith(
        "bash "
    )


def test_chinese(world, capsys):
    _, out = fix(world, capsys, "--yes", "--lang", "zh")
    assert "已写入，并重新读取文件" in out and "重新启动" in out


def test_one_rule_only(world, capsys):
    path = path_of(world)
    path.write_text("llama-server -m /m/a.gguf -c 8192 -np 4 -ctv q8_0 -fa off\n")
    fix(world, capsys, "--yes", "--rule", "context/launch-kv-quant-flash-attn-off")
    assert path.read_text() == "llama-server -m /m/a.gguf -c 8192 -np 4 -ctv q8_0 -fa on\n"


def test_what_cannot_be_changed_is_printed_for_the_hand(world, capsys):
    path_of(world).write_text("X=64K\nllama-server -m /m/a.gguf -c $X -b $X\n")
    status, out = fix(world, capsys, "--yes")
    assert status == 1 and "By hand" in out and f"{path_of(world)}:2: -c 64K → -c 65536" in out
    assert "llama-server -m /m/a.gguf -c 65536 -b 65536" in out
    assert path_of(world).read_text() == "X=64K\nllama-server -m /m/a.gguf -c $X -b $X\n"


def test_without_a_build_the_rest_is_left_to_the_user(world, capsys):
    status = main(["fix", "--launch", str(path_of(world)), "--dry-run"], world)
    out = capsys.readouterr().out
    assert status == 0 and "+CTX=65536" in out and "--load-mode none  (right only" in out and "--for-build" in out


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("compose.yml", b"services:\n  a: [\n"),
        ("start.sh", b"\0\0\0"),
        ("models.ini", b"[a]\nnot an entry -c 64K\n"),
        ("start.ps1", "llama-server.exe -m a.gguf -c 64K\n".encode("utf-16")),
        ("Modelfile", b"FROM ./a.gguf\nPARAMETER num_ctx 64K\n"),
    ],
)
def test_what_cannot_be_read_is_left_alone(world, capsys, name, data):
    path_of(world, name).write_bytes(data)
    status, _ = fix(world, capsys, "--yes", name=name)
    assert path_of(world, name).read_bytes() == data and status in (0, 1, 2)


@pytest.mark.parametrize("why", ["read-only", "changed while it was asked"])
def test_what_is_not_ours_to_change(world, capsys, why):
    before = path_of(world).read_bytes()
    if why == "read-only":
        path_of(world).chmod(0o444)
        status, out = fix(world, capsys, "--yes")
    else:
        before = b"llama-server -c 1\n"

        class Slow(World):
            def ask(self, question):
                path_of(self).write_bytes(before)
                return "y"

        slow = Slow(world.root)
        slow.answer = "y"
        status, out = fix(slow, capsys)
    assert status == 2 and path_of(world).read_bytes() == before
    assert ("read-only" if why == "read-only" else "another program") in out


def test_a_server_that_runs_is_not_called_cured(world, capsys):
    def answer(method, path, headers, body):
        if path in ("/health", "/v1/health"):
            return as_json({"status": "ok"}, Server="llama.cpp")
        return as_json({"error": {"code": 401, "message": "Invalid API Key"}}, 401, Server="llama.cpp")

    with serving(answer) as (base, _):
        port = base.rpartition(":")[2].strip("/")
        path_of(world).write_text(WRONG.replace("PORT", port))
        live = Live(world.root)
        _, out = fix(live, capsys, "--yes")
    assert f"127.0.0.1:{port} runs on with its old command" in out and "it is cured" not in out


class Live(World):
    """With ports that are really tried."""

    def port_open(self, host, port, timeout=1.0):
        return super(Home, self).port_open(host, port, timeout)


@pytest.mark.parametrize("nth", range(1, 10))
def test_killed_at_any_step_the_old_or_the_new_file_is_there(tmp_path, nth):
    path = tmp_path / "start.sh"
    path.write_text(WRONG)
    code = textwrap.dedent(
        f"""
        import os, shutil, tempfile
        from doctor.fix.launch.files import LaunchFiles
        from doctor.fix.launch.hand import Hand
        from doctor.fix.launch.changes import Change
        from doctor.fix.plan import Plan
        from doctor.fix.write import apply
        from doctor.launch.table import load_table
        from doctor.outside import Outside
        from doctor.secrets import Vault
        world = Outside({{"HOME": {str(tmp_path)!r}}}, "linux")
        files = LaunchFiles(world, {str(path)!r}, load_table(world), inside=False)
        hand = Hand(files, Vault())
        words = [word.text for word in hand.now[0].command.words]
        at = words.index("64K")
        hand.carry_out(0, Change(at, at + 1, ("65536",)), {{}})
        left = [{nth}]
        def deadly(function):
            def call(*words, **more):
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)
                return function(*words, **more)
            return call
        for place, name in ((os, "fsync"), (os, "replace"), (tempfile, "mkstemp"), (shutil, "copystat"), (os, "utime")):
            setattr(place, name, deadly(getattr(place, name)))
        after = files.bytes_of(hand.target, hand.changed[hand.target])
        apply(world, Plan({str(path)!r}, hand.target, files.before[hand.target], after, ()), "launch", "")
        """
    )
    environ = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": os.getcwd()}
    ended = subprocess.run([sys.executable, "-c", code], env=environ, timeout=60)
    assert path.read_text() in (WRONG, WRONG.replace("64K", "65536")) and ended.returncode in (0, 9)


def test_without_a_build_it_is_asked_for_and_the_command_is_the_newest(world, capsys):
    path_of(world).write_text("llama-server -m /m/a.gguf \\\n  -fa \\\n  --no-mmap\n")
    status = main(["fix", "--launch", str(path_of(world)), "--dry-run"], world)
    out = capsys.readouterr().out
    assert status == 1 and f"doctor fix --launch {path_of(world)} --for-build N" in out
    assert "start.sh:2: -fa → -fa on\n" in out and "start.sh:3: --no-mmap → --load-mode none\n" in out
    assert "llama-server -m /m/a.gguf -fa on --load-mode none" in out and "cannot be changed" not in out


def test_an_error_elsewhere_comes_before_what_only_the_build_decides_here(tmp_path, capsys):
    world = World(
        tmp_path,
        {
            "work/start.sh": "llama-server -hf a/b --no-mmap\n",
            "home/.claude/settings.json": "{ // mine\n}",
        },
    )
    for words, told in ((), "client/config-file-broken-live"), (("--launch", str(path_of(world))), "--for-build N"):
        status = main(["fix", *words, "--dry-run"], world)
        assert (status, told in capsys.readouterr().out) == (1, True)
