"""The cmake line that builds llama.cpp for the cards and the CUDA toolkit of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.cuda.host import Limits
from doctor.facts.cuda.host import fitting as fitting_compiler
from doctor.facts.record import known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.facts.cuda.record import Cuda
    from doctor.facts.gpu.record import Gpu


class BuildPlan(NamedTuple):
    """`command` is the whole line, None when it cannot be built here as it stands; `remarks` say why or what to mind."""

    command: str | None
    remarks: tuple[str, ...]


class _Choice(NamedTuple):
    version: tuple[int, ...]
    path: str
    on_path: bool


def plan(table: dict[str, Any], gpu: Gpu | None, cuda: Cuda | None, *, windows: bool = False) -> BuildPlan:
    """How to configure llama.cpp here. `table` is rules/tables/cuda.toml."""
    devices = known(gpu.devices) if gpu is not None else None
    cards = sorted({sm for device in devices or () if (sm := known(device.sm)) is not None})
    if not cards:
        return BuildPlan(None, ("no CUDA card is known here",))
    toolkits = _toolkits(cuda)
    if not toolkits:
        needed = needed_toolkit(table, cards)
        return BuildPlan(None, (f"no CUDA toolkit was found: install {needed or 'one'} first",))
    fitting = [item for item in toolkits if _covers(table, item.version, cards)]
    if not fitting:
        found = ", ".join(_dotted(item.version) for item in toolkits)
        needed = needed_toolkit(table, cards)
        words = f"toolkit {found} cannot compile for {_names(cards)}"
        return BuildPlan(None, (f"{words}: install {needed}" if needed else f"{words}: no toolkit knows all of them",))
    chosen = next((item for item in fitting if item.on_path), max(fitting))
    compiler = "" if chosen.on_path else f" -DCMAKE_CUDA_COMPILER={chosen.path}/bin/nvcc"
    architectures = ";".join(map(str, cards))
    quoted = f'"{architectures}"' if len(cards) > 1 else architectures
    host, about_host = _host(table, cuda, _dotted(chosen.version))
    driver = driver_for(table, chosen.version[0], windows=windows)
    remarks = [f"toolkit {_dotted(chosen.version)}, {_names(cards)}", *about_host]
    if driver is not None:
        remarks.append(f"what it builds runs on driver {driver} or newer")
    return BuildPlan(
        f"cmake -B build -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES={quoted}{compiler}{host}"
        " && cmake --build build --config Release -j",
        tuple(remarks),
    )


def _host(table: dict[str, Any], cuda: Cuda | None, version: str) -> tuple[str, list[str]]:
    """The option that names another C++ compiler where the usual one is too new, and remarks about it."""
    row = row_of(table, version)
    usual = known(cuda.host_compiler) if cuda is not None else None
    if row is None or usual is None or usual.kind not in ("gcc", "clang"):
        return "", [f"gcc {row['gcc']} or older"] if row is not None else []
    limit = Limits(row["gcc"], row["clang"], None)
    if (usual.major() or 0) <= row[usual.kind]:
        return "", [f"{usual.kind} {usual.major() or ''}".rstrip() + f" is taken ({row[usual.kind]} or older)"]
    other = fitting_compiler(known(cuda.host_compilers) or () if cuda is not None else (), limit)
    refused = f"{usual.kind} {usual.major()} is too new for CUDA {version} ({usual.kind} {row[usual.kind]} or older)"
    if other is not None:
        return f" -DCMAKE_CUDA_HOST_COMPILER={other.path}", [refused]
    return f" -DCMAKE_CUDA_HOST_COMPILER=g++-{row['gcc']}", [f"{refused}: install g++-{row['gcc']} first"]


def needed_toolkit(table: dict[str, Any], cards: Sequence[int]) -> str | None:
    """The span of toolkits that compile for all these cards: "12.8 or newer", "11.1 to 12.9"; None when none does."""
    rows = [row for row in table["toolkit"] if set(cards) <= set(row["architectures"])]
    if not rows:
        return None
    newest = table["toolkit"][-1]["version"]
    return (
        f"{rows[0]['version']} or newer"
        if rows[-1]["version"] == newest
        else f"{rows[0]['version']} to {rows[-1]['version']}"
    )


def driver_for(table: dict[str, Any], major: int, *, windows: bool) -> str | None:
    """The oldest driver that runs programs of a CUDA family."""
    row = next((row for row in table["family"] if row["major"] == major), None)
    return row["windows" if windows else "linux"] if row is not None else None


def row_of(table: dict[str, Any], version: str) -> dict[str, Any] | None:
    """What the table says of a toolkit: the last row that is not newer."""
    found = [row for row in table["toolkit"] if _numbers(row["version"]) <= _numbers(version)]
    return found[-1] if found else None


def _covers(table: dict[str, Any], version: tuple[int, ...], cards: Sequence[int]) -> bool:
    """Whether a toolkit compiles for all cards; one that is newer than the table is taken to know all newer ones."""
    row = row_of(table, _dotted(version))
    if row is None:
        return False
    known_cards = row["architectures"]
    newer = version > _numbers(table["toolkit"][-1]["version"])
    return all(card in known_cards or (newer and card > min(known_cards)) for card in cards)


def _toolkits(cuda: Cuda | None) -> list[_Choice]:
    found = []
    on_path = known(cuda.nvcc) if cuda is not None else None
    for toolkit in (known(cuda.toolkits) if cuda is not None else None) or ():
        version = known(toolkit.version)
        if version:
            first = on_path is not None and on_path.startswith(toolkit.path.rstrip("/") + "/")
            found.append(_Choice(_numbers(version), toolkit.path, first))
    version = known(cuda.nvcc_version) if cuda is not None else None
    if on_path is not None and version and not any(item.on_path for item in found):
        found.append(_Choice(_numbers(version), on_path.rpartition("/bin/")[0], True))
    return found


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _names(cards: Sequence[int]) -> str:
    return ", ".join(f"sm_{card}" for card in cards)
