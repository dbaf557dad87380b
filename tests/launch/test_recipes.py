"""Launch lines as they are passed around for 27B models on one consumer card, on b11434."""

import pytest

from doctor.launch.command import parse_command
from doctor.launch.fields import Origin, launch_record
from doctor.launch.table import load_table
from doctor.outside import Outside
from doctor.secrets import Vault

RECIPES = {
    "one card, 128K, flags": (
        "./build/bin/llama-server -m … --host 0.0.0.0 --port 8080 -c 131072 --alias qwopus --n-gpu-layers 999 "
        "--flash-attn on --cache-type-k q8_0 --cache-type-v q8_0 --temp 0.2 --top-p 0.9 --top-k 40 -np 1",
        [],
    ),
    "the same out of a JSON file": (
        "./build/bin/llama-server --config server.json",
        [("unknown", "--config server.json", None)],
    ),
    "131K with MTP": (
        "llama-server -m Qwen3.6-27B-IQ4_XS.gguf -c 131072 -ngl 99 -t 8 -np 1 -ub 32 -ctk q4_0 -ctv q4_0 -fa on "
        "--no-mmproj-offload --no-warmup --reasoning off --spec-type mtp --spec-draft-n-max 2",
        [("bad-value", "--spec-type mtp", "--spec-type draft-mtp")],
    ),
    "out of a compose file": (
        "-m /models/Qwen3.6-27B-UD-Q4_K_XL.gguf -c 65536 --parallel 2 -t 8 -tb 4 -b 2048 -ub 1024 --no-mmap "
        "--no-mmproj-offload --image-min-tokens 1024 --n-predict 16384 --spec-type draft-mtp --spec-draft-n-max 2 "
        "--spec-draft-type-k q4_0 --spec-draft-type-v q4_0",
        [("renamed", "--no-mmap", "--load-mode none")],
    ),
    "256K with the KV cache in RAM": (
        "llama-server -m m.gguf -ngl 40 -c 262144 --cache-type-k q4_0 --cache-type-v q4_0 --no-kv-offload -t 12 "
        "-b 2048 -ub 512",
        [],
    ),
}


@pytest.mark.parametrize("name", RECIPES)
def test_recipe(name):
    text, problems = RECIPES[name]
    launch = launch_record(parse_command(text), load_table(Outside()), Vault(), 11434, Origin("paste", "/home/me"))
    assert [(problem.kind, problem.spelling, problem.replacement) for problem in launch.problems] == problems


def test_facts_of_a_recipe():
    text = RECIPES["out of a compose file"][0]
    launch = launch_record(parse_command(text), load_table(Outside()), Vault(), 11434, Origin("paste", "/home/me"))
    assert (launch.ctx_size, launch.parallel, launch.threads, launch.batch_size, launch.ubatch_size) == (
        65536,
        2,
        8,
        2048,
        1024,
    )
    assert (launch.n_predict, launch.spec_type, launch.model) == (
        16384,
        "draft-mtp",
        "/models/Qwen3.6-27B-UD-Q4_K_XL.gguf",
    )
