"""Runs `doctor` many times, each a process of its own: forked from one that has imported everything, and measured.

Reads a list of runs as JSON from standard input, writes what became of each as a line of JSON: its number, the exit status
(negative: ended by that signal), seconds, processor seconds, and the most bytes of memory it held.
"""

import json
import os
import signal
import sys
import time

NOBODY = "http://127.0.0.1:9"
WARM_UP = (
    ["check", "--server", NOBODY, "--only", "server,clients,ladders"],
    ["verify", NOBODY],
    ["fix", "--server", NOBODY, "--dry-run"],
    ["bench", NOBODY],
    ["plan", f"{NOBODY}/m.gguf", "--vram", "24", "--ram", "64"],
)
"""What has been done before the first run: the time of imports is no answer to a server."""


def alone():
    """No process of anybody else is seen."""
    import psutil

    psutil.process_iter = lambda *args, **kwargs: iter(())


def warm():
    """Import all that the runs import, and load the rules once for all of them."""
    import doctor.commands.watch
    import doctor.engine.load
    import doctor.facts.watch.sampler
    from doctor.cli import main
    from doctor.outside import Outside

    knowledge = doctor.engine.load.load(Outside())
    doctor.engine.load._load = lambda outside: knowledge
    for words in WARM_UP:
        main(words)
    sys.stdout.flush()


def impatient(constants):
    """Set "module:NAME" to a value, also where it is the default of an argument."""
    from importlib import import_module

    from doctor.gguf.remote import read_remote

    for place, value in constants.items():
        module, _, name = place.partition(":")
        assert hasattr(import_module(module), name), place
        setattr(import_module(module), name, value)
        if place == "doctor.gguf.remote:SECONDS":
            read_remote.__kwdefaults__["seconds"] = value


def child(words, environ, out, seconds):
    """One run; does not come back."""
    signal.alarm(seconds)
    to = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for number in (1, 2):
        os.dup2(to, number)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["doctor", *words]
    from doctor.cli import run

    status = 70
    try:
        run()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 70
    finally:
        sys.stdout.flush()
        os._exit(status)


def main():
    """Fork, wait, tell."""
    asked = json.load(sys.stdin)
    told = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    alone()
    warm()
    impatient(asked.get("impatient", {}))
    begun, left = {}, list(enumerate(asked["runs"]))
    while left or begun:
        while left and len(begun) < asked["at_once"]:
            number, run = left.pop(0)
            pid = os.fork()
            if not pid:
                child(**run)
            begun[pid] = number, time.monotonic()
        pid, status, used = os.wait4(-1, 0)
        number, start = begun.pop(pid)
        found = {
            "run": number,
            "status": os.waitstatus_to_exitcode(status),
            "seconds": time.monotonic() - start,
            "processor": used.ru_utime + used.ru_stime,
            "peak": used.ru_maxrss << 10,
        }
        print(json.dumps(found), file=told, flush=True)


if __name__ == "__main__":
    main()
