"""The command line of `doctor log`."""

from __future__ import annotations

from doctor.arguments.parser import Page, Parser
from doctor.arguments.shared import REPORTS, add_output

PAGE = Page(
    usage="doctor log FILE|- [options]",
    says="Reads a log, command lines and settings, in any mix, and says what is wrong in them.",
    examples=(
        ("doctor log server.log", "a file"),
        ("docker logs llama 2>&1 | doctor log -", "what another program prints"),
        ("doctor log -", "paste, then end with Ctrl-D (Windows: Ctrl-Z, Enter)"),
        ("doctor log server.log --model qwen.gguf", "and hold its numbers against the model's header"),
    ),
)


def build(lang: str) -> Parser:
    """The parser of the verb."""
    parser = Parser("log", PAGE, lang)
    read = parser.add_argument_group("what to read")
    read.add_argument("file", metavar="FILE", help="the text to read; - is standard input")
    read.add_argument(
        "--model",
        "--gguf",
        metavar="FILE",
        help="the model of the log: what its command needs is held against what the log printed",
    )
    add_output(parser, *REPORTS, page=True)
    return parser
