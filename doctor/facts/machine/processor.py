"""The processor: its name, its cores of each kind and the instructions llama.cpp can use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.attempt import attempt
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.record import Fact
    from doctor.outside import Outside

_COMMAND_SECONDS = 2.0
_CPUS = "/sys/devices/system/cpu"

FEATURES = (
    "pni", "ssse3", "sse4_1", "sse4_2", "avx", "avx2", "fma", "f16c", "bmi2", "avx_vnni", "avx512f",
    "avx512cd", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512_vnni", "avx512_bf16", "avx512_fp16",
    "amx_tile", "amx_int8", "amx_bf16", "amx_fp16",
    "asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2", "sme",
)  # fmt: skip
"""Flags ggml's CPU kernels ask for, as /proc/cpuinfo names them (Linux 6.12: x86 cpufeatures.h, arm64 cpuinfo.c)."""

_MAC_NAMES = {
    "AVX1.0": "avx", "SSE3": "pni", "FEAT_AdvSIMD": "asimd", "FEAT_FP16": "asimdhp", "FEAT_DotProd": "asimddp",
    "FEAT_I8MM": "i8mm", "FEAT_BF16": "bf16", "FEAT_SME": "sme",
}  # fmt: skip
"""How `sysctl` of macOS names what Linux calls otherwise than in lower case with an underscore for the dot."""

_WINDOWS_NUMBERS = {"pni": 13, "ssse3": 36, "sse4_1": 37, "sse4_2": 38, "avx": 39, "avx2": 40, "avx512f": 41}
"""PF_* numbers of IsProcessorFeaturePresent (winnt.h of SDK 10.0.22621)."""

_WINDOWS_CPU_KEY = r"HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor\0"


class Processor(NamedTuple):
    """The facts of Machine that speak of the processor; all cores but the logical ones are physical."""

    name: Fact[str]
    physical: Fact[int]
    logical: Fact[int]
    performance: Fact[int]
    efficiency: Fact[int]
    features: Fact[tuple[str, ...]]


def read_processor(outside: Outside) -> Processor:
    """The processor of this machine. Never raises."""
    readers = {"linux": _linux, "darwin": _macos, "win32": _windows}
    found = attempt(lambda: readers.get(outside.platform, _elsewhere)(outside))
    return Processor(found, found, found, found, found, found) if isinstance(found, Unknown) else found


# --- Linux ------------------------------------------------------------------------------------------------------


def _linux(outside: Outside) -> Processor:
    blocks = _blocks(outside.read_text("/proc/cpuinfo"))
    first = blocks[0] if blocks else {}
    cores = attempt(lambda: _core_of_each(outside, blocks))
    flags = first.get("flags") or first.get("Features")
    performance, efficiency = _kinds(outside, cores, arm="Features" in first)
    return Processor(
        name=first.get("model name"),
        physical=cores if isinstance(cores, Unknown) else len(set(cores.values())),
        logical=len(blocks) or Unknown("/proc/cpuinfo lists no processor"),
        performance=performance,
        efficiency=efficiency,
        features=_chosen(flags.split()) if flags else Unknown("/proc/cpuinfo lists no features"),
    )


def _blocks(text: str) -> list[dict[str, str]]:
    """One table a logical processor."""
    blocks: list[dict[str, str]] = []
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        name = name.strip()
        if name == "processor" and value.strip().isdigit():
            blocks.append({})
        if colon and blocks:
            blocks[-1].setdefault(name, value.strip())
    return blocks


def _core_of_each(outside: Outside, blocks: list[dict[str, str]]) -> dict[int, str]:
    """Logical processor -> a text that is the same for those of one physical core."""
    cores = {}
    for block in blocks:
        number = int(block["processor"])
        if "core id" in block:
            cores[number] = f"{block.get('physical id', '0')}/{block['core id']}"
        else:  # ARM: only /sys knows
            cores[number] = outside.read_text(f"{_CPUS}/cpu{number}/topology/thread_siblings_list", 4096).strip()
    return cores


def _kinds(outside: Outside, cores: dict[int, str] | Unknown, *, arm: bool) -> tuple[Fact[int], Fact[int]]:
    """Performance and efficiency cores; None and None on a processor with one kind."""
    if arm:
        unknown = Unknown("Linux names the kinds of cores of Intel processors only")
        return unknown, unknown
    if isinstance(cores, Unknown):
        return cores, cores
    counts: list[Fact[int]] = []
    for kind in ("cpu_core", "cpu_atom"):
        path = f"/sys/devices/{kind}/cpus"
        if outside.exists(path):
            counts.append(attempt(lambda path=path: _count(cores, outside.read_text(path, 4096))))  # type: ignore[misc]
        else:
            counts.append(None)
    return counts[0], counts[1]


def _count(cores: dict[int, str], listed: str) -> int:
    """How many physical cores a list such as "0-11,14" names."""
    numbers: set[int] = set()
    for low, high in re.findall(r"(\d{1,6})(?:-(\d{1,6}))?", listed):
        numbers.update(range(int(low), int(high or low) + 1))
    return len({core for number, core in cores.items() if number in numbers})


def _chosen(flags: list[str]) -> tuple[str, ...]:
    present = set(flags)
    return tuple(feature for feature in FEATURES if feature in present)


# --- macOS ------------------------------------------------------------------------------------------------------


def _macos(outside: Outside) -> Processor:
    """From `sysctl`: hw.perflevel0 are the performance cores, hw.perflevel1 the efficiency cores (Apple silicon)."""
    values: dict[str, str] = {}
    for line in outside.run(["sysctl", "hw", "machdep.cpu"], timeout=_COMMAND_SECONDS).stdout.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            values[name.strip()] = value.strip()

    def number(name: str) -> Fact[int]:
        return int(values[name]) if values.get(name, "").isdigit() else None

    words = f"{values.get('machdep.cpu.features', '')} {values.get('machdep.cpu.leaf7_features', '')}".split()
    words += [name.rpartition(".")[2] for name in values if name.startswith("hw.optional.") and values[name] == "1"]
    named = [_MAC_NAMES.get(word, word.lower().replace(".", "_")) for word in words]
    return Processor(
        name=values.get("machdep.cpu.brand_string"),
        physical=number("hw.physicalcpu"),
        logical=number("hw.logicalcpu"),
        performance=number("hw.perflevel0.physicalcpu") if "hw.perflevel1.physicalcpu" in values else None,
        efficiency=number("hw.perflevel1.physicalcpu"),
        features=_chosen(named) if named else Unknown("sysctl lists no features"),
    )


# --- Windows and the rest ---------------------------------------------------------------------------------------


def _windows(outside: Outside) -> Processor:
    kinds = Unknown("not asked of Windows")
    return _elsewhere(outside)._replace(
        name=attempt(lambda: _windows_name(outside)),
        performance=kinds,
        efficiency=kinds,
        features=attempt(lambda: _windows_features(outside)),
    )


def _windows_name(outside: Outside) -> str | None:
    shown = outside.run(["reg", "query", _WINDOWS_CPU_KEY, "/v", "ProcessorNameString"], timeout=_COMMAND_SECONDS)
    match = re.search(r"ProcessorNameString\s+REG_SZ\s+(\S.*)", shown.stdout)
    return match.group(1).strip() if match else outside.environ.get("PROCESSOR_IDENTIFIER")


def _windows_features(outside: Outside) -> Fact[tuple[str, ...]]:
    names = [name for name, number in _WINDOWS_NUMBERS.items() if outside.processor_feature(number)]
    if "sse4_1" not in names:  # every x86-64 processor since 2008 has it: this Windows does not know the numbers
        return Unknown("this Windows does not list them")
    if "avx2" in names:  # Windows has no number for these; no processor that runs it has AVX2 without them
        names += ["fma", "f16c", "bmi2"]
    return _chosen(names)


def _elsewhere(outside: Outside) -> Processor:
    psutil: Any = outside.psutil()
    unknown = Unknown(f"not known how to ask {outside.platform}")
    return Processor(
        name=unknown,
        physical=attempt(lambda: psutil.cpu_count(logical=False)),
        logical=attempt(lambda: psutil.cpu_count()),
        performance=unknown,
        efficiency=unknown,
        features=unknown,
    )
