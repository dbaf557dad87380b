"""How long `doctor plan` takes on a header with a large vocabulary: `python tests/bench/bench_plan.py`.

Writes gemma-3-27b with a vocabulary of 262,144 tokens and 514,906 merges (16 MB of header) and prints the CPU time of a
whole process for two cards. Limit: 0.4 s.
"""

from __future__ import annotations

import io
import os
import resource
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))


def large_model(folder: Path) -> Path:
    """The header of gemma-3-27b with a vocabulary put in front of its keys."""
    from doctor.gguf.header import read_header
    from tests.bench.bench_gguf import MERGES, TOKENS, string
    from tests.gguf.headers import INDEX, header_of

    name = "gemma-3-27b-q4_k_m"
    data = header_of(name)
    tensors, keys = struct.unpack_from("<QQ", data, 8)
    end = read_header(io.BytesIO(data), 1 << 40).data_offset
    tokens = b"".join(string(f"tok{index:x}") for index in range(TOKENS))
    merges = b"".join(string(f"a{index:x} b{index % 4096:x}") for index in range(MERGES))
    pairs = [
        string("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, TOKENS) + tokens,
        string("tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 6, TOKENS) + bytes(4 * TOKENS),
        string("tokenizer.ggml.token_type") + struct.pack("<IIQ", 9, 5, TOKENS) + bytes(4 * TOKENS),
        string("tokenizer.ggml.merges") + struct.pack("<IIQ", 9, 8, MERGES) + merges,
    ]
    head = data[:8] + struct.pack("<QQ", tensors, keys + len(pairs)) + b"".join(pairs) + data[24:end]
    head += bytes(-len(head) % 32)
    path = folder / "large.gguf"
    path.write_bytes(head)
    os.truncate(path, len(head) + INDEX[name]["file_bytes"])
    return path


def process_cpu(*argv: str) -> float:
    """CPU seconds of one doctor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "doctor", *argv], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = large_model(Path(folder))
        for card in ("3090", "4060 ti 16gb"):
            times = [process_cpu("plan", str(path), "--gpu", card, "--build", "11434") for _ in range(3)]
            print(f"{card}: {min(times):.3f} s of CPU (limit 0.4)")


if __name__ == "__main__":
    main()
