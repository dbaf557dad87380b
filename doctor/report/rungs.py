"""The names of the steps of a way in both languages."""

from __future__ import annotations

NAMES = {
    "en": {
        "name": "name",
        "proxy": "proxy",
        "port": "port",
        "http": "HTTP",
        "kind": "program",
        "ready": "ready",
        "key": "key",
        "path": "path",
        "cors": "browser",
        "model": "model",
        "context": "context",
        "template": "template",
        "reply": "reply",
        "stream": "stream",
        "tools": "tool call",
        "cache": "cache",
        "speed": "speed",
    },
    "zh": {
        "name": "域名",
        "proxy": "代理",
        "port": "端口",
        "http": "HTTP",
        "kind": "程序",
        "ready": "就绪",
        "key": "密钥",
        "path": "路径",
        "cors": "浏览器",
        "model": "模型",
        "context": "上下文",
        "template": "模板",
        "reply": "回答",
        "stream": "流式",
        "tools": "工具调用",
        "cache": "缓存",
        "speed": "速度",
    },
}
