"""A command line as each kind of launch file has it, written as people write them."""

import json


def shell(words):
    return "start.sh", "#!/bin/bash\n" + " ".join(map(sh, words)) + "\n"


def continued(words):
    return "start.sh", "#!/bin/sh\n# mine\n" + " \\\n  ".join(map(" ".join, grouped(words, sh))) + "\n\necho done\n"


def array(words):
    rows = [" ".join(group) for group in grouped(words[1:], sh)]
    listed = "".join(f"\t{row}\n" for row in rows)
    return "start.sh", f'#!/bin/bash\nARGS=(\n{listed})   # all of it\nexec {words[0]} "${{ARGS[@]}}"\n'


def batch(words):
    return "start.bat", "@echo off\r\n" + " ^\r\n  ".join(map(" ".join, grouped(words, bat))) + "\r\npause\r\n"


def powershell(words):
    rows = [", ".join(ps(word) for word in group) for group in grouped(words[1:], str)]
    listed = ",\r\n".join(f"  {row}" for row in rows)
    return "start.ps1", f"# mine\r\n$llama = @(\r\n{listed}\r\n)\r\n& {words[0]} @llama\r\n"


def compose_list(words):
    items = "".join(f"      - {json.dumps(dollars(word), ensure_ascii=False)}\n" for word in words[1:])
    return "compose.yml", f"{IMAGE}    command:   # arguments\n{items}    restart: always\n"


def compose_flow(words):
    items = ", ".join(json.dumps(dollars(word), ensure_ascii=False) for word in words[1:])
    return "compose.yml", f"{IMAGE}    command: [{items}]\n"


def compose_text(words):
    rows = "".join(f"      {' '.join(group)}\n" for group in grouped(words[1:], lambda word: dollars(sh(word))))
    return "compose.yml", f"{IMAGE}    command: >\n{rows}    restart: always   # mine\n"


def dockerfile(words):
    rows = ", \\\n     ".join(", ".join(json.dumps(word) for word in group) for group in grouped(words[1:], str))
    return "Dockerfile", f"FROM ghcr.io/ggml-org/llama.cpp:server\n# mine\nCMD [{rows}]\n"


def systemd(words):
    rows = " \\\n    ".join(map(" ".join, grouped(words, unit)))
    return "llama.service", f"[Unit]\nDescription=x\n\n[Service]\nExecStart=/usr/bin/{rows}\nRestart=on-failure\n"


def llama_swap(words):
    rows = "".join(f"      {' '.join(group)}\n" for group in grouped(words, sh))
    return "llama-swap.yaml", f"models:\n  # mine\n  one:\n    cmd: |\n{rows}    ttl: 60\n"


def presets(words):
    rows = []
    for group in grouped(words[1:], str):
        rows.append(f"{group[0].lstrip('-')} = {' '.join(group[1:]) or 'true'}")
    return "models.ini", "version = 1\n\n; mine\n[one]\n" + "\n".join(rows) + "\n"


IMAGE = "services:\n  llama:\n    image: ghcr.io/ggml-org/llama.cpp:server\n"
FORMS = (
    shell, continued, array, batch, powershell, compose_list, compose_flow, compose_text, dockerfile, systemd, llama_swap,
    presets,
)  # fmt: skip


def grouped(words, write):
    """Options with their values."""
    groups = []
    for word in words:
        if (word.startswith("-") and not word[1:2].isdigit()) or not groups:
            groups.append([write(word)])
        else:
            groups[-1].append(write(word))
    return groups


def sh(word):
    safe = word and all(char.isalnum() or char in "_./:@%+=,~-" for char in word)
    return word if safe else "'" + word.replace("'", "'\"'\"'") + "'"


def bat(word):
    return '"' + word.replace('"', '\\"') + '"' if " " in word or '"' in word or not word else word


def ps(word):
    return "'" + word.replace("'", "''") + "'"


def unit(word):
    word = word.replace("%", "%%").replace("$", "$$")
    quoted = '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return quoted if " " in word or '"' in word or "\\" in word or not word else word


def dollars(word):
    return word.replace("$", "$$")
