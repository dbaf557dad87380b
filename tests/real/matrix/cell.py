"""One cell: a client with a fault, what doctor says, its first remedy by `doctor fix` or as printed, and the client again."""

import contextlib
import json
import os
import time

from doctor.cli import main
from tests.real.matrix import servers, world
from tests.real.matrix.applier import NotApplied, apply
from tests.real.matrix.clients import sound
from tests.real.matrix.faults import CHECK, DEEP, LOG, ORIGIN
from tests.real.matrix.request import ORIGIN as PAGE
from tests.real.matrix.setup import LAUNCH


class Cell:
    """The set-up of a cell and everything that runs for it. Use as a context."""

    def __init__(self, fault, client, home, pool, matrix_models, capsys):
        self.fault, self.capsys, self.pool = fault, capsys, pool
        self.stack = contextlib.ExitStack()
        self.server = contextlib.ExitStack()
        if fault.own:
            words = tuple(world.own_address() if word == world.OWN else word for word in fault.words)
            model = str(matrix_models[fault.model])
            command = servers.Command(model, servers.harness.free_port(), words)
        else:
            command = pool.get(*fault.words)
        self.setup = sound(client, home, command)
        self.setup.own = fault.own and fault.launch
        self.log = home / "server.log"
        if fault.words == servers.ROUTER:
            self.setup.client.name_models(self.setup, servers.SERVED)

    def __enter__(self):
        self.stack.__enter__()
        self.fault.break_it(self.setup, self.stack)
        self.setup.write()
        if (self.fault.own and self.setup.alive) or self.fault.id == "still-loading":
            self.start()
        return self

    def __exit__(self, *error):
        self.server.close()
        self.stack.close()

    def start(self):
        """(Re)start the server with the command as it stands now."""
        self.server.close()
        self.server.enter_context(servers.started(self.setup.command, self.log))
        self.setup.alive = True

    def doctor(self, *argv):
        """The JSON answer of a run of doctor in this home."""
        kept = {name: os.environ.get(name) for name in self.setup.env}
        os.environ |= dict(self.setup.env.items())
        try:
            self.capsys.readouterr()
            main([*argv, "--format", "json", "--lang", "en"])
            return json.loads(self.capsys.readouterr().out)
        finally:
            for name, value in kept.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})

    def look(self, command, only="launch,server,clients,ladders"):
        """The findings of one of the commands."""
        given = self.given()
        if command == LOG:  # as a terminal shows it: the command, then what it printed
            text = f"$ {self.setup.command.text()}\n{self.log.read_text('utf-8', 'replace')}"
            (self.setup.home / "terminal.log").write_text(text, encoding="utf-8")
        who = ["--client", self.setup.client.id]
        argv = {
            CHECK: ["check", *given, "--only", only],
            DEEP: ["verify", *who, "--deep", "--timeout", "15"],
            ORIGIN: ["verify", str(self.setup.get(self.setup.client.base)), "--origin", PAGE],
            LOG: ["log", str(self.setup.home / "terminal.log")],
        }.get(command, ["verify", *who])
        return self.doctor(*argv)["findings"]

    def given(self):
        """The option that tells doctor the server's command: the file it is written in, or the command itself."""
        if not self.fault.launch:
            return []
        return ["--launch", str(self.setup.home / LAUNCH) if self.setup.own else self.setup.command.text()]

    def cure(self, finding):
        """(way, why not): the first remedy is done by `doctor fix` where it is one that doctor can do, else as printed."""
        if finding is None or not finding["remedies"]:
            return "", "no remedy is named"
        remedy = finding["remedies"][0]
        if remedy["edit"]:
            state = self.fix(finding["rule"])
            if state == "launch-done":
                self.start()
            return ("fix", "") if state in ("cured", "launch-done") else ("", f"doctor fix: {state}")
        return "hand", self.by_hand(remedy)

    def by_hand(self, remedy):
        """What kept the remedy from being done as printed, "" when it is done."""
        try:
            apply(remedy, self.setup)
        except NotApplied as error:
            return f"not done: {error}"
        if self.setup.alive is False:
            self.start()
        self.wait()
        return ""

    def fix(self, rule):
        """How `doctor fix` ended on the finding of a rule; what it has written is read."""
        given = self.given() + ([] if self.setup.own else ["--client", self.setup.client.id])
        if self.setup.secret:
            self.setup.env["SERVER_KEY"] = self.setup.secret
            given += ["--key-env", "SERVER_KEY"]
        answer = self.doctor("fix", "--rule", rule, "--yes", *given)
        self.setup.env.pop("SERVER_KEY", None)
        if answer["state"] in ("cured", "not-cured", "undecided", "launch-done", "launch-partly"):
            self.setup.reload()
        return answer["state"]

    def undo(self):
        """Take the edit back: the set-up is as broken as before."""
        before = self.setup.command
        state = self.doctor("fix", "--undo")["state"]
        self.setup.reload()
        if self.setup.command != before:
            self.start()
        return state

    def wait(self):
        """Until a server that was only loading is ready."""
        left = self.setup.ready - time.monotonic()
        if left > 0:
            time.sleep(left)
