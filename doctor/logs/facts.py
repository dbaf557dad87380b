"""Numbers out of a log: devices, layers, buffers, contexts, timings, in the wordings of all builds since 2024."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from doctor.facts.log import Buffer, Log, LogDevice, Timing
from doctor.facts.record import value_or
from doctor.logs.levels import hide
from doctor.logs.scan import HIGH, Sought, sought

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doctor.logs.lines import Line

MIB = 1 << 20
MOST = 2_000
FEW_TIMINGS = 1_000
"""Timings kept from the beginning of a log, and as many from its end."""
MOST_LATE = 4 * FEW_TIMINGS
"""Lines at the end of a log in which its last timings are looked for: two a timing, and as many that are none."""
TIMING_MARK = "eval time"
_N = r"(\d{1,15})(?!\d)"
_F = r"([\d.]{1,20})"
# One row a fact that is a single number: (field, the plain text a line must contain, pattern). The first line that has it counts.
_FIRST: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (field, literal, re.compile(pattern))
    for field, literal, pattern in (
        (
            "build_number",
            "build",
            rf"(?:\bbuild\"?\s{{0,4}}[:=]?\s{{0,4}}|build_info[\"=:\s]+b){_N}(?=\s{{0,4}}[-(,}}])",
        ),
        ("build_number", "version:", rf"\bversion:\s+{_N} \("),
        ("verbosity", "verbosity = ", rf"common_params_print_info: verbosity = {_N}"),
        ("n_ctx_train", "n_ctx_train", rf"n_ctx_train\s*=\s*{_N}"),
        ("n_ctx_train", "n_ctx_train", rf"n_ctx_train \({_N}\)"),
        ("n_ctx", "n_ctx ", rf"\bn_ctx\s+=\s*{_N}"),
        ("n_ctx_slot", "n_ctx_slot", rf"n_ctx_slot\s*=\s*{_N}"),
        ("n_ctx_slot", "n_ctx_seq", rf"n_ctx_(?:seq|per_seq)\s*[=(]+\s*{_N}"),
        ("slots", "n_slots", rf"n_slots\s*=\s*{_N}"),
        ("slots", "n_parallel", rf"n_parallel\s*=\s*{_N}"),
        ("n_ubatch", "n_ubatch", rf"n_ubatch\s*=\s*{_N}"),
        ("graph_splits", "splits", rf"splits\s*=\s*{_N}"),
        ("threads", "n_threads", rf"n_threads\s*=\s*{_N}"),
        ("threads_total", "n_threads", rf"n_threads_batch = \d+\) / {_N}"),
        ("threads_total", "n_threads", rf"n_threads = \d+ / {_N}"),
        ("request_tokens", "available context size", rf"request \(?{_N} tokens\)? exceeds the available context size"),
        ("request_limit", "available context size", rf"available context size \({_N} tokens\)"),
        ("request_tokens", "n_prompt_tokens", rf"n_prompt_tokens\"?\s*[:=]\s*{_N}"),
        ("request_limit", "n_prompt_tokens", rf"\"n_ctx\"\s*:\s*{_N}"),
        ("draft_acceptance", "acceptance", rf"acceptance(?: rate)?\s*=\s*{_F}"),
        ("draft_acceptance", "acceptance", rf"accept(?:ance)? rate[: ]+{_F}"),
        ("drafted", "draft_n", rf"\"draft_n\"\s*:\s*{_N}"),
        ("accepted", "draft_n_accepted", rf"\"draft_n_accepted\"\s*:\s*{_N}"),
        ("drafted", "n_drafted", rf"n_drafted\s*=\s*{_N}"),
        ("accepted", "n_accept", rf"n_accept\s*=\s*{_N}"),
    )
)
_FLASH = re.compile(r"flash_attn\s*=\s*(\w+)")
_OFFLOADED = re.compile(rf"offloaded {_N}/{_N} layers")
_BUFFER = re.compile(rf"\b([A-Za-z][\w:\[\]]{{0,60}})\s+(model |KV |RS |compute |output |)buffer size\s*=\s*{_F} MiB")
_KV_TOTAL = re.compile(rf"(?:KV self size\s*=|llama_kv_cache\w*: size =)\s*{_F} MiB")
_ALLOC = (
    re.compile(rf"allocating {_F} MiB on device {_N}: \w+ failed"),
    re.compile(rf"failed to allocate (\w+) buffer of size {_N}"),
    re.compile(rf"failed to allocate buffer of size {_N}"),
    re.compile(r"unable to allocate (\w+) buffer"),
)
_DEVICE = re.compile(rf"Device {_N}: (.+?), compute capability {_F}(?:.*VRAM: {_N} MiB)?")
_USING = re.compile(rf"using device (\w+) \((.+?)\)(?: \([^)]*\))? - {_N} MiB free")
_LISTED = re.compile(rf"^\s*(?:.*- )?(\w+)\s*: (.+?) \({_N} MiB, {_N} MiB free\)")
_TIMING = re.compile(
    rf"(prompt eval|eval) time\s*=\s*{_F} ms /\s*{_N} (?:tokens|runs)\s*\(.{{0,120}}?{_F} tokens per second"
)
_RUN = 24
"""So often in a row a character says that a model is stuck on it."""
_RUNS = (*(Sought(rb"\x%02x{%d}" % (ord(each), _RUN)) for each in "?!@"), Sought(rb"[" + HIGH + rb"]{%d}" % (2 * _RUN)))
_READY = ("server is listening on", "listening on http", "all slots are idle", "model loaded", "starting the main loop")


# The same for the facts of several numbers: the name under which `settled` knows them, and texts of which a line must hold one.
_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("flash_attn", ("flash_attn",)),
    ("buffers", ("buffer size",)),
    ("kv_total", ("KV self size", ": size =")),
    ("alloc_failed_bytes", ("allocating ", "failed to allocate ")),
    ("layers", ("offloaded ",)),
    ("devices", ("MiB free", "compute capability")),
    ("loaded", _READY),
)


class LogReader:
    """Takes lines one by one and keeps what they say. A fact no line speaks of is absent; long lists keep their first entries."""

    def __init__(self) -> None:
        self.single: dict[str, Any] = {}
        self.buffers: list[Buffer] = []
        self.devices: dict[str, LogDevice] = {}
        self.timings: list[Timing] = []
        self.prompt: tuple[int, float] | None = None
        self.loaded = False

    @property
    def settled(self) -> frozenset[str]:
        """The facts that no further line can change."""
        done = set(self.single)
        if len(self.buffers) >= MOST:
            done.add("buffers")
        if self.loaded:
            done.add("loaded")
        if len(self.timings) >= FEW_TIMINGS:
            done.add("timings")
        return frozenset(done)

    def wants(self, shape: str) -> bool:
        """Whether a line of this shape (its digits as 0) could still add to the facts. Timings after the first ones do not:
        they are given to `take_late`.
        """
        return (
            any(word in shape and field not in self.single for field, word, _ in _FIRST)
            or (TIMING_MARK in shape and len(self.timings) < FEW_TIMINGS)
            or ("repeated_character" not in self.single and bool(_run_of(shape)))
            or any(name not in self.settled and any(word in shape for word in words) for name, words in _GROUPS)
        )

    def sought(self) -> Iterator[Sought]:
        """What the bytes of every line hold that `wants` could want."""
        texts = [word for field, word, _ in _FIRST if field not in self.single]
        texts += [word for name, words in _GROUPS if name not in self.settled for word in words]
        if len(self.timings) < FEW_TIMINGS:
            texts.append(TIMING_MARK)
        yield from filter(None, (sought(text, any_case=False) for text in texts))
        if "repeated_character" not in self.single:
            yield from _RUNS

    def take(self, line: Line) -> None:
        """Read one line."""
        text = line.text
        for field, literal, pattern in _FIRST:
            if literal in text and field not in self.single:
                found = pattern.search(text)
                if found and _small(found[1]):
                    self.single[field] = float(found[1]) if field == "draft_acceptance" else int(found[1])
        if "flash_attn" in text and "flash_attn" not in self.single:
            found = _FLASH.search(text)
            if found:
                self.single["flash_attn"] = found[1]
        if "buffer" in text or "size" in text or "alloc" in text:
            self._sizes(line)
        if "layers" in text:
            found = _OFFLOADED.search(text)
            if found:
                self.single["layers_offloaded"], self.single["layers_total"] = int(found[1]), int(found[2])
        if "MiB free" in text or "compute capability" in text:
            self._device(text)
        if TIMING_MARK in text and len(self.timings) < FEW_TIMINGS:
            self._timing(line.number, text)
        if "repeated_character" not in self.single and _run_of(text):
            self.single["repeated_character"] = _run_of(text)
        if not self.loaded and any(word in text for word in _READY):
            self.loaded = True

    def _sizes(self, line: Line) -> None:
        text = line.text
        if "buffer size" in text and len(self.buffers) < MOST:
            found = _BUFFER.search(text)
            if found and _small(found[3]):
                kind = found[2].strip().lower() or "model"
                self.buffers.append(Buffer(found[1], kind, int(float(found[3]) * MIB), line.number))
        found = _KV_TOTAL.search(text)
        if found and _small(found[1]):
            self.single["kv_bytes"] = self.single.get("kv_bytes", 0) + int(float(found[1]) * MIB)
        if "alloc" in text and "alloc_failed_bytes" not in self.single:
            self._failed(text)

    def _failed(self, text: str) -> None:
        cuda = _ALLOC[0].search(text)
        if cuda and _small(cuda[1]):
            self.single["alloc_failed_bytes"] = int(float(cuda[1]) * MIB)
            self.single["alloc_failed_device"] = f"CUDA{cuda[2]}"
            return
        named = _ALLOC[1].search(text)
        if named and len(named[2]) < 19:
            self.single["alloc_failed_bytes"], self.single["alloc_failed_device"] = int(named[2]), named[1]
            return
        plain = _ALLOC[2].search(text)
        if plain and len(plain[1]) < 19:
            self.single["alloc_failed_bytes"] = int(plain[1])
            self.single["alloc_failed_device"] = "CPU" if "cpu" in text.lower() else None

    def _device(self, text: str) -> None:
        found = _DEVICE.search(text)
        if found:
            memory = int(found[4]) * MIB if found[4] else None
            self._add(LogDevice(f"CUDA{found[1]}", found[2], found[3], memory, None))
            return
        found = _USING.search(text)
        if found:
            self._add(LogDevice(found[1], found[2], None, None, int(found[3]) * MIB))
            return
        found = _LISTED.search(text)
        if found and found[1] != "CPU":
            self._add(LogDevice(found[1], found[2], None, int(found[3]) * MIB, int(found[4]) * MIB))

    def _add(self, device: LogDevice) -> None:
        before = self.devices.get(device.name)
        if before is not None:
            device = LogDevice(
                device.name,
                before.description or device.description,
                before.compute_capability or device.compute_capability,
                before.memory_total_bytes or device.memory_total_bytes,
                before.memory_free_bytes or device.memory_free_bytes,
            )
        if len(self.devices) < 64 or before is not None:
            self.devices[device.name] = device

    def _timing(self, number: int, text: str) -> None:
        found = _TIMING.search(text)
        if not found or not _small(found[4]):
            return
        tokens, speed = int(found[3][:12]), float(found[4])
        if found[1] == "prompt eval":
            self.prompt = (tokens, speed)
        else:
            prompt = self.prompt or (None, None)
            self.timings.append(Timing(prompt[0], prompt[1], tokens, speed, number))
            self.prompt = None

    def result(self, lines: int, late: Iterable[Line] = ()) -> Log:
        """The facts of all lines taken; `lines` is how many the text has, `late` its last lines with a timing."""
        self._take_late(late)
        single = self.single
        model = [buffer for buffer in self.buffers if buffer.kind == "model"]
        host = [
            buffer for buffer in model if buffer.device.startswith(("CPU", "CUDA_Host", "Host", "Vulkan_Host", "BLAS"))
        ]
        kv = sum(buffer.bytes for buffer in self.buffers if buffer.kind == "kv")
        decode = [item.decoded_per_second for item in self.timings if value_or(item.decoded_tokens, 0) >= 8]
        prompt = [item.prompt_per_second for item in self.timings if value_or(item.prompt_tokens, 0) >= 8]
        log = Log(
            lines=lines,
            build_number=single.get("build_number") if single.get("build_number", 0) > 1 else None,
            verbosity=single.get("verbosity"),
            devices=tuple(self.devices.values()) or None,
            layers_offloaded=single.get("layers_offloaded"),
            layers_total=single.get("layers_total"),
            buffers=tuple(self.buffers) or None,
            gpu_model_bytes=sum(b.bytes for b in model) - sum(b.bytes for b in host) if model else None,
            host_model_bytes=sum(b.bytes for b in host) if model else None,
            kv_bytes=single.get("kv_bytes") or kv or None,
            n_ctx=single.get("n_ctx"),
            n_ctx_train=single.get("n_ctx_train"),
            n_ctx_slot=single.get("n_ctx_slot"),
            slots=single.get("slots"),
            n_ubatch=single.get("n_ubatch"),
            flash_attn=single.get("flash_attn"),
            graph_splits=single.get("graph_splits"),
            threads=single.get("threads"),
            threads_total=single.get("threads_total"),
            alloc_failed_bytes=single.get("alloc_failed_bytes"),
            alloc_failed_device=single.get("alloc_failed_device"),
            request_tokens=single.get("request_tokens"),
            request_limit=single.get("request_limit"),
            draft_acceptance=single.get("draft_acceptance", _share(single.get("accepted"), single.get("drafted"))),
            repeated_character=single.get("repeated_character"),
            timings=tuple(self.timings) or None,
            decode_speeds=tuple(speed for speed in decode if isinstance(speed, float)) or None,
            prompt_speeds=tuple(speed for speed in prompt if isinstance(speed, float)) or None,
            loaded=self.loaded or None,
        )
        return hide(log, single.get("verbosity"))

    def _take_late(self, lines: Iterable[Line]) -> None:
        if len(self.timings) < FEW_TIMINGS:
            return
        first, self.timings = self.timings[:FEW_TIMINGS], []
        for line in lines:
            if line.number > first[-1].line:
                self._timing(line.number, line.text)
        self.timings = first + self.timings[-FEW_TIMINGS:]


def _run_of(text: str) -> str:
    """The character a line is over and over: a letter outside ASCII, or ?, !, @ (rulers and dots are no answers); else ""."""
    if len(text) < _RUN:
        return ""
    middle = text[len(text) // 2]
    return middle if (middle in "?!@" or (middle > "\x7f" and middle.isalpha())) and middle * _RUN in text else ""


def _share(part: int | None, whole: int | None) -> float | None:
    """What part of the drafted tokens was accepted; of a few tokens it says nothing."""
    return None if part is None or whole is None or whole < 20 else part / whole


def _small(number: str) -> bool:
    """Whether a captured number is one: pasted text may hold "1.2.3" or a thousand digits."""
    return len(number) < 16 and number.count(".") <= 1 and number != "."
