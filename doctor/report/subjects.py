"""What the things that are looked at are called: the words of those who use llama.cpp, not those of the facts."""

from __future__ import annotations

from doctor.report.columns import columns

NAMES = {
    "machine": ("machine", "机器"),
    "gpu": ("GPU", "显卡"),
    "cuda": ("CUDA", "CUDA"),
    "build": ("build", "程序版本"),
    "gguf": ("model", "模型文件"),
    "launch": ("launch", "启动命令"),
    "server": ("server", "服务"),
    "clients": ("client", "客户端"),
    "ladders": ("connection", "连接"),
    "budget": ("memory", "内存预算"),
    "speed": ("speed", "速度"),
    "log": ("log", "日志"),
    "timeline": ("requests", "各次请求"),
    "bench": ("benchmark", "测速"),
    "watch": ("watch", "观察"),
    "process": ("server process", "服务进程"),
    "asked": ("this text", "这段文字"),
}
"""Subject of the facts -> its name in English and in Chinese."""
CHOICES = {
    "machine": "machine", "gpu": "gpu", "cuda": "cuda", "build": "build", "model": "gguf", "launch": "launch",
    "server": "server", "client": "clients", "connection": "ladders",
    "gguf": "gguf", "clients": "clients", "connections": "ladders", "ladders": "ladders",
}  # fmt: skip
"""What --only and --skip take -> subject: the names that are shown, then others that mean the same."""
SHOWN_CHOICES = tuple(CHOICES)[:9]
WIDTH = 11


def name_of(subject: str, lang: str) -> str:
    """The name of a subject."""
    return NAMES.get(subject, (subject, subject))[lang == "zh"]


def padded(name: str, width: int = WIDTH) -> str:
    """A name filled up to the width of its column; a Chinese character takes two."""
    return name + " " * max(0, width - columns(name))
