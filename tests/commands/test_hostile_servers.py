"""Every command that asks a server, in front of servers that mean no good: it ends soon, stays small, and says what is wrong.

A table of behaviours and commands; each cell is a process of its own, with the real `doctor` in it.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.hostile import AFTER, BEHAVIOURS, ONLY, SLOW, shown, sound
from tests.facts.ladder.serving import serving_all

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="processes are forked and their memory is counted in KiB"
)

ORIGIN = "http://localhost:3000"
COMMANDS = {
    "plan": ["plan", "{url}/owner/repo/resolve/main/m.gguf", "--vram", "24", "--ram", "64"],
    "plan repo": ["plan", "owner/repo:Q4_K_M", "--vram", "24", "--ram", "64"],
    "bench": ["bench", "{url}", "--seconds", "2"],
    "check": ["check", "--server", "{url}", "--only", "server,clients,ladders", "--save", "{home}/saved"],
    "fix": ["fix", "--yes"],
    "verify": ["verify", "{url}/v1", "--origin", ORIGIN],
    "watch": ["watch", "--server", "{url}", "--for", "1", "--interval", "0.5", "--save", "{home}/saved"],
}
PLACES = {
    "plan": ("all", "file"),
    "plan repo": ("all",),
    "bench": ("all", "posts"),
    "check": ("all", "after /health", "counters", "posts"),
    "fix": ("all", "posts", AFTER),
    "verify": ("all", "posts", "preflight"),
    "watch": ("all", "counters"),
}
"""At which requests the server is hostile: before the work of the command begins, and in the middle of it."""
SECONDS = {"plan": 10, "plan repo": 10, "bench": 12, "check": 15, "fix": 30, "verify": 15, "watch": 12}
"""A run must be over by then; on a machine that has other things to do, three times as long."""
PROCESSOR = 3.0
"""Seconds of processor time a run may take at most; one of a sound server takes 0.2."""
MEMORY = 256 << 20
"""Bytes that a run may hold at most; one of a sound server holds 100 MB."""
IMPATIENT = {
    "doctor.gguf.remote:SECONDS": 2.0,
    "doctor.gguf.fetch:BYTES_A_SECOND": 4e6,
    "doctor.bench.collect:FIRST_SECONDS": 4.0,
}
"""What is waited for: nobody shall wait 30 s for a model that never loads, as bench does, in a test."""

LATE = r"no (?:whole )?answer (?:within|in time)|did not end within|says nothing|not answer everything in time"
LONG = r"larger than 1 MiB|does not end|more than 10000 events|this is (?:a|no) |no more$|files cannot be read|no whole"
PACKED = r"\((?:gzip|br)\)|packed|compressed"
NO_HTTP = r"not valid HTTP|no valid HTTP|speak HTTP"
NOT_READ = r"no JSON|no UTF-8|no event stream|no object|instead of the model|JSON file|cannot be read|this is a"
NAMED = {
    **dict.fromkeys(SLOW, LATE),
    **dict.fromkeys(("endless body", "a body of 1 GB", "a line without end", "100,000 slots", "endless figures"), LONG),
    "empty events": LONG,
    "a byte a chunk": rf"{LATE}|{LONG}",
    "endless headers": NO_HTTP,
    "no status line": NO_HTTP,
    "a gzip bomb": PACKED,
    "says br, and is not": PACKED,
    "broken UTF-8": NOT_READ,
    "broken JSON": NOT_READ,
    "too deep JSON": NOT_READ,
    "broken events": NOT_READ,
    "mad numbers": r"no sensible number|no choices|no JSON|no speed can be told|files cannot be read|this is a",
    "status 999": r"HTTP 999",
    "a redirect to itself": r"redirect|leads on to|HTTP 307",
    "escapes": r"HTTP 400: |HTTP 400 to a plain|refused|pages of \S+ are not allowed|files cannot be read|cannot be used|no list",
}
"""What an answer to such a server must say, whatever the command; "large numbers" could be true."""
ELSEWHERE = {"preflight": r"OPTIONS request|pages of \S+ are not allowed"}
BROKEN = re.compile(r"Traceback|the check crashed|fault in doctor")
HEALTHY = re.compile(r"^✓ (?!Written)", re.MULTILINE)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff]")
AS_JSON = ("mad numbers", "large numbers", "escapes")
"""Behaviours whose answers are taken as JSON, too."""


def cells():
    """(command, behaviour, place, form) of every run, the slow ones first."""
    for behaviour in sorted(BEHAVIOURS, key=lambda name: name not in SLOW):
        for command in COMMANDS:
            for place in PLACES[command]:
                if place in ONLY.get(behaviour, (place,)):
                    yield command, behaviour, place, "text"
                    if behaviour in AS_JSON and place != AFTER:
                        yield command, behaviour, place, "json"
    for command in COMMANDS:
        yield command, "sound", "", "text"


CELLS = list(cells())


def settings(home, url):
    """Claude Code, set up with one mistake that `fix` can cure, for the commands that look at clients."""
    (home / ".claude").mkdir(parents=True)
    env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": "sk-local-test", "ANTHROPIC_MODEL": "qwen3"}
    (home / ".claude" / "settings.json").write_text(json.dumps({"env": env}))
    (home / ".claude.json").write_text('{"hasCompletedOnboarding": true}')


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Cell -> what became of it."""
    runs = []
    places = {cell[1:3] for cell in CELLS}
    with serving_all({place: sound if place[0] == "sound" else shown(*place) for place in places}) as urls:
        for number, (command, behaviour, place, form) in enumerate(CELLS):
            url, home = urls[behaviour, place], tmp_path_factory.mktemp(f"home{number}")
            settings(home, f"{url}/v1" if command == "fix" else url)
            words = [word.replace("{url}", url).replace("{home}", str(home)) for word in COMMANDS[command]]
            environ = {
                "HOME": str(home),
                "PATH": "/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "NO_COLOR": "1",
                "HF_ENDPOINT": url,
            }
            runs.append({
                "words": [*words, "--format", form],
                "environ": environ,
                "out": str(home / "out"),
                "seconds": 4 * SECONDS[command],
            })  # fmt: skip
        asked = json.dumps({"runs": runs, "at_once": 16, "impatient": IMPATIENT})
        clean = {name: value for name, value in os.environ.items() if name == "PATH" or name.startswith("PYTHON")}
        done = subprocess.run(
            [sys.executable, "-m", "tests.commands.forked"],
            cwd=Path(__file__).parents[2],
            env={**clean, "HOME": str(tmp_path_factory.mktemp("nobody"))},
            input=asked,
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert done.returncode == 0, done.stderr
    found = {CELLS[told["run"]]: told for told in map(json.loads, done.stdout.splitlines())}
    for cell, run in zip(CELLS, runs, strict=True):
        home = run["environ"]["HOME"]
        with open(run["out"], encoding="utf-8", errors="surrogateescape", newline="") as stream:
            found[cell]["said"] = stream.read()
        saved = os.path.join(home, "saved")
        if os.path.exists(saved):
            with open(saved, encoding="utf-8", newline="") as stream:
                found[cell]["saved"] = stream.read()
        found[cell]["settings"] = os.path.join(home, ".claude", "settings.json")
    return found


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def check_sound(told, command, form):
    """What must be true of every run."""
    said, saved = told["said"], told.get("saved", "")
    assert told["status"] in (0, 1, 2) and not BROKEN.search(said), said
    assert told["seconds"] < 3 * SECONDS[command] and told["processor"] < PROCESSOR and told["peak"] < MEMORY, told
    assert not CONTROL.search(said) and not CONTROL.search(saved)
    for line in saved.splitlines() if command == "watch" else [saved] if saved else []:
        json.loads(line, parse_constant=no_constant)
    with open(told["settings"], encoding="utf-8") as stream:
        assert json.load(stream)["env"]["ANTHROPIC_MODEL"] == "qwen3"
    if form == "json" and not said.startswith("doctor: "):
        json.loads(said, parse_constant=no_constant)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
@pytest.mark.parametrize("command", COMMANDS)
def test_it_ends_soon_stays_small_and_says_what_is_wrong(results, command, behaviour):
    for cell in CELLS:
        if cell[:2] != (command, behaviour):
            continue
        _, _, place, form = cell
        check_sound(results[cell], command, form)
        if form == "text" and behaviour in NAMED:
            words = r"^  Still wrong: " if command == "fix" else ELSEWHERE.get(place) or NAMED[behaviour]
            said = results[cell]["said"].rstrip()
            assert re.search(words, said, re.MULTILINE) and not HEALTHY.search(said), f"{cell}: {said}"


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_of_that_is_said_of_a_sound_server(results, command):
    """So that the test above cannot pass because such words are always there."""
    told = results[command, "sound", "", "text"]
    check_sound(told, command, "text")
    every = "|".join([r"^  Still wrong: ", *NAMED.values(), *ELSEWHERE.values()])
    assert not re.search(every, told["said"].rstrip(), re.MULTILINE), told["said"]
