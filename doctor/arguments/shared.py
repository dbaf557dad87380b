"""Options that several verbs have: the same thing has the same name in each of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doctor.arguments.parser import Parser

DEFAULTS = {"format": "text", "lang": None, "fail_on": "error", "verbose": False, "no_color": False}
"""What the options of every verb are where nobody says anything."""
TAKE_A_VALUE = ("--format", "--lang", "--fail-on")
"""Those of them that are followed by a value; they may stand in front of the verb too."""
EVERYWHERE = (*TAKE_A_VALUE, "--no-color", "-v", "--verbose", "-h", "--help")
REPORTS = ("text", "json", "markdown", "sarif")
ANSWERS = ("text", "json")
CLIENT_IDS = (
    "claude-code", "codex", "opencode", "qwen-code", "cline", "continue", "aider", "gemini-cli", "roo-code", "kilo-code",
    "zed", "crush", "goose", "droid", "pi", "openhands", "copilot-cli", "deerflow", "open-webui", "librechat", "anythingllm",
    "claude-code-router", "litellm-proxy", "openai-sdk", "anthropic-sdk", "gateway",
)  # fmt: skip
"""What --client takes: the ids of the clients in doctor/facts/clients (a test holds them together)."""


def add_output(parser: Parser, *formats: str, page: bool = False, finds: bool = True) -> None:
    """The options of every verb; with `page` also those of a verb whose answer can be a page of HTML.

    `finds`: whether there is anything that could fail; where not, --fail-on is taken and not shown.
    """
    group = parser.add_argument_group("output")
    absent = argparse.SUPPRESS
    kinds = "text for people, json for programs"
    if "sarif" in formats:
        kinds += ", markdown for an issue, sarif for code scanning"
    group.add_argument("--format", choices=formats, metavar="FORM", default=absent, help=kinds)
    group.add_argument(
        "--lang", choices=("en", "zh"), default=absent, help="language of the answer (default: your locale)"
    )
    group.add_argument(
        "--fail-on",
        choices=("error", "warning", "never"),
        metavar="LEVEL",
        default=absent,
        help="error, warning or never: lowest severity that makes the exit status 1 (default: error)"
        if finds
        else argparse.SUPPRESS,
    )
    group.add_argument(
        "-v", "--verbose", action="store_true", default=absent, help="also references and what could not be decided"
    )
    group.add_argument(
        "--no-color", action="store_true", default=absent, help="no colour (as NO_COLOR=1 in the environment)"
    )
    if page:
        group.add_argument(
            "--html", metavar="FILE", help="also write the answer as one HTML page: no network, no script"
        )
        group.add_argument("--force", action="store_true", help="let --html replace a file that is no page of doctor's")
    group.add_argument("-h", "--help", action="help", help="show this and exit")


def add_key(parser: Parser, what: str) -> None:
    """Where the key is: never on the command line, which everybody on the machine can read."""
    group = parser.add_argument_group("key (never on the command line: `ps` shows it to everybody)")
    group.add_argument("--key-env", metavar="NAME", help=f"name of the environment variable that holds {what}")
    group.add_argument("--key-file", metavar="FILE", help="a file whose first line is that key, as of --api-key-file")
    group.add_argument("--key", dest="key_env", metavar="NAME", help=argparse.SUPPRESS)  # its name before


def build_number(text: str) -> int:
    """`b10434` or `10434`."""
    digits = text.removeprefix("b")
    if not (digits.isascii() and digits.isdigit()) or not 0 < len(digits) < 7:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no build number such as b10434")
    return int(digits)


def seconds(text: str) -> float:
    """A time of 1 second to a day: 60, 60s, 5m, 1h."""
    return _time(text, 1, 86400, "from 1 second to a day, such as 60, 60s, 5m or 1h")


def interval(text: str) -> float:
    """Seconds from 0.2 to 60."""
    return _time(text, 0.2, 60, "from 0.2 to 60 seconds")


def _time(text: str, least: float, most: float, wanted: str) -> float:
    small = text.strip().lower()
    factor = {"s": 1, "m": 60, "h": 3600}.get(small[-1:])
    try:
        value = float(small[:-1] if factor else small) * (factor or 1)
    except ValueError:
        value = -1.0
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no time {wanted}")
    return value
