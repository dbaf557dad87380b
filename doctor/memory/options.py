"""The launch options that cost or save memory, as given: None where the command line is silent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doctor.facts.launch.record import LaunchOption

_INTEGER = re.compile(r"\s*[+-]?\d{1,18}")
_ON = frozenset({"on", "enabled", "true", "1"})
_OFF = frozenset({"off", "disabled", "false", "0"})


@dataclass(frozen=True)
class Options:
    """What the user asked for. Tokens, layers and MiB as on the command line; None: not given, the build decides.

    `ngl` is a number, or "auto" / "all". `overrides` are (pattern, buffer type) pairs of -ot in order. `cpu_moe` is the
    number of layers whose experts stay on the host (--n-cpu-moe; --cpu-moe is all of them), `cpu_ffn` the same of
    --n-cpu-ffn. `tensor_split` are proportions. `spec_types` are those of --spec-type. `draft_*` belong to the draft
    context. `devices` are the names of --device ("none" for no card).
    """

    ctx: int | None = None
    parallel: int | None = None
    unified: bool | None = None
    batch: int | None = None
    ubatch: int | None = None
    ngl: int | str | None = None
    flash: str | None = None
    type_k: str | None = None
    type_v: str | None = None
    swa_full: bool = False
    kv_offload: bool = True
    op_offload: bool = True
    repack: bool = True
    no_host: bool = False
    overrides: tuple[tuple[str, str], ...] = ()
    cpu_moe: int | None = None
    cpu_ffn: int | None = None
    split_mode: str | None = None
    tensor_split: tuple[float, ...] = ()
    main_gpu: int = 0
    devices: tuple[str, ...] | None = None
    spec_types: tuple[str, ...] = ()
    draft_model: bool = False
    draft_n_max: int | None = None
    draft_type_k: str | None = None
    draft_type_v: str | None = None
    draft_ngl: int | str | None = None
    draft_ctx: int | None = None
    mmproj: bool = False
    mmproj_offload: bool = True
    cache_ram_mib: int | None = None
    checkpoints: int | None = None
    embeddings: bool = False
    fit: bool | None = None


ALL_LAYERS = 1 << 20
"""More layers than any model has: what --cpu-moe means as a number."""


def read_options(options: Iterable[LaunchOption]) -> Options:
    """The options of a command that has been read (`Launch.options`). Values that are no numbers are not given."""
    said = _Said(options)
    return Options(
        ctx=said.integer("--ctx-size"),
        parallel=said.integer("--parallel"),
        unified=said.switch("--kv-unified"),
        batch=said.integer("--batch-size"),
        ubatch=said.integer("--ubatch-size"),
        ngl=said.layers("--n-gpu-layers"),
        flash=said.choice("--flash-attn"),
        type_k=said.text("--cache-type-k"),
        type_v=said.text("--cache-type-v"),
        swa_full=said.switch("--swa-full") or False,
        kv_offload=said.switch("--kv-offload") is not False,
        op_offload=said.switch("--op-offload") is not False,
        repack=said.switch("--repack") is not False,
        no_host=said.switch("--no-host") or False,
        overrides=said.pairs("--override-tensor"),
        cpu_moe=ALL_LAYERS if said.switch("--cpu-moe") else said.integer("--n-cpu-moe"),
        cpu_ffn=said.integer("--n-cpu-ffn"),
        split_mode=said.text("--split-mode"),
        tensor_split=said.floats("--tensor-split"),
        main_gpu=said.integer("--main-gpu") or 0,
        devices=said.names("--device"),
        spec_types=said.names("--spec-type") or (),
        draft_model=said.text("--spec-draft-model") is not None,
        draft_n_max=said.integer("--spec-draft-n-max", "--draft"),
        draft_type_k=said.text("--spec-draft-type-k"),
        draft_type_v=said.text("--spec-draft-type-v"),
        draft_ngl=said.layers("--spec-draft-ngl"),
        draft_ctx=said.integer("--spec-draft-ctx-size"),
        mmproj=said.text("--mmproj") is not None,
        mmproj_offload=said.switch("--mmproj-offload") is not False,
        cache_ram_mib=said.integer("--cache-ram"),
        checkpoints=said.integer("--ctx-checkpoints"),
        embeddings=bool(said.switch("--embedding") or said.switch("--rerank")),
        fit=said.switch("--fit"),
    )


class _Said:
    """Values by canonical name; of several the last counts, and one on the command line before one of a variable."""

    def __init__(self, options: Iterable[LaunchOption]) -> None:
        self._last: dict[str, LaunchOption] = {}
        self._all: dict[str, list[LaunchOption]] = {}
        for option in options:
            before = self._last.get(option.name)
            if before is None or option.spelling.startswith("-") or not before.spelling.startswith("-"):
                self._last[option.name] = option
            self._all.setdefault(option.name, []).append(option)

    def text(self, *names: str) -> str | None:
        for name in names:
            option = self._last.get(name)
            if option is not None and isinstance(option.value, str):
                return option.value.strip()
        return None

    def integer(self, *names: str) -> int | None:
        found = _INTEGER.match(self.text(*names) or "")
        return int(found.group()) if found else None

    def layers(self, *names: str) -> int | str | None:
        value = (self.text(*names) or "").lower()
        if value in ("auto", "all"):
            return value
        return self.integer(*names)

    def switch(self, name: str) -> bool | None:
        """Whether it is on; None when it is not given."""
        option = self._last.get(name)
        if option is None:
            return None
        value = option.value.strip().lower() if isinstance(option.value, str) else "on"
        return (value not in _OFF) != option.negated

    def choice(self, name: str) -> str | None:
        """on, off or auto, however it was spelt."""
        option = self._last.get(name)
        if option is None:
            return None
        value = option.value.strip().lower() if isinstance(option.value, str) else "on"
        return "on" if value in _ON else "off" if value in _OFF else "auto"

    def names(self, name: str) -> tuple[str, ...] | None:
        """Items of every time the option is given."""
        given = [item.value for item in self._all.get(name, ()) if isinstance(item.value, str)]
        if not given:
            return None
        return tuple(word.strip() for value in given for word in value.split(",") if word.strip())

    def floats(self, name: str) -> tuple[float, ...]:
        found = []
        for word in re.split(r"[,/]", self.text(name) or "")[:256]:
            try:
                value = float(word)
            except ValueError:
                value = 0.0
            found.append(value if 0 <= value < 1e18 else 0.0)
        return tuple(found) if any(found) else ()

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        found = []
        for value in self.names(name) or ():
            pattern, equals, place = value.rpartition("=")
            if equals:
                found.append((pattern, place))
        return tuple(found[:1000])
