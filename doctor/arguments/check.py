"""The command line of `doctor check`."""

from __future__ import annotations

from doctor.arguments.parser import Page, Parser
from doctor.arguments.shared import REPORTS, add_key, add_output, build_number

PAGE = Page(
    usage="doctor check [options]",
    says="Looks at the machine, the model file, the launch command, the running server and the clients' settings.",
    examples=(
        ("doctor check", "this machine, its server and its clients"),
        ("doctor check --model qwen.gguf", "also a model file"),
        ('doctor check --launch "llama-server -m qwen.gguf -c 131072"', "a launch command"),
        ("doctor check --launch start.sh --fix", "a launch file, and the command as it should be"),
        ("doctor check --launch start.sh --for-build b10434", "the same for another build"),
        ("doctor check --build-dir ~/llama.cpp/build", "why a build fails, and the cmake line for this machine"),
        ("doctor check --save before.json", "keep what was seen, redacted"),
        ("doctor check --from before.json --lang zh", "diagnose it again, also somebody else's"),
    ),
)


def build(lang: str) -> Parser:
    """The parser of the verb."""
    parser = Parser("check", PAGE, lang)
    look = parser.add_argument_group("what to look at")
    look.add_argument(
        "--model", "--gguf", metavar="FILE", help="a GGUF file (default: what the launch command or server says)"
    )
    look.add_argument(
        "--launch",
        metavar="FILE|CMD|PID",
        help="a launch file (script, compose, Dockerfile, systemd unit, llama-swap, presets, Modelfile), the command "
        '"llama-server -m …" itself, or a process number (default: a running llama-server, else a launch file here)',
    )
    look.add_argument(
        "--server",
        metavar="URL",
        help="address of the server (default: from the launch command, else http://127.0.0.1:8080)",
    )
    look.add_argument(
        "--binary", metavar="FILE", help="the llama-server to ask (default: running process, PATH, usual places)"
    )
    look.add_argument(
        "--for-build",
        metavar="N",
        type=build_number,
        help="ask about another build than the one here: b10434 or 10434",
    )
    look.add_argument(
        "--build-dir",
        metavar="DIR",
        help="a build folder: reads CMakeCache.txt and the logs in it, and prints the cmake line for this machine",
    )
    look.add_argument(
        "--only",
        metavar="A,B",
        help="look at these only: machine gpu cuda build model launch server client connection",
    )
    look.add_argument("--skip", metavar="A,B", help="leave these out")
    look.add_argument("--from", dest="from_file", metavar="FILE", help="use saved facts instead of looking")
    look.add_argument(
        "--hash",
        action="store_true",
        help="also compute the model file's SHA-256 and compare it (slow: reads the file)",
    )
    make = parser.add_argument_group("what to make of it")
    make.add_argument(
        "--fix", action="store_true", help="also print the launch command as this build wants it, with what was changed"
    )
    make.add_argument("--save", metavar="FILE", help="write the facts, redacted, as JSON")
    add_key(parser, "the server's key")
    add_output(parser, *REPORTS, page=True)
    return parser
