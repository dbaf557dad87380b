"""The command line: every verb and option, with examples."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from doctor import __version__
from doctor.arguments_bench import add_bench, seconds
from doctor.arguments_plan import add_plan
from doctor.arguments_watch import add_watch

_EXAMPLES = """\
examples:
  doctor check                                        look at this machine, its server and its clients
  doctor check --model qwen.gguf --server http://127.0.0.1:8080
  doctor check --launch "llama-server -m qwen.gguf -c 131072 -ngl 99"
  doctor check --launch compose.yml                   a launch file: script, compose, unit, llama-swap, presets …
  doctor verify --client claude-code --deep           from its settings to a real answer, rung by rung
  doctor fix --client codex                           make the edit that cures it: shown first, with a way back
  doctor explain "reading choices"                    a symptom in words, English or Chinese
  doctor log server.log                               a log, a command, a config: anything you would paste
  docker logs llama 2>&1 | doctor log -
  doctor plan qwen.gguf --gpu 3090                    will it fit, and which command
  doctor bench http://127.0.0.1:8080                  how fast is it, and what holds it back (under a minute)
  doctor watch --for 60                               what holds the server back while it works
  doctor rules show memory/gpu-oom-kv-cache           everything about one cause

exit status: 0 nothing found at or above --fail-on, 1 something found, 2 wrong usage, 3 a fault of doctor itself
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """The same with what was typed made safe to print: it may hold a key or control characters."""
        from doctor.redact import Redactor

        super().error(" ".join(Redactor().text(message).splitlines()))


def _build_number(text: str) -> int:
    """`b10434` or `10434`."""
    digits = text.removeprefix("b")
    if not digits.isdigit() or not 0 < len(digits) < 7:
        raise argparse.ArgumentTypeError(f"{text!r} is no build number such as b10434")
    return int(digits)


def parse(words: list[str]) -> argparse.Namespace:
    """The options of a call. Ends the program with status 2 when they are wrong."""
    top = parser()
    options = top.parse_args(words)
    # Before Python 3.13 argparse takes "--model=--" for an option without a value and leaves a list.
    empty = next((name for name, value in vars(options).items() if value == []), None)
    if empty:
        top.error(f"argument {empty}: expected a value")
    return options


def _common(*formats: str) -> _Parser:
    """The options of every verb."""
    common = _Parser(add_help=False)
    shared = common.add_argument_group("output")
    shared.add_argument(
        "--format",
        choices=formats,
        default="text",
        help="text for people, json for programs"
        + (", markdown for an issue, sarif for code scanning" if "sarif" in formats else ""),
    )
    shared.add_argument("--lang", choices=("en", "zh"), help="language of the answer (default: your locale)")
    shared.add_argument(
        "--fail-on",
        choices=("error", "warning", "never"),
        default="error",
        help="lowest severity that makes the exit status 1 (default: error)",
    )
    shared.add_argument("-v", "--verbose", action="store_true", help="also references and what could not be decided")
    return common


def _page() -> _Parser:
    """The options of every verb whose answer can be a page."""
    page = _Parser(add_help=False)
    group = page.add_argument_group("page")
    group.add_argument("--html", metavar="FILE", help="also write the answer as one HTML page: no network, no script")
    group.add_argument("--force", action="store_true", help="let --html replace a file that is no page of doctor's")
    return page


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    common = _common("text", "json")
    report = _common("text", "json", "markdown", "sarif")
    page = _page()

    top = _Parser(
        prog="doctor",
        description="Finds out why llama.cpp servers and the coding agents in front of them do not work, and says what to do.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"doctor {__version__}")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True, prog="doctor")

    check = verbs.add_parser(
        "check",
        parents=[report, page],
        help="look at this machine, the model file, the launch command, the server and the clients",
        description="Looks at the machine, the model file, the launch command, the running server and the clients' settings.",
        epilog="examples:\n  doctor check --model qwen.gguf\n  doctor check --only gpu,build\n  doctor check --save before.json\n"
        "  doctor check --from before.json --lang zh\n"
        "  doctor check --launch start.sh --fix\n  doctor check --launch start.sh --fix --for-build b10434\n"
        "  doctor check --build-dir ~/llama.cpp/build\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("--model", metavar="FILE", help="a GGUF file (default: what the launch command or server says)")
    check.add_argument(
        "--launch",
        metavar="FILE|CMD|PID",
        help="a launch file (script, compose, Dockerfile, systemd unit, llama-swap, presets, Modelfile), the command "
        '"llama-server -m …" itself, or a process number (default: a running llama-server, else a launch file here)',
    )
    check.add_argument(
        "--server",
        metavar="URL",
        help="address of the server (default: from the launch command, else http://127.0.0.1:8080)",
    )
    check.add_argument(
        "--binary", metavar="FILE", help="the llama-server to ask (default: running process, PATH, usual places)"
    )
    check.add_argument(
        "--fix", action="store_true", help="also print the launch command as this build wants it, with what was changed"
    )
    check.add_argument(
        "--for-build",
        metavar="N",
        type=_build_number,
        help="ask about another build than the one here: b10434 or 10434",
    )
    check.add_argument(
        "--build-dir",
        metavar="DIR",
        help="a build folder: reads CMakeCache.txt and the logs in it, and prints the cmake line for this machine",
    )
    check.add_argument("--key", metavar="ENV", help="name of the environment variable that holds the server's API key")
    check.add_argument(
        "--only",
        metavar="A,B",
        help="look at these subjects only: machine gpu cuda build gguf launch server clients ladders",
    )
    check.add_argument("--skip", metavar="A,B", help="leave these subjects out")
    check.add_argument("--save", metavar="FILE", help="write the facts, redacted, as JSON")
    check.add_argument("--from", dest="from_file", metavar="FILE", help="use saved facts instead of looking")
    check.add_argument(
        "--hash",
        action="store_true",
        help="also compute the model file's SHA-256 and compare it (slow: reads the file)",
    )

    verify = verbs.add_parser(
        "verify",
        parents=[report, page],
        help="climb from a client's settings to an answer of the model, rung by rung",
        description="Tries the way from a client to its model, rung by rung: name, proxy, port, HTTP, which program, "
        "ready, key, path, model, context, template. It stops at the first that does not hold and says why. With --deep "
        "also a reply, a stream, a tool call, the prompt cache and the speed. Keys go to the address under test only; "
        "redirects are not followed.",
        epilog="examples:\n  doctor verify                     every client here that asks a server on this machine\n"
        "  doctor verify http://127.0.0.1:8080/v1\n  doctor verify --client claude-code --deep\n"
        "  doctor verify https://gateway.example/api/v1 --key-env MY_KEY --model qwen3\n"
        "  doctor verify http://127.0.0.1:8080 --origin http://localhost:3000\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verify.add_argument(
        "url",
        metavar="URL",
        nargs="?",
        help="base URL as a client has it (default: from the clients, else from the launch command)",
    )
    verify.add_argument("--client", metavar="NAME", help="stand in for this client: claude-code, codex, opencode, …")
    verify.add_argument("--key-env", metavar="ENV", help="name of the environment variable that holds the key to send")
    verify.add_argument(
        "--model", metavar="ID", help="the model to ask for (default: the client's, else the first served)"
    )
    verify.add_argument(
        "--deep", action="store_true", help="also make the model work: at most six short requests, some hundred tokens"
    )
    verify.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=60.0,
        help="longest wait for one request of --deep (default: 60)",
    )
    verify.add_argument("--origin", metavar="URL", help="also ask as a browser page of this origin would (CORS)")

    _add_fix(verbs)

    explain = verbs.add_parser(
        "explain",
        parents=[report],
        help="a symptom in words, or the id of a rule",
        description="Finds the causes that fit a symptom in words, English or Chinese; with the id of a rule, shows that rule.",
        epilog='examples:\n  doctor explain "reading choices"\n  doctor explain 第三轮变慢\n'
        "  doctor explain 401 invalid api key claude code\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    explain.add_argument("--check", action="store_true", help="also look at this machine: what is seen there decides")
    explain.add_argument("words", nargs="+", metavar="WORDS", help="what you see, or a rule's id")

    log = verbs.add_parser(
        "log",
        parents=[report, page],
        help="anything you would paste: a log, a command line, a config",
        description="Reads a log, command lines and settings, in any mix, and says what is wrong in them.",
        epilog="examples:\n  doctor log server.log\n  llama-server -m x.gguf 2>&1 | doctor log -\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    log.add_argument("file", metavar="FILE", help="the text to read; - is standard input")
    log.add_argument(
        "--model",
        metavar="GGUF",
        help="the model of the log: what its command needs is held against what the log printed",
    )

    add_plan(verbs, common, page)
    add_bench(verbs, common)
    add_watch(verbs, report, page)

    rules = verbs.add_parser("rules", help="list or show what doctor knows")
    rules_verbs = rules.add_subparsers(dest="rules_verb", metavar="list|show|check", required=True, prog="doctor rules")
    rules_list = rules_verbs.add_parser("list", parents=[common], help="every rule, a line each")
    rules_list.add_argument("subject", nargs="?", help="only this subject: memory, gpu, server, …")
    rules_show = rules_verbs.add_parser("show", parents=[common], help="everything about one rule")
    rules_show.add_argument("rule", metavar="ID", help="such as memory/gpu-oom-kv-cache")
    rules_verbs.add_parser("check", parents=[common], help="check every rule file and its examples (for authors)")
    return top


def _add_fix(verbs: Any) -> None:
    fix = verbs.add_parser(
        "fix",
        help="make the edit of a client's settings or of the launch file that cures what was found",
        description="Checks as `doctor check` does, takes the first finding that an edit of a client's settings file cures, "
        "or all that can be put right in the launch file (script, compose, Dockerfile, systemd unit, llama-swap, presets), "
        "shows the edit, asks, keeps a copy, writes, and checks again. Comments, order and all other lines stay as they are.",
        epilog="examples:\n  doctor fix                        show the edit, ask, write\n"
        "  doctor fix --dry-run              show the edit only\n"
        "  doctor fix --client codex --yes   the first edit for this client, without asking\n"
        "  doctor fix --launch start.sh      the launch file: every option put right, as one edit\n"
        "  doctor fix --launch compose.yml --for-build b10434 --dry-run\n"
        "  doctor fix --rule client/key-missing-live --key-env MY_KEY\n"
        "  doctor fix --undo                 take the last edit back\n\n"
        "exit status: 0 cured, undone or nothing to do; 1 found and not cured by an edit; 2 not written\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fix.add_argument("--client", metavar="NAME", help="only this client: claude-code, codex, opencode, …")
    fix.add_argument("--rule", metavar="ID", help="the finding of this rule, such as client/v1-missing-live")
    fix.add_argument("--yes", action="store_true", help="write without asking")
    fix.add_argument("--dry-run", action="store_true", help="show the edit and write nothing")
    fix.add_argument("--undo", action="store_true", help="take the last edit back, if the file is still as it left it")
    fix.add_argument(
        "--key-env",
        metavar="ENV",
        help="name of the environment variable that holds the key to write, where the edit is about the key",
    )
    fix.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")
    fix.add_argument("--lang", choices=("en", "zh"), help="language of the answer (default: your locale)")
    fix.add_argument("--server", metavar="URL", help="address of the server (default: as `doctor check`)")
    fix.add_argument(
        "--launch",
        metavar="FILE|CMD|PID",
        help="the launch file to put right, or the launch command (default: a running llama-server, else a launch file here)",
    )
    fix.add_argument(
        "--for-build",
        metavar="N",
        type=_build_number,
        help="write the launch command for another build than the one here: b10434 or 10434",
    )
