"""The command line of `doctor completion`."""

from __future__ import annotations

from doctor.arguments.parser import ANSWERS as ANSWERED
from doctor.arguments.parser import Page, Parser
from doctor.arguments.shared import add_output

PAGE = Page(
    usage="doctor completion bash|zsh|fish",
    says="Prints a script that lets your shell complete verbs, options and values with the Tab key.",
    examples=(
        ('eval "$(doctor completion bash)"', "for this shell; a line in ~/.bashrc: for every one"),
        ('eval "$(doctor completion zsh)"', "a line in ~/.zshrc, behind compinit"),
        ("doctor completion fish > ~/.config/fish/completions/doctor.fish", "for every fish"),
    ),
    exits=ANSWERED,
)


def build(lang: str) -> Parser:
    """The parser of the verb."""
    parser = Parser("completion", PAGE, lang)
    shells = parser.add_argument_group("which shell")
    shells.add_argument(
        "shell", metavar="bash|zsh|fish", choices=("bash", "zsh", "fish"), help="the shell that reads the script"
    )
    add_output(parser, "text", finds=False)
    return parser
