"""The command line of `doctor rules`."""

from __future__ import annotations

from doctor.arguments.parser import ANSWERS as ANSWERED
from doctor.arguments.parser import Page, Parser
from doctor.arguments.shared import ANSWERS, add_output

PAGE = Page(
    usage="doctor rules list [SUBJECT] | show ID | check  [options]",
    says="Lists, shows and checks what doctor knows: a rule a cause.",
    examples=(
        ("doctor rules list", "every rule, a line each"),
        ("doctor rules list memory", "those of one subject"),
        ("doctor rules show memory/gpu-oom-kv-cache", "everything about one cause"),
        ("doctor rules check", "check every rule file and its examples (for authors)"),
    ),
    exits=(("0", "answered; of check: every rule is sound"), ("1", "of check: a rule is not sound"), *ANSWERED[1:]),
)


def build(lang: str) -> Parser:
    """The parser of the verb."""
    parser = Parser("rules", PAGE, lang)
    what = parser.add_argument_group("what to do")
    what.add_argument(
        "rules_verb",
        metavar="list|show|check",
        nargs="?",
        default="list",
        help="list (the default), show or check; may be left out",
    )
    what.add_argument(
        "about", metavar="SUBJECT|ID", nargs="?", help="of list: memory, gpu, server, …; of show: the id of a rule"
    )
    add_output(parser, *ANSWERS, finds=False)
    return parser
