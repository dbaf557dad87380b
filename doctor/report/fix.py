"""How an edit is shown: what it cures, its diff, and how it went."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.report.text import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.engine.finding import Advice, Finding

SCHEMA_VERSION = 1
WORDS = {
    "en": {
        "edit": "The edit",
        "question": "Write it? [y/N] ",
        "dry-run": "Nothing was written (--dry-run).",
        "not-asked": "Nothing was written: there is no terminal to ask on. Run it again with --yes to write.",
        "declined": "Nothing was written.",
        "not-written": "Nothing was written.",
        "key-wanted": "This wants the key. Put it into a variable and give its name: doctor fix --key-env NAME",
        "format": "This edit has to be made by hand.",
        "file": "This edit cannot be made.",
        "token": "This edit has to be made by hand.",
        "same": "The file holds the value already: something else beats it, or the client must be started anew.",
        "nothing": "Nothing found that an edit of a client's settings would cure.",
        "by-hand": "Found, but no edit of a settings file that doctor could make cures it. By hand:",
        "cured": "Written, and checked again: it is cured.",
        "not-cured": "Written, and checked again: it is not cured. `doctor fix --undo` takes the edit back.",
        "undecided": "Written. Whether that cures it cannot be told now.",
        "backup": "The file as it was",
        "undo": "doctor fix --undo takes it back",
        "left": "Still wrong",
        "new_shell": "It counts in shells that are started from now on; start the client from a new one.",
        "undone": "Taken back: the file is as it was.",
        "nothing-to-undo": "There is no edit left to take back.",
        "undo-changed": "Not taken back: the file was changed after the edit. Compare the two and take over what you want.",
        "undo-lost": "Not taken back: the copy of the old file is gone or was changed.",
    },
    "zh": {
        "edit": "修改内容",
        "question": "写入吗？[y/N] ",
        "dry-run": "没有写入（--dry-run）。",
        "not-asked": "没有写入：这里没有可以询问的终端。确认要写入请加 --yes 再运行一次。",
        "declined": "没有写入。",
        "not-written": "没有写入。",
        "key-wanted": "这里需要密钥。把它放进环境变量，再给出变量名：doctor fix --key-env 变量名",
        "format": "这处修改需要手动完成。",
        "file": "这处修改无法进行。",
        "token": "这处修改需要手动完成。",
        "same": "文件里已经是这个值：有别的设置优先于它，或者客户端需要重新启动。",
        "nothing": "没有发现可以通过修改客户端设置来解决的问题。",
        "by-hand": "有问题，但不是 doctor 修改设置文件能解决的。请手动处理：",
        "cured": "已写入，并重新检查：问题已解决。",
        "not-cured": "已写入，并重新检查：问题没有解决。用 `doctor fix --undo` 可以撤销。",
        "undecided": "已写入。现在还无法判断是否解决。",
        "backup": "修改前的文件",
        "undo": "doctor fix --undo 可以撤销",
        "left": "仍然有问题",
        "new_shell": "只对之后打开的 shell 生效，请在新的 shell 里启动客户端。",
        "undone": "已撤销：文件恢复原样。",
        "nothing-to-undo": "没有可以撤销的修改。",
        "undo-changed": "没有撤销：文件在修改之后又变过。请比较两份文件，自行取舍。",
        "undo-lost": "没有撤销：旧文件的备份不见了，或者被改过。",
    },
}
_STYLES = {"cured": "ok", "undone": "ok", "nothing": "ok", "not-cured": "error", "not-written": "error"}
_LINE_STYLES = {"+": "ok", "-": "error", "@": "head"}


class Outcome(NamedTuple):
    """How far it came. `state` is a key of WORDS, or "planned" while it is being asked; everything is fit to be shown.

    `file` is the one that is (or would be) changed, `backup` the copy of the old one. `left` are errors that are there
    after the edit. `new_shell`: the edit counts only in shells that start later.
    """

    state: str
    finding: Finding | None
    advice: Advice | None
    file: str
    diff: tuple[str, ...]
    backup: str = ""
    detail: str = ""
    left: tuple[Finding, ...] = ()
    new_shell: bool = False


def say(key: str, lang: str) -> str:
    """The words for a state."""
    return WORDS["zh" if lang == "zh" else "en"][key]


def rows(outcome: Outcome, *, lang: str, unicode: bool) -> Iterator[Row]:
    """The lines for people."""
    finding, asked = (
        outcome.finding,
        outcome.state in ("cured", "not-cured", "undecided", "declined") and not outcome.diff,
    )
    if finding is not None and not asked:
        mark = "✗" if unicode else "x"
        yield Row(((finding.severity, f"{mark} "), ("title", finding.title), ("quiet", f"  ({finding.rule})")))
    if outcome.state == "by-hand":
        yield Row((("", say("by-hand", lang)),))
    if outcome.advice is not None and not asked:
        yield Row((("", outcome.advice.text),), 2)
        if outcome.state in ("by-hand", "format", "token", "file"):
            for line in outcome.advice.command.splitlines():
                yield Row((("command", line),), 4, copy=True)
    if outcome.diff:
        yield Row((("head", f"{say('edit', lang)}: {outcome.file}"),), 2)
        for line in outcome.diff:
            yield Row(((_LINE_STYLES.get(line[:1], ""), line),), 4, copy=True)
    if outcome.state in ("planned", "by-hand"):
        return
    mark = {"ok": "✓ " if unicode else "+ ", "error": "✗ " if unicode else "x "}.get(_STYLES.get(outcome.state, ""), "")
    yield Row(((_STYLES.get(outcome.state, ""), mark), ("", say(outcome.state, lang))))
    yield from _rest(outcome, lang)


def _rest(outcome: Outcome, lang: str) -> Iterator[Row]:
    if outcome.detail:
        yield Row((("", outcome.detail),), 2)
    if outcome.new_shell:
        yield Row((("", say("new_shell", lang)),), 2)
    if outcome.state in ("undone", "undo-changed", "undo-lost"):
        yield Row((("quiet", outcome.file),), 2, copy=True)
    if outcome.backup and outcome.state != "undone":
        yield Row((("quiet", f"{say('backup', lang)}: {outcome.backup}"),), 2, copy=True)
    if outcome.backup and outcome.state == "cured":
        yield Row((("quiet", say("undo", lang)),), 2)
    for finding in outcome.left:
        yield Row((("error", f"{say('left', lang)}: "), ("", finding.title), ("quiet", f"  ({finding.rule})")), 2)


def as_json(outcome: Outcome) -> str:
    """The same for programs."""
    import json

    from doctor import __version__

    finding, advice = outcome.finding, outcome.advice
    data = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "llama-doctor", "version": __version__, "command": "fix"},
        "state": outcome.state,
        "finding": finding and {"rule": finding.rule, "client": finding.about, "title": finding.title},
        "remedy": advice and {"text": advice.text, "command": advice.command},
        "file": outcome.file or None,
        "diff": list(outcome.diff),
        "backup": outcome.backup or None,
        "detail": outcome.detail,
        "new_shell": outcome.new_shell,
        "left": [{"rule": item.rule, "title": item.title} for item in outcome.left],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
