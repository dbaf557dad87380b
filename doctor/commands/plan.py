"""`doctor plan`: what a launch command needs, from the model's header alone."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from doctor.commands.answer import redactor
from doctor.exits import Exit, UsageError
from doctor.facts.record import known
from doctor.memory.budget import budget
from doctor.memory.defaults import NEWEST
from doctor.memory.model import Model, read_model
from doctor.memory.options import read_options
from doctor.memory.result import Budget, Device, Refusal
from doctor.outside import OutsideError
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse

    from doctor.outside import Outside

BACKENDS = {"cuda": "CUDA", "rocm": "ROCm", "vulkan": "Vulkan", "metal": "Metal", "sycl": "SYCL"}
_DEVICE = re.compile(r"(cuda|rocm|vulkan|metal|sycl|cpu)(?::(\d{1,2}))?", re.IGNORECASE)
_MIB = 1 << 20


def plan(options: argparse.Namespace, outside: Outside) -> Exit:
    """Work out the memory of a launch command and print it."""
    from doctor.facts.launch import Seen, find, judge

    vault = Vault()
    clean = redactor(outside, vault)
    build = build_number(options.build)
    cards = devices(options.device)
    seen = find(outside, vault, text=options.launch)
    launch = known(judge(outside, vault, seen, build)) if isinstance(seen, Seen) else None
    if launch is None:
        raise UsageError('--launch wants a command that starts llama-server, such as "llama-server -m model.gguf"')
    path = known(launch.model)
    if path is None:
        raise UsageError("the launch command names no model file (-m FILE)")
    draft_path, extra_path = known(launch.draft_model), known(launch.mmproj)
    found: Budget | Refusal
    model = read_file(outside, path)
    found = (
        model
        if isinstance(model, Refusal)
        else budget(
            model,
            read_options(known(launch.options) or ()),
            build,
            cards,
            usable(outside, draft_path),
            usable(outside, extra_path),
        )
    )
    if options.format == "json":
        import json

        _print(json.dumps(clean.tree(as_json(found)), ensure_ascii=False, indent=2))
    else:
        _print(clean.text(as_text(found)))
    return Exit.FINDINGS if isinstance(found, Refusal) else Exit.OK


def build_number(text: str | None) -> int:
    """The build a user named: 11434, b11434."""
    if text is None:
        return NEWEST
    found = re.fullmatch(r"[bB]?(\d{1,6})", text.strip())
    if found is None:
        raise UsageError(f"--build wants a number such as 11434, not {text[:40]!r}")
    return int(found[1])


def devices(text: str) -> tuple[Device, ...]:
    """The cards of --device: cuda is one, cuda:2 two of them, cpu none."""
    found = _DEVICE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--device wants cpu, cuda, cuda:N (N cards), rocm, vulkan, metal or sycl, not {text[:40]!r}")
    kind, count = found[1].lower(), int(found[2] or 1)
    if kind == "cpu":
        return ()
    return tuple(Device(f"{BACKENDS[kind]}{at}", kind) for at in range(max(1, min(count, 16))))


def read_file(outside: Outside, path: str) -> Model | Refusal:
    """The model of a file (and its other parts). Raises UsageError when it cannot be read."""
    from doctor.gguf.header import MAGIC, read_header
    from doctor.gguf.identify import HEAD, identify
    from doctor.gguf.parts import read_parts

    try:
        size = outside.stat(path).size
        with outside.open(path) as stream:
            head = stream.read(HEAD) or b""
            if not head.startswith(MAGIC):
                return Refusal("header", f"{path}: this is {identify(head, size).words}")
            stream.seek(0)
            header = read_header(stream, size)
            parts = read_parts(outside, path, header, stream, size)
    except (OutsideError, OSError, ValueError) as error:
        raise UsageError(str(error)) from None
    if not parts.whole and parts.missing:
        return Refusal("header", f"parts of the model are missing: {', '.join(parts.missing[:3])}")
    return read_model(header, parts.tensors)


def usable(outside: Outside, path: str | None) -> Model | None:
    """A second file of the command, None when there is none or it cannot be read."""
    if path is None:
        return None
    try:
        found = read_file(outside, path)
    except UsageError:
        return None
    return found if isinstance(found, Model) else None


def as_json(found: Budget | Refusal) -> dict[str, Any]:
    """The answer as plain data. `bytes` has the shape of llama.cpp's memory breakdown, `rows` has everything."""
    if isinstance(found, Refusal):
        return {"schema_version": 1, "command": "plan", "refused": {"reason": found.reason, "message": found.message}}
    return {
        "schema_version": 1,
        "command": "plan",
        "budget": {
            "n_ctx": found.n_ctx,
            "n_ctx_seq": found.n_ctx_seq,
            "n_ubatch": found.n_ubatch,
            "n_seq_max": found.slots,
            "kv_unified": found.unified,
            "flash_attn": found.flash,
            "gpu_layers": found.gpu_layers,
            "all_layers": found.all_layers,
            "exact": found.exact,
            "bytes": found.breakdown(),
            "rows": [vars(row) for row in found.rows],
            "totals": {name: found.total(name) for name in found.devices()},
            "notes": list(found.notes),
        },
    }


def as_text(found: Budget | Refusal) -> str:
    """The answer for people."""
    if isinstance(found, Refusal):
        return f"llama-server would not start: {found.message}"
    lines = [f"context {found.n_ctx} tokens, {found.slots} slots of {found.n_ctx_seq}, ubatch {found.n_ubatch}"]
    for name in found.devices():
        lines.append(f"{name}: {found.total(name) / _MIB:.0f} MiB (± {found.plus_minus(name) / _MIB:.0f})")
        lines += [
            f"  {row.kind:<14} {row.bytes / _MIB:>10.1f} MiB  {row.why}" for row in found.rows if row.device == name
        ]
    return "\n".join([*lines, *found.notes])


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
