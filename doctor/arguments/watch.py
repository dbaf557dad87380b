"""The command line of `doctor watch`."""

from __future__ import annotations

from doctor.arguments.parser import Page, Parser
from doctor.arguments.shared import REPORTS, add_key, add_output, interval, seconds

PAGE = Page(
    usage="doctor watch [options]",
    says="Looks at the cards (NVML), the server (GET /slots and /metrics; a sleeping model is not woken up), a log "
    "that grows, memory, swap and the server's process, once a second, and names what holds the server back. Give it "
    "work meanwhile. On a terminal one screen, elsewhere a line each time; at the end the answer as of every verb.",
    examples=(
        ("doctor watch", "the llama-server that runs here, until Ctrl-C"),
        ("doctor watch --server http://127.0.0.1:8080 --log server.log", "and its log"),
        ("doctor watch --for 60 --save slow.jsonl --html slow.html", "a minute, kept"),
        ("doctor watch --from slow.jsonl", "the same answer from a recording, also somebody else's"),
    ),
)


def build(lang: str) -> Parser:
    """The parser of the verb."""
    parser = Parser("watch", PAGE, lang)
    look = parser.add_argument_group("what to look at")
    look.add_argument("--server", metavar="URL", help="address of the server (default: that of a running llama-server)")
    look.add_argument("--log", metavar="FILE", help="a log the server writes; may be rotated")
    look.add_argument(
        "--for", dest="seconds", metavar="TIME", type=seconds, help="end after 60, 60s, 5m or 1h (default: at Ctrl-C)"
    )
    look.add_argument(
        "--interval", metavar="SECONDS", type=interval, default=1.0, help="time between two looks (default: 1)"
    )
    look.add_argument(
        "--save", metavar="FILE", help="write a recording, redacted: JSON lines, the last two hours at most"
    )
    look.add_argument("--from", dest="from_file", metavar="FILE", help="use a recording instead of looking")
    add_key(parser, "the server's key")
    add_output(parser, *REPORTS, page=True)
    return parser
