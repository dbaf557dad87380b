"""How long a header with a large vocabulary takes: `python tests/bench/bench_gguf.py [FOLDER]`.

Writes a file shaped like gemma-4 (262,144 tokens with scores and types, 514,906 merges, about 16 MB of header) and
prints the CPU time of the walk, of `collect`, and of a whole process that does nothing else. Limit: 0.3 s a process.
"""

from __future__ import annotations

import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOKENS = 262_144
MERGES = 514_906


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def large_header() -> bytes:
    """A GGUF header with a vocabulary of gemma-4's size, and one small tensor."""
    tokens = b"".join(string(f"tok{index:x}") for index in range(TOKENS))
    merges = b"".join(string(f"a{index:x} b{index % 4096:x}") for index in range(MERGES))
    pairs = [
        string("general.architecture") + struct.pack("<I", 8) + string("llama"),
        string("llama.block_count") + struct.pack("<II", 4, 1),
        string("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, TOKENS) + tokens,
        string("tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 6, TOKENS) + bytes(4 * TOKENS),
        string("tokenizer.ggml.token_type") + struct.pack("<IIQ", 9, 5, TOKENS) + bytes(4 * TOKENS),
        string("tokenizer.ggml.merges") + struct.pack("<IIQ", 9, 8, MERGES) + merges,
        string("tokenizer.chat_template") + struct.pack("<I", 8) + string("{{ messages }}" * 1000),
    ]
    tensor = string("token_embd.weight") + struct.pack("<IqqIQ", 2, 32, 4, 0, 0)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs)) + b"".join(pairs) + tensor
    return head + bytes(-len(head) % 32) + bytes(32 * 4 * 4)


def process_cpu(*argv: str) -> float:
    """CPU seconds of a child process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *argv], check=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from doctor.facts.gguf import record as gguf
    from doctor.gguf.header import read_header
    from doctor.outside import Outside

    folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    path = os.path.join(folder, "large.gguf")
    Path(path).write_bytes(large_header())
    size = Path(path).stat().st_size
    walks, collects = [], []
    for _ in range(7):
        started = time.process_time()
        with open(path, "rb") as stream:
            header = read_header(stream, size)
        walks.append(time.process_time() - started)
        assert header.problem is None and header.lengths["tokenizer.ggml.tokens"] == TOKENS
        started = time.process_time()
        gguf.collect(Outside(), path)
        collects.append(time.process_time() - started)
    code = (
        "from doctor.facts.gguf.record import collect\nfrom doctor.outside import Outside\nimport sys\n"
        "assert collect(Outside(), sys.argv[1]).vocab_size == 262144"
    )
    whole = sorted(process_cpu("-c", code, path) for _ in range(7))
    bare = sorted(process_cpu("-c", "pass") for _ in range(7))
    print(f"header of {size / 1e6:.1f} MB, {TOKENS} tokens, {MERGES} merges")
    print(f"walk             {min(walks):.3f} s (median {sorted(walks)[3]:.3f})")
    print(f"collect          {min(collects):.3f} s (median {sorted(collects)[3]:.3f})")
    print(f"whole process    {whole[0]:.3f} s (median {whole[3]:.3f}), bare python {bare[0]:.3f}")


if __name__ == "__main__":
    main()
