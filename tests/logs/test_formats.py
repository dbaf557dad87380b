"""The same fault in every wrapping people paste it in gives the same first finding, with the right line."""

import json
from functools import cache

import pytest

from doctor.commands.log import read
from doctor.engine.load import load
from doctor.outside import Outside
from doctor.secrets import Vault

ALLOC = (
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8192.00 MiB on device 0: cudaMalloc failed: out of memory"
)
FAULT = "llama_kv_cache: failed to allocate buffer for kv cache"
END = "srv  llama_server: exiting due to model loading error"
LINES = [ALLOC, FAULT, END]


@cache
def knowledge():
    return load(Outside(environ={}))


def first(data):
    _, found, _ = read([data], knowledge(), Outside(environ={}), Vault(), lang="en", source="input")
    return found.findings[0] if found.findings else None


def prefixed(prefix):
    return "".join(f"{prefix}{line}\n" for line in LINES)


WRAPPINGS = {
    "plain": "\n".join(LINES),
    "levels": "".join(f"0.02.599.{n}77 E {line}\n" for n, line in enumerate(LINES)),
    "compose": prefixed("llama-1  | "),
    "compose with container": prefixed("llama-server-1  | 0.02.599.277 E "),
    "docker timestamps": prefixed("2026-11-30T18:15:43.123456789Z "),
    "journald": prefixed("Nov 30 18:15:43 box llama-server[4711]: "),
    "router child": prefixed("[48271] 0.02.599.277 E "),
    "kubernetes": prefixed("2026-11-30T18:15:43Z stderr F "),
    "quoted mail": prefixed("> "),
    "issue list": prefixed("- "),
    "indented": prefixed("    "),
    "line numbers": "".join(f"{n:5d}  {line}\n" for n, line in enumerate(LINES)),
    "fence": "Hello, it does not start:\n\n```\n" + prefixed("") + "```\n\nThanks!\n",
    "issue template": "### Name and Version\nversion: 6143 (abc1234)\n\n### Operating systems\nLinux\n\n### Relevant log output\n\n```shell\n"
    + prefixed("")
    + "```\n",
    "crlf": prefixed("").replace("\n", "\r\n"),
    "colours": "".join(f"\x1b[34m0.02.599.277\x1b[0m \x1b[31mE\x1b[0m {line}\n" for line in LINES),
    "progress before": "loading 10 %\rloading 50 %\r" + prefixed(""),
    "llama-swap": prefixed('<qwen> '),
    "ollama": prefixed('time=2026-11-30T18:15:43.123Z level=INFO source=server.go:1 msg="x"\n').replace("x\n", "x"),
    "json lines": "".join(json.dumps({"type": "log", "level": "E", "msg": line}) + "\n" for line in LINES),
    "json log driver": "".join(json.dumps({"log": line + "\n", "stream": "stderr"}) + "\n" for line in LINES),
    "html entities": prefixed("").replace(">", "&gt;"),
    "tabs": prefixed("\t\t"),
    "powershell error": "".join(f"llama-server.exe : {line}\nAt line:1 char:1\n+ .\\llama-server.exe -m x.gguf\n" for line in LINES),
    "chinese around": "启动的时候报错，日志如下：\n" + prefixed("") + "求助！\n",
    "bytes around": "\x00\x01garbage\n" + prefixed(""),
}  # fmt: skip


@pytest.mark.parametrize("name", WRAPPINGS)
def test_wrapping(name):
    text = WRAPPINGS[name]
    finding = first(text.encode())
    assert finding is not None and finding.cause == "gpu-oom-kv-cache"
    number = next(n for n, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1) if "for kv cache" in line)
    assert number in [evidence.line for evidence in finding.evidence]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"])
def test_encoding(encoding):
    assert first(WRAPPINGS["plain"].encode(encoding)).cause == "gpu-oom-kv-cache"


@pytest.mark.parametrize("width", [80, 100, 120])
def test_console_that_wraps(width):
    text = "\n".join(line[i : i + width] for line in LINES for i in range(0, len(line), width))
    assert first(text.encode()).cause == "gpu-oom-kv-cache"


@pytest.mark.parametrize("cut", [10, 20, 40])
def test_cut_lines(cut):
    """A screen copied from the side: the beginnings of the lines are gone."""
    assert first("\n".join(line[cut:] for line in LINES[:1] + [FAULT[10:]]).encode()).cause.startswith("gpu-oom")
