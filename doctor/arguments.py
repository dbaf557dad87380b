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
  doctor verify --client claude-code --deep           from its settings to a real answer, rung by rung
  doctor explain "reading choices"                    a symptom in words, English or Chinese
  doctor log server.log                               a log, a command, a config: anything you would paste
  docker logs llama 2>&1 | doctor log -
  doctor plan qwen.gguf --gpu 3090                    will it fit, and which command
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


def _seconds(text: str) -> float:
    """A number of seconds from 1 to 3600."""
    value = float(text)
    if not 1 <= value <= 3600:
        raise argparse.ArgumentTypeError("from 1 to 3600 seconds")
    return value


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
        parents=[common],
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
        type=_seconds,
        default=60.0,
        help="longest wait for one request of --deep (default: 60)",
    )
    verify.add_argument("--origin", metavar="URL", help="also ask as a browser page of this origin would (CORS)")

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
    log.add_argument(
        "--model",
        metavar="GGUF",
        help="the model of the log: what its command needs is held against what the log printed",
    )

    _plan(verbs, common)

    rules = verbs.add_parser("rules", help="list or show what doctor knows")
    rules_verbs = rules.add_subparsers(dest="rules_verb", metavar="list|show|check", required=True, prog="doctor rules")
    rules_list = rules_verbs.add_parser("list", parents=[common], help="every rule, a line each")
    rules_list.add_argument("subject", nargs="?", help="only this subject: memory, gpu, server, …")
    rules_show = rules_verbs.add_parser("show", parents=[common], help="everything about one rule")
    rules_show.add_argument("rule", metavar="ID", help="such as memory/gpu-oom-kv-cache")
    rules_verbs.add_parser("check", parents=[common], help="check every rule file and its examples (for authors)")
    return top


_PLAN_EXAMPLES = """\
examples:
  doctor plan qwen.gguf                               for the cards of this machine, with what is free on them now
  doctor plan qwen.gguf --gpu "rtx 4060 ti 16gb" --ram 64
  doctor plan qwen.gguf --gpu 3090,3090 --goal context
  doctor plan hf://owner/repo/qwen.gguf --gpu 3090    before the download
  doctor plan qwen.gguf --vram 24 --ctx 131072 --slots 2 --output compose
  doctor plan --launch "llama-server -m qwen.gguf -c 262144 -ngl 99" --gpu 3090
                                                      does this command fit, and what to change if not

exit status: 0 it fits (or a set-up that fits was found), 1 it does not, 2 wrong usage, 3 a fault of doctor itself
"""


def _plan(verbs: argparse._SubParsersAction[_Parser], common: _Parser) -> None:
    plan = verbs.add_parser(
        "plan",
        parents=[common],
        help="will a model fit, the largest context that does, and the commands for it",
        description="Computes from the header what a model needs on each device, and gives commands that fit: for speed, "
        "for a long context and in between, valid for your build of llama.cpp.",
        epilog=_PLAN_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    plan.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help="a GGUF file, or one not downloaded yet (https://…, hf://owner/repo/file.gguf, owner/repo:Q4_K_M); "
        "only its header is read",
    )
    cards = plan.add_mutually_exclusive_group()
    cards.add_argument("--gpu", metavar="NAME[,NAME]", help="plan for these cards, such as 3090 (default: those found)")
    cards.add_argument("--vram", metavar="GiB[,GiB]", help="plan for cards with so much memory")
    plan.add_argument(
        "--device",
        metavar="KIND[:N]",
        help="cuda, vulkan, rocm, sycl, metal or cpu; cuda:2 for two cards (default: cuda)",
    )
    plan.add_argument(
        "--ram", metavar="GiB", help="memory of the computer (default: not limited, or what is free here)"
    )
    plan.add_argument("--ctx", type=_tokens, metavar="N", help="tokens of context each slot must have, such as 64k")
    plan.add_argument("--slots", type=_slots, metavar="N", help="requests served at the same time (default: 1)")
    plan.add_argument(
        "--goal", choices=("speed", "context", "quality"), help="what matters most: this set-up comes first"
    )
    plan.add_argument("--launch", metavar="CMD", help="a launch command to judge; what it fixes by hand is kept")
    plan.add_argument("--build", metavar="N", help="build of llama.cpp, such as b11434 (default: the one found here)")
    plan.add_argument(
        "--verify", action="store_true", help="with --launch: also ask llama.cpp's own llama-fit-params, and compare"
    )
    plan.add_argument(
        "--output",
        choices=("shell", "compose", "systemd", "preset"),
        default="shell",
        help="form of the commands (default: shell)",
    )


def _tokens(text: str) -> int:
    """A number of tokens; 64k is 65536, 1m is 1048576."""
    small = text.strip().lower()
    factor = {"k": 1 << 10, "m": 1 << 20}.get(small[-1:], 1)
    digits = small if factor == 1 else small[:-1]
    if not (digits.isascii() and digits.isdigit()) or not 1 <= int(digits[:12]) * factor <= 1 << 30:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no number of tokens")
    return int(digits) * factor


def _slots(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:6]) <= 256:
        raise argparse.ArgumentTypeError(f"{text[:40]!r}: wants 1 to 256 slots")
    return int(text)
