"""The command line of `doctor verify`."""

from __future__ import annotations

from doctor.arguments.parser import Page, Parser
from doctor.arguments.shared import REPORTS, add_key, add_output, seconds

PAGE = Page(
    usage="doctor verify [URL] [options]",
    says="Tries the way from a client to its model, step by step: name, proxy, port, HTTP, which program, ready, key, path, "
    "model, context, template. It stops at the first step that fails and says why. With --deep also a reply, a stream, "
    "a tool call, the prompt cache and the speed. Keys go to the address under test only; redirects are not followed.",
    examples=(
        ("doctor verify", "every client here that asks a server on this machine"),
        ("doctor verify http://127.0.0.1:8080/v1", "an address, as a client has it in its settings"),
        ("doctor verify --client claude-code --deep", "one client, up to an answer of the model"),
        ("doctor verify https://gateway.example/v1 --key-env MY_KEY", "with the key in the variable MY_KEY"),
        ("doctor verify http://127.0.0.1:8080 --origin http://localhost:3000", "may this web page ask it?"),
    ),
)


def build(lang: str) -> Parser:
    """The parser of the verb."""
    parser = Parser("verify", PAGE, lang)
    way = parser.add_argument_group("the way to try")
    way.add_argument(
        "url",
        metavar="URL",
        nargs="?",
        help="base URL as a client has it (default: from the clients, else from the launch command)",
    )
    way.add_argument("--client", metavar="NAME", help="stand in for this client: claude-code, codex, opencode, …")
    way.add_argument(
        "--model", metavar="ID", help="the model to ask for (default: the client's, else the first served)"
    )
    way.add_argument(
        "--deep", action="store_true", help="also make the model work: at most six short requests, some hundred tokens"
    )
    way.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=60.0,
        help="longest wait for one request of --deep (default: 60)",
    )
    way.add_argument("--origin", metavar="URL", help="also ask as a browser page of this origin would (CORS)")
    add_key(parser, "the key to send")
    add_output(parser, *REPORTS, page=True)
    return parser
