"""The command line of `doctor explain`."""

from __future__ import annotations

from doctor.arguments.parser import ANSWERS as ANSWERED
from doctor.arguments.parser import Page, Parser
from doctor.arguments.shared import REPORTS, add_output

PAGE = Page(
    usage="doctor explain WORDS… [options]",
    says="Finds the causes that fit a symptom in words, English or Chinese; with the id of a rule, shows that rule.",
    examples=(
        ('doctor explain "reading choices"', "what an error message means"),
        ("doctor explain 第三轮变慢", "in Chinese, answered in Chinese"),
        ("doctor explain 401 invalid api key claude code --check", "let what is seen on this machine decide"),
        ("doctor explain memory/gpu-oom-kv-cache", "one cause, as rules are named in every answer"),
    ),
    exits=ANSWERED,
)


def build(lang: str) -> Parser:
    """The parser of the verb."""
    parser = Parser("explain", PAGE, lang, abbreviate=False)
    ask = parser.add_argument_group("what to explain")
    ask.add_argument("words", nargs="+", metavar="WORDS", help="what you see, or a rule's id")
    ask.add_argument("--check", action="store_true", help="also look at this machine: what is seen there decides")
    add_output(parser, *REPORTS, finds=False)
    return parser
