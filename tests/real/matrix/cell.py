"""One cell: a client with a fault, what doctor says, its first remedy done as printed, and the client again."""

import contextlib
import json
import os
import time

from doctor.cli import main
from tests.real.matrix import servers
from tests.real.matrix.clients import sound
from tests.real.matrix.faults import CHECK, DEEP


class Cell:
    """The set-up of a cell and everything that runs for it. Use as a context."""

    def __init__(self, fault, client, home, pool, matrix_models, capsys):
        self.fault, self.capsys, self.pool = fault, capsys, pool
        self.stack = contextlib.ExitStack()
        self.server = contextlib.ExitStack()
        if fault.own:
            words, model = fault.words, str(matrix_models[fault.model])
            command = servers.Command(model, servers.harness.free_port(), words)
        else:
            command = pool.get(*fault.words)
        self.setup = sound(client, home, command)
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
        log = self.setup.home / "server.log"
        self.server.enter_context(servers.started(self.setup.command, log))
        self.setup.alive = True

    def after_remedy(self):
        """What the remedy asked for has happened."""
        if self.setup.alive is False:
            self.start()

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
        if command == CHECK:
            given = ["--launch", self.setup.command.text()] if self.fault.launch else []
            return self.doctor("check", *given, "--only", only)["findings"]
        deep = ["--deep", "--timeout", "15"] if command == DEEP else []
        return self.doctor("verify", "--client", self.setup.client.id, *deep)["findings"]

    def fix(self, rule):
        """Whether `doctor fix` has cured the finding of a rule. Its edits are in the home then, else nothing is changed."""
        if self.fault.seen[0] != CHECK or not rule.startswith(("client/", "context/", "output/")):
            return False
        given = ["--launch", self.setup.command.text()] if self.fault.launch else []
        if self.setup.secret:
            self.setup.env["SERVER_KEY"] = self.setup.secret
            given += ["--key-env", "SERVER_KEY"]
        answer = self.doctor("fix", "--client", self.setup.client.id, "--rule", rule, "--yes", *given)
        self.setup.env.pop("SERVER_KEY", None)
        if answer["state"] == "cured":
            self.setup.reload()
            return True
        self.setup.write()
        return False

    def wait(self):
        """Until a server that was only loading is ready."""
        left = self.setup.ready - time.monotonic()
        if left > 0:
            time.sleep(left)
