"""Whatever is pasted, reading it ends soon, raises nothing and keeps no key."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.facts.record import to_json
from doctor.launch.command import parse_command
from doctor.launch.fields import Origin, launch_record
from doctor.launch.table import load_table
from doctor.outside import Outside
from doctor.secrets import Vault

TABLE = load_table(Outside())
PIECES = st.sampled_from(
    ["llama-server", "-c", "4096", "64K", "--api-key", "sk-local-test", "=", "'", '"', "\\\n", "`\n", " ", "\n",
     "--foo", "-fa", "$X", "$(", "<", ">", "|", "&", "docker run", "-e", "LLAMA_API_KEY=sk-local-test", "--",
     "LLAMA_ARG_CTX_SIZE=x", "--api-key=sk-local-test", "-m", "a.gguf", "\u2014c", "\x00", "\u202e", "#", "{", "%A%",
     "python -m llama_cpp.server", "--chat-template-kwargs", "--spec-type", "-lora-scaled", "--override-kv"]
)  # fmt: skip


def read(text, build):
    command = parse_command(text)
    return None if command is None else launch_record(command, TABLE, Vault(), build, Origin("paste", "/home/me"))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(PIECES, max_size=30).map(" ".join) | st.text(max_size=200),
    st.sampled_from([583, 3100, 6000, 10434, 11434, 99999]),
)
def test_any_text(text, build):
    to_json(read(text, build))


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES.filter(lambda piece: "sk-" not in piece), max_size=8), st.integers(0, 8))
def test_a_key_given_as_a_key_never_stays(pieces, place):
    pieces = [piece for piece in pieces if piece not in ("'", '"', "#", "\\\n", "`\n", "$(", "<", ">")]
    pieces.insert(min(place, len(pieces)), "--api-key sk-local-test")
    launch = read("llama-server " + " ".join(pieces), 11434)
    if launch is not None:
        assert "sk-local-test" not in str(to_json(launch))


@pytest.mark.parametrize(
    "words",
    ["--ctx-sizes 1 " * 5000, "-c 1 " * 13000, "x " * 30000, "--an-unknown-option-of-some-length " * 2000,
     "a=b " * 16000, "--chat-template-kwargs '" + "{\"a\":" * 9000 + "'", "-c " + "9" * 60000,
     "-ot " + "a=" * 30000, "--temp " + "1" * 60000,
     "--chat-template-kwargs '" + "{a:" * 15000 + "'", "--tensor-split " + " " * 60000 + "x"],
)  # fmt: skip
def test_long_texts_end_soon(words):
    started = time.process_time()
    read(f"llama-server {words}", 11434)
    assert time.process_time() - started < 2


def test_a_key_behind_hundreds_of_options():
    launch = read("llama-server " + "-c 1 " * 600 + "--api-key sk-local-test", 11434)
    assert "sk-local-test" not in str(to_json(launch))
