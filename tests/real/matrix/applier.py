"""Does what a remedy says, as somebody would who reads only that: it knows nothing of the fault.

Forms it understands: a command of llama-server, `export`, `unset`, a waiting loop, another shell command; sentences that
say which base URL to write, which key to enter, which setting to write or to remove, which option to start with.
"""

import json
import os
import re
import shlex
import subprocess

from tests.real.matrix.clients import program
from tests.real.matrix.run import run_words
from tests.real.matrix.servers import NotRun

_URL = r"(https?://[^\s,;)`\"']+)"
_LITERAL = "the value after --api-key"
_NAME = r"([A-Za-z][\w.-]*(?:\.[\w-]+)*)"


class NotApplied(Exception):
    """Nothing in the remedy could be done as printed."""


def apply(remedy, setup):
    """Do it. Raises NotApplied."""
    text, command = remedy["text"], remedy["command"]
    done = _command(command, text, setup) if command else _sentence(text, setup)
    if not done:
        raise NotApplied(f"{text} | {command}")
    setup.write()


def _command(command, text, setup):
    if command.startswith(("export ", "unset ")):
        return _shell(command, setup)
    if command.startswith("llama-server"):
        return _restart(command, setup)
    if command.startswith("cline auth "):
        found = program("cline")
        if found is None:
            setup.client.auth(setup, shlex.split(command))
        else:
            run_words([found, *shlex.split(command)[1:]], setup.home, {}, 20)
            setup.reload()
        return True
    if command.startswith(("until ", "python3 ", "curl ")):
        env = {"PATH": os.environ["PATH"], "HOME": str(setup.home)}
        subprocess.run(["bash", "-c", command], env=env, cwd=setup.home, timeout=40, check=True, capture_output=True)
        for path in list(setup.files):
            if path == ".claude.json":
                setup.files[path] = (setup.home / path).read_text("utf-8")
        found = re.search(r"restart the server as `(llama-server [^`]+)`", text)
        return _restart(found[1], setup) if found else True
    return False


def _shell(command, setup):
    words = shlex.split(command)
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if words[0] == "unset":
            setup.drop(name, "environment")
        elif equals:
            known = {_LITERAL: setup.secret or "none", "the file after --ssl-cert-file": setup.certificate}
            literal = next((text for text in known if value.startswith(text)), None)
            setup.env[name] = known[literal] if literal else value
    return True


def _restart(command, setup):
    try:
        setup.command = setup.command.printed(command, setup.home)
    except (NotRun, ValueError, IndexError) as error:
        raise NotApplied(f"{command}: {error!r}") from None
    setup.alive = False  # what runs is stopped, this is started
    return True


def _sentence(text, setup):
    for pattern, do in FORMS:
        found = re.search(pattern, text)
        if found:
            do(found, setup, text)
            return True
    return False


def _point(found, setup, text):
    setup.point(found[1].rstrip("."))


def _write(found, setup, text):
    """NAME = "value"."""
    setup.put(found[1], found[2], text)


def _server_key(found, setup, text):
    name = next((word for word in re.findall(_NAME, text) if setup.holders(word)), setup.client.key)
    setup.put(name, setup.secret, text)


def _named_key(found, setup, text):
    setup.put(found[1], setup.secret, text)


def _clean_key(found, setup, text):
    name = next((word for word in re.findall(_NAME, text) if setup.holders(word)), None)
    if name is None:
        raise NotApplied(text)
    value = setup.get(name).strip().strip("\"'").strip()
    setup.put(name, re.sub(r"^(?i:bearer)\s+", "", "".join(value.split("\n"))).strip(), text)


def _one_of(found, setup, text):
    if setup.client.id == "opencode":  # the id is written with its provider, and has to be listed
        setup.client.name_models(setup, found[2].split(",")[0].strip())
        return
    setup.put(found[1], found[2].split(",")[0].strip(), text)


def _replace_name(found, setup, text):
    wrong, right = found[2], found[1].split(",")[0].strip()
    for name in (setup.client.model, "ANTHROPIC_DEFAULT_HAIKU_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL"):
        if setup.get(name) == wrong:
            setup.put(name, right)


def _drop(found, setup, text):
    setup.drop(found[1], text)


def _options(found, setup, text):
    setup.command = setup.command.with_words(*shlex.split(found[1]))
    setup.alive = False


def _start(found, setup, text):
    setup.alive = False


def _rename(found, setup, text):
    value = setup.get(found[1])
    setup.drop(found[1], text)
    setup.put(found[2], value, text)


def _rename_table(found, setup, text):
    tables = setup.files[setup.client.settings]["model_providers"]
    tables[found[2]] = tables.pop(found[1])
    setup.put("model_provider", found[2])


def _model_of_provider(found, setup, text):
    setup.client.name_models(setup, found[1])


def _number(found, setup, text):
    setup.put(found[1], int(found[2]), text)


def _direct(found, setup, text):
    setup.point(f"http://127.0.0.1:{setup.command.port}" + ("/v1" if "with /v1" in text else ""))


def _model_id(found, setup, text):
    setup.put(setup.client.model, found[1])


def _list_model(found, setup, text):
    limit = re.search(r'"context": (\d+), "output": (\d+)', text)
    entry = {"name": found[1], "limit": {"context": int(limit[1]), "output": int(limit[2])}}
    setup.files[setup.client.settings]["provider"]["local"]["models"][found[1]] = entry


def _limit(found, setup, text):
    limit = {"context": int(found[1]), "output": int(found[2])}
    setup.files[setup.client.settings]["provider"]["local"]["models"][found[3]]["limit"] = limit


def _repair(found, setup, text):
    """Put in the comma that is missing at the place the parser names."""
    path = setup.client.settings
    broken = setup.files[path]
    try:
        json.loads(broken)
    except json.JSONDecodeError as error:
        setup.files[path] = json.loads(f"{broken[: error.pos]},{broken[error.pos :]}")


def _update(found, setup, text):
    if setup.update is None:
        raise NotApplied(text)
    setup.update()


FORMS = (
    (r"address its log names after `listening on`", _direct),
    (r"^Rename \[model_providers\.(\w+)\] to an id of your own, such as (\w+), and set model_provider", _rename_table),
    (rf"^Rename {_NAME} to {_NAME}", _rename),
    (r'^Set model = "local/([^"]+)"', _model_of_provider),
    (rf"^Set {_NAME} = (\d+) (?:in|for)", _number),
    (r"^Write (openai/\S+) in", _model_id),
    (r'^Add "limit": \{ "context": (\d+), "output": (\d+) \} to the model (\S+)', _limit),
    (r'^Add "([^"{}]+)": \{\} below models', _list_model),
    (r"^Repair the file: ", _repair),
    (r"^Update (?:the server|llama)", _update),
    (rf"^(?:Set|Write|Point|Use|Put)\b[^`]*?{_URL}", _point),
    (rf"on the same machine: write {_URL}", _point),
    (rf"leads on to {_URL}", _point),
    (rf"^(?:Set|Write|Put) {_NAME} = \"([^\"]+)\"", _write),
    (r"^(?:Enter|Write) .*only the key|^Write only the key itself", _clean_key),
    (rf"^Set {_NAME} to one of: ([^()]+)", _one_of),
    (rf"^Set {_NAME} to (\S+) \(in ", _one_of),
    (r"^Use one of the names the server has \(([^)]+)\) instead of (\S+)", _replace_name),
    (rf"^Set {_NAME} to the main model, ([^\s(]+)", _one_of),
    (rf"^Write the key the server was started with into {_NAME}", _named_key),
    (
        r"^(?:Give the client the server's key|Put the server's key|Enter the server's `--api-key`|Replace it by the server's)",
        _server_key,
    ),
    (rf"^Give {_NAME} the server's key", _named_key),
    (rf"^(?:Remove|Unset|Delete the line) {_NAME}", _drop),
    (r"restart llama-server with `(-[^`]+)`|^Start (?:the server )?with `(-[^`]+)`", _options),
    (r"^(?:Start llama-server|Start the server)|restart the server", _start),
)
