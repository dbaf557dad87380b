"""The command line of `doctor watch`."""

from __future__ import annotations

import argparse
from typing import TypeVar

T = TypeVar("T", bound=argparse.ArgumentParser)

_WATCH_EXAMPLES = """\
examples:
  doctor watch                                        the llama-server that runs here, until Ctrl-C
  doctor watch --server http://127.0.0.1:8080 --log server.log
  doctor watch --for 60 --save slow.jsonl --html slow.html
  doctor watch --from slow.jsonl                      the same answer from a recording, also somebody else's
"""


def add_watch(verbs: argparse._SubParsersAction[T], *parents: T) -> None:
    """Add the verb. `parents` are parsers whose options it has too."""
    watch = verbs.add_parser(
        "watch",
        parents=list(parents),
        help="look at cards, server, log and computer while they work, and name what holds them back",
        description="Looks at the cards (NVML), the server (GET /slots and /metrics; a sleeping model is not woken up), a log "
        "that grows, memory, swap and the server's process, once a second, and names what holds the server back. Give it "
        "work meanwhile. On a terminal one screen, elsewhere a line each time; at the end the answer as of every verb.",
        epilog=_WATCH_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    watch.add_argument(
        "--server", metavar="URL", help="address of the server (default: that of a running llama-server)"
    )
    watch.add_argument("--log", metavar="FILE", help="a log the server writes; may be rotated")
    watch.add_argument("--key", metavar="ENV", help="name of the environment variable that holds the server's API key")
    watch.add_argument(
        "--for", dest="seconds", metavar="TIME", type=_time, help="end after 60, 60s, 5m or 1h (default: at Ctrl-C)"
    )
    watch.add_argument(
        "--interval", metavar="SECONDS", type=_interval, default=1.0, help="time between two looks (default: 1)"
    )
    watch.add_argument(
        "--save", metavar="FILE", help="write a recording, redacted: JSON lines, the last two hours at most"
    )
    watch.add_argument("--from", dest="from_file", metavar="FILE", help="use a recording instead of looking")


def _time(text: str) -> float:
    """A time of 1 second to a day: 60, 60s, 5m, 1h."""
    small = text.strip().lower()
    factor = {"s": 1, "m": 60, "h": 3600}.get(small[-1:], 0)
    value = float(small[:-1]) * factor if factor else float(small)
    if not 1 <= value <= 86400:
        raise argparse.ArgumentTypeError("from 1 second to a day")
    return value


def _interval(text: str) -> float:
    """Seconds from 0.2 to 60."""
    value = float(text)
    if not 0.2 <= value <= 60:
        raise argparse.ArgumentTypeError("from 0.2 to 60 seconds")
    return value
