"""The command line of `doctor bench`."""

from __future__ import annotations

import argparse
from typing import TypeVar

T = TypeVar("T", bound=argparse.ArgumentParser)


def add_bench(verbs: argparse._SubParsersAction[T], *parents: T) -> None:
    """Add the verb. `parents` are parsers whose options it has too."""
    bench = verbs.add_parser(
        "bench",
        parents=list(parents),
        help="measure a running server: reading, writing, the cache, two requests at once",
        description="Some ten short requests, sized by the first so that all end within --seconds: two prompts (at most 4096 "
        "tokens) with an answer each (at most 96 tokens), a second turn, two requests at once. Times are those of our own clock; "
        "the server's own stand beside them. The server should have nothing else to do meanwhile.",
        epilog="examples:\n  doctor bench\n  doctor bench http://127.0.0.1:8080 --save before.json\n"
        "  doctor bench --compare before.json      exit status 1 when a figure is more than a tenth worse\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    bench.add_argument("url", metavar="URL", nargs="?", help="the server (default: a running llama-server, else :8080)")
    bench.add_argument("--model", metavar="ID", help="the model to ask for (default: the first served)")
    bench.add_argument(
        "--gguf", metavar="FILE", help="its file, for the speed to expect (default: the launch command's)"
    )
    bench.add_argument("--key-env", metavar="ENV", help="name of the environment variable that holds the key to send")
    bench.add_argument(
        "--seconds", metavar="N", type=seconds, default=45.0, help="about how long it may take (default: 45)"
    )
    bench.add_argument("--save", metavar="FILE", help="write the measurement as JSON")
    bench.add_argument("--compare", metavar="FILE", help="hold it against a saved one")


def seconds(text: str) -> float:
    """A number of seconds from 1 to 3600."""
    value = float(text)
    if not 1 <= value <= 3600:
        raise argparse.ArgumentTypeError("from 1 to 3600 seconds")
    return value
