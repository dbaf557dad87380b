"""The command line of `doctor bench`."""

from __future__ import annotations

from doctor.arguments.parser import EXITS, Page, Parser
from doctor.arguments.shared import ANSWERS, add_key, add_output, seconds

PAGE = Page(
    usage="doctor bench [URL] [options]",
    says="Some ten short requests, sized by the first so that all end within --seconds: two prompts (at most 4096 "
    "tokens) with an answer each (at most 96 tokens), a second turn, two requests at once. Times are those of our own clock; "
    "the server's own stand beside them. The server should have nothing else to do meanwhile.",
    examples=(
        ("doctor bench", "the server that runs here"),
        ("doctor bench http://127.0.0.1:8080 --save before.json", "keep the measurement"),
        ("doctor bench --compare before.json", "what a change has brought"),
    ),
    exits=(EXITS[0], ("1", "something found, or with --compare a figure that is more than a tenth worse"), *EXITS[2:]),
)


def build(lang: str) -> Parser:
    """The parser of the verb."""
    parser = Parser("bench", PAGE, lang)
    what = parser.add_argument_group("what to measure")
    what.add_argument(
        "url", metavar="URL", nargs="?", help="the server (default: a running llama-server, else port 8080)"
    )
    what.add_argument("--model", metavar="ID", help="the model to ask for (default: the first served)")
    what.add_argument(
        "--gguf", metavar="FILE", help="its file, for the speed to expect (default: the launch command's)"
    )
    what.add_argument(
        "--seconds", metavar="N", type=seconds, default=45.0, help="about how long it may take (default: 45)"
    )
    what.add_argument("--save", metavar="FILE", help="write the measurement as JSON")
    what.add_argument("--compare", metavar="FILE", help="hold it against a saved one")
    add_key(parser, "the key to send")
    add_output(parser, *ANSWERS)
    return parser
