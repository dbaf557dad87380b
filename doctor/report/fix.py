"""How an edit is shown: what it cures, its diff, and how it went."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.report.rows import Row
from doctor.report.spoken import spoken
from doctor.report.words import colon

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.engine.finding import Advice, Finding

SCHEMA_VERSION = 1
WORDS = {
    "en": {
        "edit": "The edit",
        "question": "Write it? [y/N] ",
        "worse": "This comes first, and no edit of a settings file that doctor could make cures it: see `doctor check`.",
        "worse_key": "This comes first, and wants the key: doctor fix --rule {rule} --key-env NAME",
        "dry-run": "Nothing was written (--dry-run).",
        "not-asked": "Nothing was written: there is no terminal to ask on. Run it again with --yes to write.",
        "declined": "Nothing was written.",
        "not-written": "Nothing was written.",
        "key-wanted": "This wants the key. Put it into a variable and give its name: doctor fix --key-env NAME",
        "format": "This edit has to be made by hand.",
        "file": "This edit cannot be made.",
        "token": "This edit has to be made by hand.",
        "same": "The file holds the value already: something else beats it, or the client must be started anew.",
        "nothing": "Nothing found that an edit of a client's settings or of the launch file would cure.",
        "nothing-here": "Nothing was looked at: no client's settings and no launch file are here. "
        "Name the file: doctor fix --launch FILE",
        "launch-by-hand": "Nothing was written: what is wrong in the file cannot be changed there by doctor. By hand:",
        "launch-build": "Nothing was written: whether this is right depends on the build, which is not known here. Name it "
        "(`llama-server --version` says it): doctor fix --launch {file} --for-build N",
        "launch-done": "Written, and the file read again: what stands above is gone from it.",
        "launch-partly": "Written, and the file read again: what stands above is gone from it, and something else is still wrong.",
        "by_hand": "Not changed by doctor, for you to decide",
        "whole": "The whole command",
        "build-unknown": "right only on the build it is for, which is not known here: --for-build N",
        "restart": "It counts from the next start of the server. Start it anew with",
        "restart_own": "It counts from the next start of the server: start it anew as you are used to.",
        "running": "The server at {url} runs on with its old command: nothing is cured before it is started anew.",
        "leave_out": "leave it out",
        "add": "add",
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
        "worse": "应当先解决这个，但它不是 doctor 修改设置文件能解决的：见 `doctor check`。",
        "worse_key": "应当先解决这个，它需要密钥：doctor fix --rule {rule} --key-env NAME",
        "dry-run": "没有写入（--dry-run）。",
        "not-asked": "没有写入：这里没有可以询问的终端。确认要写入请加 --yes 再运行一次。",
        "declined": "没有写入。",
        "not-written": "没有写入。",
        "key-wanted": "这里需要密钥。把它放进环境变量，再给出变量名：doctor fix --key-env 变量名",
        "format": "这处修改需要手动完成。",
        "file": "这处修改无法进行。",
        "token": "这处修改需要手动完成。",
        "same": "文件里已经是这个值：有别的设置优先于它，或者客户端需要重新启动。",
        "nothing": "没有发现可以通过修改客户端设置或启动文件来解决的问题。",
        "nothing-here": "没有可以检查的：这里没有客户端的设置，也没有启动文件。请指定文件：doctor fix --launch FILE",
        "launch-by-hand": "没有写入：文件里的问题 doctor 无法直接修改。请手动处理：",
        "launch-build": "没有写入：这样写对不对取决于版本，而这里不知道是哪个版本。请写明版本"
        "（`llama-server --version` 会显示）：doctor fix --launch {file} --for-build N",
        "launch-done": "已写入，并重新读取文件：上面的问题已不在其中。",
        "launch-partly": "已写入，并重新读取文件：上面的问题已不在其中，但还有别的问题。",
        "by_hand": "doctor 没有改，由你决定",
        "whole": "完整的命令",
        "build-unknown": "取决于 llama.cpp 的版本，而这里不知道是哪个版本：请加 --for-build N",
        "restart": "服务器下次启动时才生效。重新启动的命令",
        "restart_own": "服务器下次启动时才生效：请按平时的方式重新启动。",
        "running": "{url} 上的服务器仍在用旧命令运行：重新启动之前问题没有解决。",
        "leave_out": "去掉",
        "add": "加上",
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
_STYLES = {
    "cured": "ok",
    "launch-done": "ok",
    "undone": "ok",
    "nothing": "ok",
    "not-cured": "error",
    "launch-partly": "error",
    "not-written": "error",
}
_LINE_STYLES = {"+": "ok", "-": "error", "@": "head"}


class ByHand(NamedTuple):
    """A change of a launch file that doctor did not make: where, the words there, what to write instead, and why not."""

    place: str
    old: str
    new: str
    why: str


class Outcome(NamedTuple):
    """How far it came. `state` is a key of WORDS, or "planned" while it is being asked; everything is fit to be shown.

    `file` is the one that is (or would be) changed, `backup` the copy of the old one. `left` are errors that are there
    after the edit. `new_shell`: the edit counts only in shells that start later. `worse` are errors that come before what
    the edit cures, and whether an edit cures them that wants the key.

    Of a launch file: `gone` are the findings that the edit ends, `by_hand` the changes it leaves, `command` the whole
    command as it should be where nothing is written, `restart` what starts the server anew, `running` the address of one
    that runs with the old command.
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
    worse: tuple[tuple[Finding, bool], ...] = ()
    gone: tuple[Finding, ...] = ()
    by_hand: tuple[ByHand, ...] = ()
    command: str = ""
    restart: str = ""
    running: str = ""


def say(key: str, lang: str) -> str:
    """The words for a state."""
    return WORDS["zh" if lang == "zh" else "en"][key]


def rows(outcome: Outcome, *, lang: str, unicode: bool) -> Iterator[Row]:
    """The lines for people."""
    asked = outcome.state in ("cured", "not-cured", "undecided", "declined", "launch-done", "launch-partly")
    asked = asked and not outcome.diff  # then all that comes before was shown already
    if not asked:
        yield from _what(outcome, lang, "✗" if unicode else "x")
    if outcome.state in ("planned", "by-hand"):
        return
    mark = {"ok": "✓ " if unicode else "+ ", "error": "✗ " if unicode else "x "}.get(_STYLES.get(outcome.state, ""), "")
    yield Row(((_STYLES.get(outcome.state, ""), mark), ("", say(outcome.state, lang).replace("{file}", outcome.file))))
    yield from _rest(outcome, lang)


def _what(outcome: Outcome, lang: str, mark: str) -> Iterator[Row]:
    """What is wrong, and the edit."""
    for worse, wants_key in outcome.worse:
        yield Row((("error", f"{mark} "), ("title", worse.title), ("quiet", f"  ({worse.rule})")))
        yield Row((("", say("worse_key" if wants_key else "worse", lang).format(rule=worse.rule)),), 2)
    for finding in (outcome.finding, *outcome.gone):
        if finding is not None:
            shown = (
                mark
                if finding.severity == "error"
                else "!"
                if finding.severity == "warning"
                else "·"
                if mark == "✗"
                else "*"
            )
            yield Row(((finding.severity, f"{shown} "), ("title", finding.title), ("quiet", f"  ({finding.rule})")))
    if outcome.state == "by-hand":
        yield Row((("", say("by-hand", lang)),))
    if outcome.advice is not None:
        yield Row((("", outcome.advice.text),), 2)
        if outcome.state in ("by-hand", "format", "token", "file"):
            for line in outcome.advice.command.splitlines():
                yield Row((("command", line),), 4, copy=True)
    if outcome.diff:
        yield Row((("head", f"{say('edit', lang)}{colon(lang)}{outcome.file}"),), 2)
        for line in outcome.diff:
            yield Row(((_LINE_STYLES.get(line[:1], ""), line),), 4, copy=True)
        yield from _by_hand(outcome, lang)


def _by_hand(outcome: Outcome, lang: str) -> Iterator[Row]:
    """Changes that are left to the user."""
    if outcome.by_hand and outcome.diff:
        yield Row((("head", say("by_hand", lang)),), 2)
    for place, old, new, why in outcome.by_hand:
        words = f"{old} → {new or say('leave_out', lang)}" if old else f"{say('add', lang)} {new}"
        reason = say(why, lang) if why == "build-unknown" else spoken(why, lang)
        reason = "" if outcome.state == "launch-build" else reason  # said once, above
        yield Row((("quiet", f"{place}: "), ("", words), ("quiet", f"  ({reason})" if reason else "")), 4)
    if outcome.command:
        yield Row((("head", say("whole", lang)),), 2)
        yield Row((("command", outcome.command),), 4, copy=True)


def _rest(outcome: Outcome, lang: str) -> Iterator[Row]:
    if outcome.detail:
        yield Row((("", outcome.detail),), 2)
    if not outcome.diff and outcome.command:
        yield from _by_hand(outcome, lang)
    if outcome.new_shell:
        yield Row((("", say("new_shell", lang)),), 2)
    if outcome.state in ("launch-done", "launch-partly"):
        if outcome.running:
            yield Row((("warning", say("running", lang).format(url=outcome.running)),), 2)
        yield Row((("", say("restart", lang) + ":" if outcome.restart else say("restart_own", lang)),), 2)
        if outcome.restart:
            yield Row((("command", outcome.restart),), 4, copy=True)
    if outcome.state in ("undone", "undo-changed", "undo-lost"):
        yield Row((("quiet", outcome.file),), 2, copy=True)
    if outcome.backup and outcome.state != "undone":
        yield Row((("quiet", f"{say('backup', lang)}{colon(lang)}{outcome.backup}"),), 2, copy=True)
    if outcome.backup and outcome.state in ("cured", "launch-done", "launch-partly"):
        yield Row((("quiet", say("undo", lang)),), 2)
    for finding in outcome.left:
        style = "error" if finding.severity == "error" else "warning"
        yield Row(
            ((style, f"{say('left', lang)}{colon(lang)}"), ("", finding.title), ("quiet", f"  ({finding.rule})")), 2
        )


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
        "worse": [{"rule": item.rule, "title": item.title, "wants_key": key} for item, key in outcome.worse],
        "left": [{"rule": item.rule, "title": item.title} for item in outcome.left],
        "gone": [{"rule": item.rule, "title": item.title} for item in outcome.gone],
        "by_hand": [item._asdict() for item in outcome.by_hand],
        "command": outcome.command or None,
        "restart": outcome.restart or None,
        "running": outcome.running or None,
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
