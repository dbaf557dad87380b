"""Every line of the table in docs/what-the-posts-say.md, and its commands, computed again."""

import gzip
import io
import re
from pathlib import Path

import pytest

from doctor.gguf.header import read_header
from doctor.memory.budget import budget
from doctor.memory.model import read_model
from tests.memory.planning import card_room, options_of_words

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "what-the-posts-say.md").read_text(encoding="utf-8")
FILES = {
    "Q4_K_M": "gguf/qwen3.6-27b-mtp-q4_k_m.gguf.hdr.gz",
    "IQ4_XS": "oracle/qwen3.6-27b-mtp-iq4_xs.gguf.hdr.gz",
}
MIB = 1 << 20
LINES = re.findall(
    r"^\| ([^|]+) \| (Q4_K_M|IQ4_XS) \| `([^`]+)` \| ([^|]+) \| (\d+) \| (\d+) \| (yes|no) \|$", PAGE, re.MULTILINE
)


def needed(kind, words, room):
    data = gzip.decompress((ROOT / "fixtures" / FILES[kind]).read_bytes())
    model = read_model(read_header(io.BytesIO(data), 1 << 45))
    return budget(model, options_of_words(["llama-server", *words]), 11434, [room.device]).total(room.device.name)


def test_the_table_is_found():
    assert len(LINES) == 14


@pytest.mark.parametrize(("name", "kind", "options", "card", "need", "usable", "fits"), LINES)
def test_a_line(name, kind, options, card, need, usable, fits):
    room = card_room(card)
    found = needed(kind, options.split(), room)
    assert (round(found / MIB), round(room.usable / MIB)) == (int(need), int(usable))
    assert (found <= room.usable) == (fits == "yes")


def test_the_commands_fit():
    commands = re.findall(
        r"^# (24|16) GB.*\nllama-server --model \S+-(Q4_K_M|IQ4_XS)\.gguf ([^\\]+)\\\n([^\n]+)$", PAGE, re.MULTILINE
    )
    assert len(commands) == 4
    for size, kind, first, second in commands:
        room = card_room({"24": "3090", "16": "4060 ti 16gb"}[size])
        assert needed(kind, f"{first} {second}".split(), room) <= room.usable
