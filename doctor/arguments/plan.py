"""The command line of `doctor plan`."""

from __future__ import annotations

import argparse

from doctor.arguments.parser import EXITS, Page, Parser
from doctor.arguments.shared import ANSWERS, add_output, build_number

PAGE = Page(
    usage="doctor plan MODEL [options]",
    says="Computes from the header what a model needs on each device, and gives commands that fit: for speed, "
    "for a long context and in between, valid for your build of llama.cpp.",
    examples=(
        ("doctor plan qwen.gguf", "for the cards of this machine, with what is free on them now"),
        ('doctor plan qwen.gguf --gpu "rtx 4060 ti 16gb" --ram 64', "for another machine"),
        ("doctor plan qwen.gguf --gpu 3090,3090 --goal context", "two cards, the longest context first"),
        ("doctor plan hf://owner/repo/qwen.gguf --gpu 3090", "before the download"),
        ("doctor plan qwen.gguf --vram 24 --ctx 128k --output compose", "as a compose file"),
        (
            'doctor plan --launch "llama-server -m qwen.gguf -c 262144" --gpu 3090',
            "does this fit, and what to change if not",
        ),
    ),
    exits=(
        ("0", "it fits, or a set-up that fits was found"),
        ("1", "it does not fit (--fail-on never: 0)"),
        *EXITS[2:],
    ),
)


def build(lang: str) -> Parser:
    """The parser of the verb."""
    parser = Parser("plan", PAGE, lang)
    model = parser.add_argument_group("the model")
    model.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help="a GGUF file, or one not downloaded yet (https://…, hf://owner/repo/file.gguf, owner/repo:Q4_K_M); "
        "only its header is read",
    )
    model.add_argument("--launch", metavar="CMD", help="a launch command to judge; what it fixes by hand is kept")
    model.add_argument(
        "--for-build",
        metavar="N",
        type=build_number,
        help="build of llama.cpp, such as b11434 (default: the one found here)",
    )
    model.add_argument("--build", dest="for_build", type=build_number, help=argparse.SUPPRESS)  # its name before
    machine = parser.add_argument_group("the machine")
    cards = machine.add_mutually_exclusive_group()
    cards.add_argument("--gpu", metavar="NAME[,NAME]", help="plan for these cards, such as 3090 (default: those found)")
    cards.add_argument("--vram", metavar="GiB[,GiB]", help="plan for cards with so much memory")
    machine.add_argument(
        "--device",
        metavar="KIND[:N]",
        help="cuda, vulkan, rocm, sycl, metal or cpu; cuda:2 for two cards (default: cuda)",
    )
    machine.add_argument(
        "--ram", metavar="GiB", help="memory of the computer (default: not limited, or what is free here)"
    )
    wish = parser.add_argument_group("what you want")
    wish.add_argument("--ctx", type=_tokens, metavar="N", help="tokens of context each slot must have, such as 64k")
    wish.add_argument(
        "--margin",
        metavar="GiB",
        help="memory of each card that what is proposed leaves free; 0 fills it to the edge (default: 0.5, of small cards less)",
    )
    wish.add_argument("--slots", type=_slots, metavar="N", help="requests served at the same time (default: 1)")
    wish.add_argument(
        "--goal", choices=("speed", "context", "quality"), help="what matters most: this set-up comes first"
    )
    wish.add_argument(
        "--output",
        choices=("shell", "compose", "systemd", "preset"),
        default="shell",
        metavar="FORM",
        help="form of the commands: shell (the default), compose, systemd or preset",
    )
    wish.add_argument(
        "--verify", action="store_true", help="with --launch: also ask llama.cpp's own llama-fit-params, and compare"
    )
    add_output(parser, *ANSWERS, page=True)
    return parser


def _tokens(text: str) -> int:
    """A number of tokens; 64k is 65536, 1m is 1048576, 131,072 and 131_072 are 131072."""
    small = text.strip().lower()
    factor = {"k": 1 << 10, "m": 1 << 20}.get(small[-1:], 1)
    digits = (small if factor == 1 else small[:-1]).replace(",", "").replace("_", "")
    if not (digits.isascii() and digits.isdigit()) or not 1 <= int(digits[:12]) * factor <= 1 << 30:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no number of tokens")
    return int(digits) * factor


def _slots(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:6]) <= 256:
        raise argparse.ArgumentTypeError(f"{text[:40]!r}: wants 1 to 256 slots")
    return int(text)
