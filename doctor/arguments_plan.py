"""The command line of `doctor plan`."""

from __future__ import annotations

import argparse
from typing import TypeVar

T = TypeVar("T", bound=argparse.ArgumentParser)

_PLAN_EXAMPLES = """\
examples:
  doctor plan qwen.gguf                               for the cards of this machine, with what is free on them now
  doctor plan qwen.gguf --gpu "rtx 4060 ti 16gb" --ram 64
  doctor plan qwen.gguf --gpu 3090,3090 --goal context
  doctor plan hf://owner/repo/qwen.gguf --gpu 3090    before the download
  doctor plan qwen.gguf --vram 24 --ctx 131072 --slots 2 --output compose
  doctor plan --launch "llama-server -m qwen.gguf -c 262144 -ngl 99" --gpu 3090
                                                      does this command fit, and what to change if not

exit status: 0 it fits (or a set-up that fits was found), 1 it does not, 2 wrong usage, 3 a fault of doctor itself
"""


def add_plan(verbs: argparse._SubParsersAction[T], *parents: T) -> None:
    """Add the verb. `parents` are parsers whose options it has too."""
    plan = verbs.add_parser(
        "plan",
        parents=list(parents),
        help="will a model fit, the largest context that does, and the commands for it",
        description="Computes from the header what a model needs on each device, and gives commands that fit: for speed, "
        "for a long context and in between, valid for your build of llama.cpp.",
        epilog=_PLAN_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    plan.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help="a GGUF file, or one not downloaded yet (https://…, hf://owner/repo/file.gguf, owner/repo:Q4_K_M); "
        "only its header is read",
    )
    cards = plan.add_mutually_exclusive_group()
    cards.add_argument("--gpu", metavar="NAME[,NAME]", help="plan for these cards, such as 3090 (default: those found)")
    cards.add_argument("--vram", metavar="GiB[,GiB]", help="plan for cards with so much memory")
    plan.add_argument(
        "--device",
        metavar="KIND[:N]",
        help="cuda, vulkan, rocm, sycl, metal or cpu; cuda:2 for two cards (default: cuda)",
    )
    plan.add_argument(
        "--ram", metavar="GiB", help="memory of the computer (default: not limited, or what is free here)"
    )
    plan.add_argument("--ctx", type=_tokens, metavar="N", help="tokens of context each slot must have, such as 64k")
    plan.add_argument("--slots", type=_slots, metavar="N", help="requests served at the same time (default: 1)")
    plan.add_argument(
        "--goal", choices=("speed", "context", "quality"), help="what matters most: this set-up comes first"
    )
    plan.add_argument("--launch", metavar="CMD", help="a launch command to judge; what it fixes by hand is kept")
    plan.add_argument("--build", metavar="N", help="build of llama.cpp, such as b11434 (default: the one found here)")
    plan.add_argument(
        "--verify", action="store_true", help="with --launch: also ask llama.cpp's own llama-fit-params, and compare"
    )
    plan.add_argument(
        "--output",
        choices=("shell", "compose", "systemd", "preset"),
        default="shell",
        help="form of the commands (default: shell)",
    )


def _tokens(text: str) -> int:
    """A number of tokens; 64k is 65536, 1m is 1048576."""
    small = text.strip().lower()
    factor = {"k": 1 << 10, "m": 1 << 20}.get(small[-1:], 1)
    digits = small if factor == 1 else small[:-1]
    if not (digits.isascii() and digits.isdigit()) or not 1 <= int(digits[:12]) * factor <= 1 << 30:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no number of tokens")
    return int(digits) * factor


def _slots(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:6]) <= 256:
        raise argparse.ArgumentTypeError(f"{text[:40]!r}: wants 1 to 256 slots")
    return int(text)
