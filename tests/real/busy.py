"""Work for a real server, and what `doctor` says of it meanwhile."""

import contextlib
import http.client
import json
import threading
import urllib.request

from doctor.cli import main

SENTENCE = "The lamp in room 7 was checked and found in order. "


def complete(url, prompt, tokens=24):
    """One answer of so many tokens; the server's whole reply."""
    body = json.dumps({"prompt": prompt, "n_predict": tokens, "ignore_eos": True}).encode()
    request = urllib.request.Request(f"{url}/completion", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.loads(reply.read())


def talk(url, turns, *, changing=False, tokens=16):
    """A conversation that grows turn by turn; `changing`: its first words are others each time."""
    text = SENTENCE * 12
    for turn in range(turns):
        text += f"Turn {turn}: and now the next lamp was checked too. "
        complete(url, (f"At {turn * 7919 + 100003} o'clock. " if changing else "") + text, tokens)


@contextlib.contextmanager
def at_work(request, workers=1):
    """Calls `request(number)` again and again, in as many threads, while the block runs."""
    stop = threading.Event()

    def work(number):
        while not stop.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):  # the server may end first
                request(number)
            number += workers

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(workers)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(120)


def doctor(capsys, *argv):
    """(exit status, answer) of a command."""
    status = main([*argv, "--format", "json"])
    return status, json.loads(capsys.readouterr().out)


def bench(capsys, url, *more, seconds="12"):
    """(exit status, answer) of a measurement."""
    return doctor(capsys, "bench", url, "--seconds", seconds, *more)


def watch(capsys, server, seconds="8"):
    """The answer of some seconds of watching a server and its log."""
    return doctor(capsys, "watch", "--server", server.url, "--log", str(server.log_path), "--for", seconds)[1]


def rules(answer):
    """The rules of the findings that are faults, the first one first."""
    return [found["rule"] for found in answer["findings"] if found["severity"] != "note" and not found["instead_of"]]
