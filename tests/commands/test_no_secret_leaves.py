"""No secret of any place that doctor reads is in anything it says or writes: the real commands, one after the other."""

import contextlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.commands.secret_house import House, answers
from tests.facts.ladder.serving import serving

FORMS = ("text", "json", "markdown", "sarif")
LAUNCHES = ("run.sh", "glued.sh", "file.sh", "run.ps1", "run.bat", "compose.yml", "Dockerfile", "llama.service", "llama-swap.yaml", "models.ini", "Modelfile")  # fmt: skip
REPOSITORY = str(Path(__file__).parents[2])


class Run:
    """The commands in a house, and what each of them said."""

    def __init__(self, house):
        self.house = house
        self.said = {}

    def environ(self):
        names = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.house.home),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "TERM": "xterm-256color",
        }
        return {**names, "PYTHONPATH": REPOSITORY, "PYTHONDONTWRITEBYTECODE": "1", **self.house.environ}

    def one(self, *argv, where="work", stdin=b""):
        done = subprocess.run(
            [sys.executable, "-m", "doctor", *argv], env=self.environ(), cwd=self.house.root / where, input=stdin, capture_output=True, timeout=60
        )  # fmt: skip
        self.said[" ".join(argv), where] = (done.returncode, done.stdout.decode(), done.stderr.decode())

    def on_a_terminal(self, *argv):
        """The same where everything is a terminal: progress, the screen of `watch`, the question of `fix`."""
        pty = pytest.importorskip("pty")
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "doctor", *argv], env=self.environ(), cwd=self.house.work, stdin=theirs, stdout=theirs, stderr=theirs
        )  # fmt: skip
        os.close(theirs)
        os.write(ours, b"n\n")
        shown = b""
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                shown += piece
        os.close(ours)
        self.said[f"{' '.join(argv)}", "terminal"] = (process.wait(60), shown.decode("utf-8", "replace"), "")


def commands(house):
    """(arguments, folder, standard input) of every call; those of a list come one after the other."""
    url, out, key = house.url, str(house.out), ("--key-env", "MY_KEY")
    login = f"http://me:{house.secrets.word('URL on the command line')}@{url[7:]}/v1?api_key={house.secrets.key('query on the command line')}"
    typed = house.secrets.key("typed in place of a name")
    yield [("check", "-v"), ("check", "--format", "json", "--save", f"{out}/saved.json", "--html", f"{out}/check.html")]
    yield [("check", "--format", form) for form in FORMS[2:]]
    yield [("check", "-v", "--server", login, "--key", "MY_KEY"), ("check", "--fix", "--launch", house.command_line)]
    yield [("verify", "-v", "--deep", "--html", f"{out}/verify.html"), ("verify", login, "--format", "json", *key)]
    yield [("verify", url, "--deep", "--format", form, *key) for form in FORMS[1:]]
    yield [
        ("verify", "--client", "claude-code", "--deep", "-v"),
        ("verify", "--client", "opencode", "--format", "json"),
    ]
    yield [
        ("bench", url, "--seconds", "5", "--save", f"{out}/bench.json", *key),
        ("bench", url, "--format", "json"),
        ("bench", login, *key),
    ]
    yield [("watch", "--server", url, "--for", "1", "--log", str(house.log), "--key", "MY_KEY", "--save", f"{out}/watch.jsonl", "--html", f"{out}/watch.html"),
           ("watch", "--from", f"{out}/watch.jsonl", "--format", "json"), ("watch", "--server", login, "--for", "1", "--format", "markdown")]  # fmt: skip
    yield [
        ("log", str(house.log), "-v", "--html", f"{out}/log.html"),
        *(("log", str(house.log), "--format", form) for form in FORMS[1:]),
    ]
    for name in LAUNCHES:
        yield [
            ("check", "-v", "--fix", "--launch", name, "--skip", "clients,ladders"),
            ("check", "--launch", name, "--format", "json", "--skip", "clients,ladders,build"),
        ]
    yield [("plan", "--launch", house.command_line, "--vram", "24", "--ram", "64"), ("plan", f"{url}/m.gguf?token={typed}", "--vram", "24"),
           ("plan", f"http://me:{typed}@{url[7:]}/m.gguf", "--vram", "24", "--ram", "64", "--format", "json")]  # fmt: skip
    yield [
        ("explain", "401", "api_key", typed, "refused"),
        ("explain", "--check", "401 invalid api key", "--format", "json"),
    ]
    # What is typed wrong comes back in a line of its own.
    wrong = [("check", "--key", typed), ("check", "--server", f"http://me:{typed}@:x"), ("check", "--only", f"api_key={typed}"), ("check", "--from", f"token={typed}"),
             ("verify", "--key-env", typed, url), ("verify", f"ftp://me:{typed}@h"), ("bench", url, "--key-env", typed), ("watch", "--key", typed), ("fix", "--key-env", typed),
             ("fix", "--client", f"sk-{typed}"), ("rules", "show", f"sk-{typed}"), ("log", f"/no/such?api_key={typed}"), ("check", f"--api-key={typed}"),
             ("check", "--save", f"/no/such/token={typed}/x"), ("verify", url, "--timeout", f"sk-{typed}"), ("plan", f"https://h/x?token={typed}", f"--api-key={typed}")]  # fmt: skip
    yield wrong[::2]
    yield wrong[1::2]


FIXES = [
    ("fix", "--dry-run"), ("fix", "--dry-run", "--format", "json"), ("fix", "--yes"), ("fix", "--undo"), ("fix", "--yes", "--format", "json"), ("fix", "--yes"),
    ("fix", "--client", "claude-code", "--rule", "client/two-credentials-live", "--yes"), ("fix", "--client", "codex", "--yes", "--key-env", "MY_KEY"),
    ("fix", "--client", "aider", "--dry-run"), ("fix", "--client", "opencode", "--yes"), ("fix", "--undo", "--format", "json"),
]  # fmt: skip

SCREENS = [
    ("verify", "--deep"),
    ("bench", "{url}", "--seconds", "5", "--key-env", "MY_KEY"),
    ("watch", "--for", "1", "--log", "server.log"),
    ("fix", "--client", "codex"),
    ("check",),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with serving(lambda *request: state["answer"](*request)) as (url, asked), contextlib.ExitStack() as stack:
        house = House(tmp_path_factory.mktemp("house"), url)
        state["answer"] = answers(house.secrets)
        argv, environ = house.start_server()
        server = stack.enter_context(subprocess.Popen(argv, env=environ, stdin=subprocess.PIPE))
        stack.callback(server.kill)
        run = Run(house)
        run.one("rules", "list")  # compiles the rules once
        with ThreadPoolExecutor(2) as pool:
            list(
                pool.map(
                    lambda calls: [run.one(*call, where="launch" if "--launch" in call else "work") for call in calls],
                    commands(house),
                )
            )
        run.one("log", "-", "--format", "json", stdin=house.log.read_bytes())
        run.one("check", "--from", str(house.out / "saved.json"), "--format", "markdown")
        for call in FIXES:
            run.one(*call)
        for call in SCREENS:
            run.on_a_terminal(*(word.replace("{url}", url) for word in call))
        run.asked = list(asked)
        yield run


state = {}


def test_all_has_run_and_nothing_has_crashed(run):
    for call, (status, out, err) in run.said.items():
        assert status in (0, 1, 2), (call, status, err[-500:])
        assert "Traceback" not in out + err and "the check crashed" not in out and "own check of" not in out, call
    assert len(run.house.secrets.places) >= 120
    assert {path.name for path in run.house.out.iterdir()} == {
        "saved.json", "check.html", "verify.html", "bench.json", "watch.jsonl", "watch.html", "log.html",
    }  # fmt: skip


def test_the_secrets_were_read(run):
    """The server was sent them, or they stand as tokens: none is hidden because nobody looked."""
    sent = {value for _, _, headers, _ in run.asked for value in headers.values()}
    known = {place for secret, place in run.house.secrets.places.items() if any(secret in value for value in sent)}
    assert {"claude local settings", "the variable of --key-env", "opencode key file"} & known
    told = run.said["check -v", "work"][1]
    assert told.count("<key-") >= 3


def test_nothing_that_was_said_or_written_shows_a_secret(run):
    pieces = run.house.secrets.pieces()
    texts = {
        f"{what} of {' '.join(call)[:80]}": text
        for call, (_, *both) in run.said.items()
        for what, text in zip(("output", "error"), both, strict=True)
    }
    texts |= {f"the file {path.name}": path.read_text(encoding="utf-8") for path in run.house.out.iterdir()}
    edits = run.house.home / ".local/state/doctor"
    texts |= {f"the name {path}": str(path) for path in edits.rglob("*")}
    texts |= {f"the note {path}": path.read_text() for path in edits.rglob("edit.json")}
    leaks = {name: seen for name, text in texts.items() if (seen := run.house.secrets.seen_in(text, pieces))}
    assert leaks == {}


def test_a_copy_of_a_file_is_for_its_owner_alone(run):
    kept = [path for path in (run.house.home / ".local/state/doctor").rglob("*") if path.is_file()]
    assert kept and all(path.stat().st_mode & 0o077 == 0 for path in kept)
