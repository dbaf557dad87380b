"""The command line of `doctor fix`."""

from __future__ import annotations

from doctor.arguments.parser import EXITS, Page, Parser
from doctor.arguments.shared import ANSWERS, add_key, add_output, build_number

PAGE = Page(
    usage="doctor fix [options]",
    says="Checks as `doctor check` does, takes the first finding that an edit of a client's settings file cures, "
    "or all that can be put right in the launch file (script, compose, Dockerfile, systemd unit, llama-swap, presets), "
    "shows the edit, asks, keeps a copy, writes, and checks again. Comments, order and all other lines stay as they are.",
    examples=(
        ("doctor fix", "show the edit, ask, write"),
        ("doctor fix --dry-run", "show the edit only"),
        ("doctor fix --client codex --yes", "the first edit for this client, without asking"),
        ("doctor fix --launch start.sh", "the launch file: every option put right, as one edit"),
        ("doctor fix --launch compose.yml --for-build b10434 --dry-run", "for another build, only shown"),
        ("doctor fix --rule client/key-missing-live --key-env MY_KEY", "write the key in the variable MY_KEY"),
        ("doctor fix --undo", "take the last edit back"),
    ),
    exits=(
        ("0", "cured, undone or nothing to do"),
        ("1", "found, and no edit cures it"),
        ("2", "wrong usage, or not written"),
        EXITS[3],
    ),
)


def build(lang: str) -> Parser:
    """The parser of the verb."""
    parser = Parser("fix", PAGE, lang)
    edit = parser.add_argument_group("which edit")
    edit.add_argument("--client", metavar="NAME", help="only this client: claude-code, codex, opencode, …")
    edit.add_argument("--rule", metavar="ID", help="the finding of this rule, such as client/v1-missing-live")
    edit.add_argument("--yes", action="store_true", help="write without asking")
    edit.add_argument("--dry-run", action="store_true", help="show the edit and write nothing")
    edit.add_argument("--undo", action="store_true", help="take the last edit back, if the file is still as it left it")
    look = parser.add_argument_group("what to look at")
    look.add_argument("--server", metavar="URL", help="address of the server (default: as of `doctor check`)")
    look.add_argument(
        "--launch",
        metavar="FILE|CMD|PID",
        help="the launch file to put right, or the launch command (default: a running llama-server, else a launch file here)",
    )
    look.add_argument(
        "--for-build",
        metavar="N",
        type=build_number,
        help="write the launch command for another build than the one here: b10434 or 10434",
    )
    add_key(parser, "the key to write, where the edit is about the key")
    add_output(parser, *ANSWERS)
    return parser
