"""The program's own words in English and Chinese; what rules say stands in the rules."""

from __future__ import annotations

import re

_KEY_TOKEN = re.compile(r"<key-\d+>")

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "error": "error",
        "warning": "warning",
        "note": "note",
        "seen": "seen",
        "likely": "likely",
        "guess": "a guess from its words",
        "do_first": "Do this first",
        "or": "Or",
        "fix_hint": "doctor can make this edit: ",
        "costs": "costs",
        "cmake_line": "The cmake line for this machine:",
        "fixed_for": "The launch command for {build}:",
        "together": "The launch command with all of these changes:",
        "newest_build": "the newest build known here",
        "nothing_to_fix": "nothing to put right",
        "left_out": "leave it out",
        "by_hand": "nobody but you knows the right value",
        "evidence": "Evidence",
        "why": "Why",
        "more_alike": "… and {count} more like it, up to line {line}",
        "follows": "What follows from it",
        "to_decide": "To be sure",
        "more": "More",
        "looks_like": "It looks like",
        "recognised": "Recognised by",
        "signs": "Recognised by patterns and conditions ({count}): `doctor rules show {rule} -v` lists them.",
        "looked_at": "Looked at",
        "not_checked": "Not checked",
        "none_found": "none found",
        "needs": "What the launch command needs",
        "nothing_here": "No server, launch command, model file or client is here to look at. Name yours: "
        "doctor check --server URL, --launch FILE, --model FILE.",
        "undecided": "{count} finer checks could not be decided; -v lists them",
        "nothing_check": "Nothing wrong found in what could be looked at.",
        "nothing_verify": "Every step that could be tried works: from the settings to an answer of the model.",
        "nothing_verify_cheap": "Every step that could be tried works. Whether the model answers, streams, calls "
        "tools and finds its cache was not tried: add --deep (some hundred tokens).",
        "not_tried": "not tried:",
        "way_breaks": "{rung} fails",
        "way_holds": "no step fails",
        "since": "{rung} failed",
        "because": " ({why})",
        "openai_base": "base URL for OpenAI-type clients (Codex, OpenCode):  ",
        "anthropic_base": "base URL for Anthropic-type clients (Claude Code):   ",
        "nothing_log": "Nothing wrong found in this text.",
        "nothing_log_quiet": "Nothing wrong found in this text. What it cannot show: devices, layers on the card, KV cache and "
        "buffer sizes. Newer builds print those only with `-lv 4` (this log: -lv {level}); that they are missing proves nothing.",
        "nothing_recognised": "Nothing in this text was recognised. "
        "Paste the lines around the first error, the launch command, or the client's message. What decides most questions: "
        "the output of `llama-server … -lv 4` from its first line, `nvidia-smi`, and `curl http://127.0.0.1:8080/props`.",
        "nothing_bench": "Nothing holds this server back that a measurement through its API can show.",
        "not_measured": "Not measured: {problem}",
        "nothing_explain": "No known cause fits these words. Try the program's own error text, or `doctor log FILE` on its log.",
        "key_token": "({tokens} stands for a key that is not shown: put yours there)",
        "empty_log": "The text is empty. A coding agent that prints nothing mostly tries again and again without a word: "
        "`doctor verify --client NAME --deep` says where it is stuck.",
        "walk": "On the machine of the client, `doctor verify --client NAME` walks its way to the model and tells these apart.",
        "guessed_slow": "Nothing here shows why it is slow. By the words these causes are nearest; what else is wrong is below.",
        "guessed": "No message in this text is one that doctor knows. By their words these causes are nearest.",
        "instead": "The same can come from",
        "weak": "No cause fits these words well; the nearest are below. More words, or the program's own error text, help.",
        "several": "It could be one of these. What tells them apart stands under each.",
        "price_none": "",
        "price_speed": "some speed",
        "price_quality": "some quality",
        "price_context": "context length",
        "price_restart": "a restart",
        "price_download": "a download",
        "price_money": "money",
        "price_work": "some work",
    },
    "zh": {
        "error": "错误",
        "warning": "警告",
        "note": "提示",
        "seen": "已确认",
        "likely": "很可能",
        "guess": "据文字猜测",
        "do_first": "先做这个",
        "or": "或者",
        "fix_hint": "doctor 可以替你修改：",
        "costs": "代价",
        "cmake_line": "适合这台机器的 cmake 命令：",
        "fixed_for": "启动命令（{build}）：",
        "together": "包含以上全部修改的启动命令：",
        "newest_build": "这里所知的最新版本",
        "nothing_to_fix": "没有要改的",
        "left_out": "去掉",
        "by_hand": "正确的值只有你自己知道",
        "evidence": "依据",
        "why": "原因",
        "more_alike": "……类似的还有 {count} 行，直到第 {line} 行",
        "follows": "由此引起",
        "to_decide": "如何确认",
        "more": "更多",
        "looks_like": "它的样子",
        "recognised": "识别方式",
        "signs": "识别它的模式和条件共 {count} 个，`doctor rules show {rule} -v` 可列出。",
        "looked_at": "已检查",
        "not_checked": "未检查",
        "none_found": "没有找到",
        "needs": "启动命令需要",
        "nothing_here": "这里没有可查看的服务、启动命令、模型文件或客户端。请指明你的："
        "doctor check --server URL、--launch FILE、--model FILE。",
        "undecided": "另有 {count} 项细节无法判断，-v 可列出",
        "nothing_check": "在能检查到的范围内没有发现问题。",
        "not_tried": "没有试：",
        "way_breaks": "{rung}不通",
        "way_holds": "每一步都通",
        "since": "{rung}没有通过",
        "because": "（{why}）",
        "openai_base": "OpenAI 接口的客户端（Codex、OpenCode 等）的 base URL： ",
        "anthropic_base": "Anthropic 接口的客户端（Claude Code 等）的 base URL：  ",
        "nothing_verify": "能试的每一步都通过：从设置一直到模型的回答。",
        "nothing_verify_cheap": "能试的每一步都通过。模型能否回答、流式输出、调用工具、命中缓存没有试："
        "加 `--deep`（几百个 token）。",
        "nothing_log": "这段文字里没有发现问题。",
        "nothing_log_quiet": "这段文字里没有发现问题。它看不出：设备、显卡上的层数、KV 缓存和缓冲区大小。"
        "较新的版本要 `-lv 4` 才会打印这些（这份日志是 -lv {level}），没有这些行不能说明任何问题。",
        "nothing_recognised": "这段文字里没有认得的内容。请贴上第一条错误前后的日志、启动命令，或客户端显示的信息。"
        "最能说明问题的是：`llama-server … -lv 4` 从第一行起的输出、`nvidia-smi` 和 `curl http://127.0.0.1:8080/props`。",
        "nothing_bench": "通过 API 的测量没有发现拖慢服务器的原因。",
        "not_measured": "没有测到：{problem}",
        "nothing_explain": "没有已知原因符合这些描述。请用程序自己的报错文字，或对日志运行 `doctor log FILE`。",
        "key_token": "（{tokens} 代表没有显示的密钥，请换成你自己的）",
        "empty_log": "输入是空的。编程助手什么都不打印，多半是在默默重试：`doctor verify --client NAME --deep` 会说出它卡在哪里。",
        "walk": "在客户端所在的机器上运行 `doctor verify --client 名称`：它逐步检查从客户端到模型的路径，能区分下面这些原因。",
        "guessed_slow": "这段文字里看不出为什么慢。按字面看，前面几种原因最接近；其他问题列在后面。",
        "guessed": "这段文字里没有 doctor 认得的信息。按字面看，下面几种原因最接近。",
        "instead": "同样的现象也可能来自",
        "weak": "没有很符合的原因，下面是字面上最接近的。多写几个词，或贴出程序自己的报错，会更准。",
        "several": "可能是下面几种之一，每条下面写了如何区分。",
        "price_none": "",
        "price_speed": "损失一些速度",
        "price_quality": "损失一些质量",
        "price_context": "上下文变短",
        "price_restart": "需要重启",
        "price_download": "需要下载",
        "price_money": "需要花钱",
        "price_work": "需要一些工作",
    },
}


def colon(lang: str) -> str:
    """What stands between a label and its text."""
    return "：" if lang == "zh" else ": "


def say(key: str, lang: str) -> str:
    """The program's words for `key`."""
    return WORDS["zh" if lang == "zh" else "en"][key]


def key_remark(command: str, lang: str) -> str:
    """What the tokens in a command stand for; "" where it has none."""
    tokens = ", ".join(dict.fromkeys(_KEY_TOKEN.findall(command)))
    return say("key_token", lang).format(tokens=tokens) if tokens else ""


def language(option: str | None, environ: dict[str, str]) -> str:
    """The language to speak: the option, else what the locale says, else English."""
    if option:
        return option
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"):
        value = environ.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
