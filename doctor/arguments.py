"""The command line: every verb and option, with examples."""

from __future__ import annotations

import argparse
from typing import NoReturn

from doctor import __version__

_EXAMPLES = """\
examples:
  doctor check                                        look at this machine, its server and its clients
  doctor check --model qwen.gguf --server http://127.0.0.1:8080
  doctor check --launch "llama-server -m qwen.gguf -c 131072 -ngl 99"
  doctor explain "reading choices"                    a symptom in words, English or Chinese
  doctor log server.log                               a log, a command, a config: anything you would paste
  docker logs llama 2>&1 | doctor log -
  doctor rules show memory/gpu-oom-kv-cache           everything about one cause

exit status: 0 nothing found at or above --fail-on, 1 something found, 2 wrong usage, 3 a fault of doctor itself
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """The same with what was typed made safe to print: it may hold a key or control characters."""
        from doctor.redact import Redactor

        super().error(" ".join(Redactor().text(message).splitlines()))


def parse(words: list[str]) -> argparse.Namespace:
    """The options of a call. Ends the program with status 2 when they are wrong."""
    top = parser()
    options = top.parse_args(words)
    # Before Python 3.13 argparse takes "--model=--" for an option without a value and leaves a list.
    empty = next((name for name, value in vars(options).items() if value == []), None)
    if empty:
        top.error(f"argument {empty}: expected a value")
    return options


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    common = _Parser(add_help=False)
    shared = common.add_argument_group("output")
    shared.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")
    shared.add_argument("--lang", choices=("en", "zh"), help="language of the answer (default: your locale)")
    shared.add_argument(
        "--fail-on",
        choices=("error", "warning", "never"),
        default="error",
        help="lowest severity that makes the exit status 1 (default: error)",
    )
    shared.add_argument("-v", "--verbose", action="store_true", help="also references and what could not be decided")

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
        parents=[common],
        help="look at this machine, the model file, the launch command, the server and the clients",
        description="Looks at the machine, the model file, the launch command, the running server and the clients' settings.",
        epilog="examples:\n  doctor check --model qwen.gguf\n  doctor check --only gpu,build\n  doctor check --save before.json\n"
        "  doctor check --from before.json --lang zh\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("--model", metavar="FILE", help="a GGUF file (default: what the launch command or server says)")
    check.add_argument(
        "--launch", metavar="CMD", help='the launch command, "llama-server -m …" (default: a running llama-server)'
    )
    check.add_argument(
        "--server",
        metavar="URL",
        help="address of the server (default: from the launch command, else http://127.0.0.1:8080)",
    )
    check.add_argument(
        "--binary", metavar="FILE", help="the llama-server to ask (default: running process, PATH, usual places)"
    )
    check.add_argument("--key", metavar="ENV", help="name of the environment variable that holds the server's API key")
    check.add_argument(
        "--only", metavar="A,B", help="look at these subjects only: machine gpu cuda build gguf launch server clients"
    )
    check.add_argument("--skip", metavar="A,B", help="leave these subjects out")
    check.add_argument("--save", metavar="FILE", help="write the facts, redacted, as JSON")
    check.add_argument("--from", dest="from_file", metavar="FILE", help="use saved facts instead of looking")
    check.add_argument(
        "--hash",
        action="store_true",
        help="also compute the model file's SHA-256 and compare it (slow: reads the file)",
    )

    explain = verbs.add_parser(
        "explain",
        parents=[common],
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
        parents=[common],
        help="anything you would paste: a log, a command line, a config",
        description="Reads a log, command lines and settings, in any mix, and says what is wrong in them.",
        epilog="examples:\n  doctor log server.log\n  llama-server -m x.gguf 2>&1 | doctor log -\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    log.add_argument("file", metavar="FILE", help="the text to read; - is standard input")

    rules = verbs.add_parser("rules", help="list or show what doctor knows")
    rules_verbs = rules.add_subparsers(dest="rules_verb", metavar="list|show|check", required=True, prog="doctor rules")
    rules_list = rules_verbs.add_parser("list", parents=[common], help="every rule, a line each")
    rules_list.add_argument("subject", nargs="?", help="only this subject: memory, gpu, server, …")
    rules_show = rules_verbs.add_parser("show", parents=[common], help="everything about one rule")
    rules_show.add_argument("rule", metavar="ID", help="such as memory/gpu-oom-kv-cache")
    rules_verbs.add_parser("check", parents=[common], help="check every rule file and its examples (for authors)")
    return top
