"""What `doctor` and `doctor --help` print: where to begin, and every verb."""

from __future__ import annotations

from typing import NamedTuple

from doctor.arguments.parser import EXITS, Page, Parser
from doctor.arguments.shared import ANSWERS, add_output


class Verb(NamedTuple):
    """A verb in the list: what it belongs to, what it does."""

    group: str
    says: str


VERBS = {
    "check": Verb(
        "something is wrong", "look at this machine, the model file, the launch command, the server and the clients"
    ),
    "verify": Verb(
        "something is wrong", "try the way from a client's settings to an answer of the model, step by step"
    ),
    "fix": Verb(
        "something is wrong", "make the edit of a client's settings or of the launch file that cures what was found"
    ),
    "explain": Verb("you have words or a log", "a symptom in words, or the id of a rule"),
    "log": Verb("you have words or a log", "anything you would paste: a log, a command line, a config"),
    "bench": Verb("it is slow", "measure a running server: reading, writing, the cache, two requests at once"),
    "watch": Verb(
        "it is slow", "look at cards, server, log and computer while they work, and name what holds them back"
    ),
    "plan": Verb("before you start a model", "will it fit, the largest context that does, and the commands for it"),
    "rules": Verb("more", "list or show what doctor knows"),
    "completion": Verb("more", "a script for your shell: completes verbs and options"),
}
_SAYS = "Finds out why llama.cpp servers and the coding agents in front of them do not work, and says what to do."
_PAGE = Page(
    usage="doctor VERB [options]",
    says=_SAYS,
    examples=(
        ("doctor check", "this machine, server and clients"),
        ("doctor check --launch start.sh", "a launch command or file"),
        ("doctor verify --client claude-code --deep", "from its settings to a real answer"),
        ("doctor fix --client codex", "the edit that cures it, shown first"),
        ('doctor explain "reading choices"', "a symptom, English or Chinese"),
        ("doctor log server.log", "a log, a command, a config"),
        ("docker logs llama 2>&1 | doctor log -", "what another program prints"),
        ("doctor plan qwen.gguf --gpu 3090", "will it fit, and which command"),
        ("doctor bench http://127.0.0.1:8080", "how fast it is"),
        ("doctor watch --for 60", "what holds it back"),
    ),
)
_START = (
    ("doctor check", "something does not work on this machine"),
    ("doctor verify --client NAME", "an agent gets no answer (codex, …)"),
    ('doctor explain "the error message"', "you have a message (also Chinese)"),
    ("doctor log server.log", "you have a log"),
    ("doctor watch", "it is slow"),
    ("doctor plan model.gguf", "will a model fit"),
)


def build(lang: str) -> Parser:
    """A parser that knows the options of every verb and no verb."""
    parser = Parser("", _PAGE, lang)
    add_output(parser, *ANSWERS)
    return parser


def start(lang: str) -> str:
    """Where to begin, for a call without a verb."""
    parser = build(lang)
    rest = (("doctor help", "every verb"), ("doctor help check", "every option of one"))
    return parser.joined((parser.said(_SAYS), parser.rows("begin with", _START), parser.rows("more", rest)))


def overview(lang: str) -> str:
    """Every verb, in the order of what a user comes with."""
    parser = build(lang)
    groups = dict.fromkeys(verb.group for verb in VERBS.values())
    verbs = [
        parser.rows(group, [(name, verb.says) for name, verb in VERBS.items() if verb.group == group], 14)
        for group in groups
    ]
    return parser.joined(
        (
            parser.usage_line(),
            parser.said(_SAYS),
            *verbs,
            parser.examples(),
            *parser.options_of("options of every verb"),
            parser.rows("exit status", EXITS),
        )
    )
