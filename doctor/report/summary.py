"""One line a subject: what was looked at and how it stands. Nothing that was not looked at shows green."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.engine.finding import every
from doctor.engine.rules import SEVERITIES
from doctor.facts.facts import SUBJECTS
from doctor.facts.record import Unknown, known
from doctor.facts.side_by_side import LEFT_OUT
from doctor.report.fact_names import VALUES
from doctor.report.pace import expected_line
from doctor.report.rungs import NAMES as RUNGS
from doctor.report.spoken import spoken, summary
from doctor.report.text import Subject
from doctor.report.words import colon, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.engine.finding import Finding
    from doctor.facts.clients.record import Client
    from doctor.facts.facts import Facts
    from doctor.report.bars import Bar

GIB = 1 << 30
_GPU_STATES = {state: words[0] for state, words in VALUES.items()}
_SERVER_STATES = {**_GPU_STATES, "ok": "ready", "refused": "nothing listens there"}


def subjects_of(facts: Facts, findings: tuple[Finding, ...], lang: str) -> tuple[Subject, ...]:
    """A line for every subject of the facts but the log."""
    worst = _worst(findings)
    rows = []
    for name in SUBJECTS:
        value = getattr(facts, name)
        if name == "log" or (isinstance(value, Unknown) and (value.reason == LEFT_OUT or name == "budget")):
            continue
        if (
            name == "ladders" and not value and name not in worst
        ):  # where no client asks this machine there is no way to show
            continue
        if isinstance(value, Unknown):
            rows.append(
                Subject(
                    name,
                    worst.get(name, "unknown"),
                    f"{say('not_checked', lang).lower()}{colon(lang)}{spoken(value.reason, lang)}",
                )
            )
            continue
        if value is None or value == ():
            rows.append(Subject(name, worst.get(name, "unknown"), say("none_found", lang)))
            continue
        if name == "ladders":
            rows.append(
                Subject(name, worst.get(name, "ok" if _stands(name, value) else "error"), _ladders(value, lang))
            )
            continue
        if name == "clients":
            rows += [_client_row(client, findings, lang) for client in value]
            continue
        words = _said(_SUMMARIES[name](value), lang)
        rows.append(Subject(name, worst.get(name, "ok" if _stands(name, value) else "unknown"), words))
    speed = known(facts.speed)
    if speed is not None:
        rows.append(Subject("speed", worst.get("speed", "note"), expected_line(speed, lang)))
    return tuple(rows)


def _worst(findings: tuple[Finding, ...]) -> dict[str, str]:
    """Subject -> worst severity of the errors and warnings that rest on its facts."""
    worst: dict[str, str] = {}
    for finding in findings:
        if finding.severity == "note":
            continue
        for subject in finding.subjects:
            before = worst.get(subject)
            if before is None or SEVERITIES.index(finding.severity) < SEVERITIES.index(before):
                worst[subject] = finding.severity
    return worst


def _stands(name: str, value: Any) -> bool:
    """Whether a subject was really seen in working order."""
    if name in ("gpu", "server"):
        return known(value.state) == "ok"
    if name == "build":
        return known(value.path) is not None or known(value.number) is not None
    if name == "gguf":
        return known(value.kind) == "model"
    if name == "cuda":
        return bool(known(value.toolkits) or known(value.libcuda) or known(value.libcudart))
    if name == "ladders":
        return all(known(ladder.failed) is None for ladder in value)
    return True


def _said(parts: tuple[str, ...], lang: str) -> str:
    """The parts of a summary in the language of the answer, on one line."""
    return ", ".join(summary(part, lang) for part in parts)


def _join(*parts: str | None) -> tuple[str, ...]:
    return tuple(part for part in parts if part)


def _size(value: Any) -> str | None:
    number = known(value)
    if not isinstance(number, int):
        return None
    return f"{number / GIB:.1f} GiB" if number >= GIB else f"{number / (GIB >> 10):.1f} MiB"


def _machine(machine: Any) -> tuple[str, ...]:
    cores = known(machine.cores_physical) or known(machine.cores_logical)
    free = _size(machine.ram_available_bytes)
    total = _size(machine.ram_total_bytes)
    return _join(
        known(machine.os_version) or known(machine.os),
        f"{cores} cores" if cores else None,
        f"{total} RAM" + (f" ({free} free)" if free else "") if total else None,
        f"in {known(machine.container)}" if known(machine.container) else None,
        f"WSL{known(machine.wsl)}" if known(machine.wsl) else None,
    )


def _gpu(gpu: Any) -> tuple[str, ...]:
    devices = known(gpu.devices) or ()
    if not devices:
        state, detail = known(gpu.state) or "unknown", known(gpu.detail)
        return (_GPU_STATES.get(state, state) + (f' ("{detail}")' if detail and state != "no-library" else ""),)
    cards = []
    for device in devices:
        total, free = _size(device.memory_total_bytes), _size(device.memory_free_bytes)
        cards.append(f"{known(device.name) or 'card'} {total or ''}" + (f" ({free} free)" if free else ""))
    driver = known(gpu.driver_version)
    return _join(*cards, f"driver {driver}" if driver else None)


def _cuda(cuda: Any) -> tuple[str, ...]:
    toolkits = [f"toolkit {known(item.version) or '?'} in {item.path}" for item in known(cuda.toolkits) or ()]
    libraries = [name for name in ("libcuda", "libcudart", "libcublas") if known(getattr(cuda, name))]
    return _join(*toolkits, *libraries) or ("no toolkit and no CUDA library found",)


def _build(build: Any) -> tuple[str, ...]:
    number = known(build.number)
    backends = known(build.backends)
    age = known(build.age_days)
    return _join(
        f"b{number}" if number else known(build.version_text),
        known(build.path),
        "backends " + "+".join(backends) if backends else None,
        f"{age} days old" if age is not None else None,
    ) or (build.path.reason if isinstance(build.path, Unknown) else "no llama-server found",)


def _gguf(gguf: Any) -> tuple[str, ...]:
    context = known(gguf.context_length)
    return _join(
        gguf.path.replace("\\", "/").rpartition("/")[2],
        (known(gguf.problem) or known(gguf.kind)) if known(gguf.kind) != "model" else None,
        known(gguf.architecture),
        known(gguf.file_type) or known(gguf.quantization),
        _size(gguf.size_bytes),
        f"trained for {context} tokens" if context else None,
        _hash(gguf),
    )


def _hash(gguf: Any) -> str | None:
    """How the file's hash stands against the one published beside it."""
    digest, expected = known(gguf.sha256), known(gguf.sha256_expected)
    if digest is None:
        return None
    if expected is None:
        return f"sha256 {digest}"
    return f"sha256 {'as' if digest == expected else 'NOT as'} in {known(gguf.sha256_source)}"


LONGEST_COMMAND = 2_000
"""Characters of a command that the summary shows: no command that anybody typed is longer."""


def _launch(launch: Any) -> tuple[str, ...]:
    command = known(launch.command) or known(launch.program) or ""
    return _join(command if len(command) <= LONGEST_COMMAND else command[:LONGEST_COMMAND] + " …")


def _server(server: Any) -> tuple[str, ...]:
    models = known(server.model_ids) or ()
    n_ctx, slots = known(server.n_ctx), known(server.slots)
    state, kind = known(server.state) or "", known(server.kind)
    return _join(
        f"{server.url}: {_SERVER_STATES.get(state, state)}",
        kind if kind != "unknown" else None,
        known(server.build_info),
        f"model {models[0]}" if models else None,
        f"{n_ctx} tokens a slot" if n_ctx else None,
        ("1 slot" if slots == 1 else f"{slots} slots") if slots else None,
    )


def _client_row(client: Client, findings: tuple[Finding, ...], lang: str) -> Subject:
    """A client's triplet and how it stands: green only where something was seen to listen at its address."""
    severities = [
        finding.severity
        for finding in every(findings)
        if finding.severity != "note"
        # A finding about the clients as a whole is about each that has a server of its own.
        and (
            finding.about == client.name
            or (not finding.about and "clients" in finding.subjects and known(client.base_url) is not None)
        )
    ]
    seen = known(client.base_url) is not None and known(client.port_open) is True
    state = min(severities, key=SEVERITIES.index) if severities else "ok" if seen else "unknown"
    return Subject("clients", state, _said(_client(client), lang))


def _client(client: Client) -> tuple[str, ...]:
    base, model, small = known(client.base_url), known(client.model), known(client.small_model)
    key = next((key for key in known(client.credentials) or () if key.token), None)
    unseen = client.base_url.reason if isinstance(client.base_url, Unknown) else "no server of its own is set"
    return _join(
        f"{client.name} → {base.value}" if base else f"{client.name}: {unseen}",
        f"key {key.name}" if key and base else None,
        f"model {model.value}" if model else None,
        f"small model {small.value}" if small and not (model and small.value == model.value) else None,
    )


def _ladders(ladders: Any, lang: str) -> str:
    """How far each client's way carries."""
    words = []
    for ladder in ladders:
        rung = known(ladder.failed)
        said = say("way_breaks", lang).format(rung=RUNGS[lang][rung]) if rung else say("way_holds", lang)
        words.append(f"{spoken(ladder.name, lang)} → {spoken('the model', lang)}{colon(lang)}{said}")
    return "; ".join(words) if lang == "en" else "；".join(words)


def _budget(budget: Any) -> tuple[str, ...]:
    refused = known(budget.refused)
    if refused:
        return (f"refused: {refused}",)
    words = []
    for card in known(budget.cards) or ():
        free = _size(card.free_bytes)
        words.append(f"{card.device} needs {_size(card.need_bytes)}" + (f" of {free}" if free else ""))
    words.append(f"RAM needs {_size(budget.ram_need_bytes)}")
    return _join(*words)


def bars(facts: Facts, lang: str) -> tuple[Bar, ...]:
    """The budget of the launch command as bars, none where it is not known."""
    from doctor.report.bars import bars_of

    budget, machine = known(facts.budget), known(facts.machine)
    rows = known(budget.rows) if budget is not None else None
    if budget is None or not rows:
        return ()
    rooms = {card.device: known(card.free_bytes) for card in known(budget.cards) or ()}
    ram = known(machine.ram_available_bytes) if machine is not None else None
    return bars_of(((row.device, row.kind, row.bytes, row.at_most) for row in rows), rooms, ram)


_SUMMARIES: dict[str, Callable[[Any], tuple[str, ...]]] = {
    "machine": _machine,
    "gpu": _gpu,
    "cuda": _cuda,
    "build": _build,
    "gguf": _gguf,
    "launch": _launch,
    "server": _server,
    "budget": _budget,
}
