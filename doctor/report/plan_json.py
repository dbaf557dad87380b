"""A plan as JSON. `schema_version` changes when a reader would have to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from doctor import __version__
from doctor.facts.record import Unknown, to_json
from doctor.report.as_json import finding_json
from doctor.report.launch_forms import FORM

if TYPE_CHECKING:
    from doctor.commands.plan import Planned
    from doctor.commands.plan_opinion import Opinion
    from doctor.facts.record import Fact
    from doctor.facts.speed import Speed
    from doctor.memory.planner import Profile
    from doctor.memory.result import Budget
    from doctor.memory.rooms import Room
    from doctor.redact import Redactor

SCHEMA_VERSION = 1


def _opinion(opinion: Opinion) -> dict[str, Any]:
    if isinstance(opinion.said, Unknown):
        return {"said": None, "reason": opinion.said.reason, "findings": []}
    return {
        "said": to_json(opinion.said),
        "ours": opinion.ours,
        "findings": [finding_json(finding) for finding in opinion.findings],
    }


def render(found: Planned, clean: Redactor) -> str:
    """The plan as JSON text, one object, ending in a newline. Sizes are bytes, contexts tokens of one slot."""
    shown = found.asked.budget if found.asked is not None else None
    if found.asked is None and found.plan is not None and found.plan.profiles:
        shown = found.plan.profiles[0].budget
    model = found.file.model
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "llama-doctor", "version": __version__, "command": "plan"},
        "model": {
            "path": found.file.path,
            "architecture": model.arch,
            "url": found.file.url or None,
            "bytes": found.file.size,
            "block_count": model.block_count,
            "context_length": found.wish.trained,
            "mtp_layers": model.layers.mtp,
        },
        "build": {"number": found.build, "source": found.build_source},
        "cards": [_card(room) for room in found.rooms.rooms] if found.rooms.measured else [],
        "cards_source": found.rooms.source,
        "ram_bytes": found.wish.ram,
        "asked": _asked(found),
        "refused": {"message": found.asked.refusal} if found.asked is not None and found.asked.refusal else None,
        "budget": budget(shown) if shown is not None else None,
        "largest_context": [],
        "profiles": [],
        "not_possible": [],
        "remedies": [],
        "quantisations": [{"name": item.name, "bytes": item.file, "card_bytes": item.card} for item in found.quants],
        "notes": list(found.notes),
        "second_opinion": _opinion(found.opinion) if found.opinion is not None else None,
    }
    if found.plan is not None:
        data["largest_context"] = [
            {"kv_type": row.kv, "tokens": row.tokens, "whole_trained_length": row.trained}
            for row in found.plan.contexts
        ]
        data["profiles"] = [
            _profile(profile, words, found, speed)
            for profile, words, speed in zip(found.plan.profiles, found.commands, found.speeds, strict=True)
        ]
        data["not_possible"] = [{"goal": goal, "reason": why} for goal, why in found.plan.missing]
        data["remedies"] = [
            {
                "what": step.name,
                "value": step.value,
                "price": step.price,
                "saved_bytes": step.saved,
                "fits": step.fits,
                "command": FORM["shell"](words, "", ""),
            }
            for step, words in zip(found.steps, found.step_commands, strict=True)
        ]
    return json.dumps(clean.tree(data), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def budget(found: Budget) -> dict[str, Any]:
    """A budget: llama.cpp's own columns in `bytes`, and every row with its doubt in `rows`."""
    return {
        "n_ctx": found.n_ctx,
        "n_ctx_seq": found.n_ctx_seq,
        "n_ubatch": found.n_ubatch,
        "n_seq_max": found.slots,
        "kv_unified": found.unified,
        "gpu_layers": found.gpu_layers,
        "all_layers": found.all_layers,
        "flash_attn": found.flash,
        "exact": found.exact,
        "bytes": found.breakdown(),
        "totals": {name: found.total(name) for name in found.devices()},
        "rows": [
            {
                "device": row.device,
                "kind": row.kind,
                "bytes": row.bytes,
                "plus_minus": row.plus_minus,
                "why": row.why,
                "at_most": row.optional,
            }
            for row in found.rows
        ],
        "notes": list(found.notes),
    }


def _card(room: Room) -> dict[str, Any]:
    return {
        "device": room.device.name,
        "name": room.name or None,
        "total_bytes": room.device.total,
        "usable_bytes": room.usable,
        "usable_least": room.least,
        "usable_most": room.most,
        "margin_bytes": room.margin,
    }


def _asked(found: Planned) -> dict[str, Any] | None:
    asked = found.asked
    if asked is None:
        return None
    if asked.budget is None:
        return {"fits": False, "refused": asked.refusal}
    limited = asked.spare < 1 << 49
    return {
        "fits": asked.fits,
        "refused": None,
        "spare_bytes": asked.spare if limited else None,
        "spare_ram_bytes": asked.host_spare if asked.host_spare < 1 << 49 else None,
        "speed": to_json(found.asked_speed),
    }


def _profile(profile: Profile, words: tuple[str, ...], found: Planned, speed: Fact[Speed]) -> dict[str, Any]:
    backend = found.wish.rooms[0].device.backend if found.wish.rooms else "cpu"
    options = profile.options
    return {
        "goal": profile.goal,
        "ctx": profile.setup.ctx,
        "slots": found.wish.slots,
        "kv_type": profile.setup.kv,
        "mtp": profile.setup.mtp,
        "n_gpu_layers": options.ngl,
        "n_cpu_moe": options.cpu_moe,
        "gpu_layers": profile.budget.gpu_layers,
        "stop": profile.stop,
        "same_as": profile.same_as or None,
        "speed": to_json(speed),
        "spare_bytes": profile.spare if profile.spare < 1 << 49 else None,
        "command": FORM["shell"](words, "", backend),
        "output": FORM[found.form](words, profile.goal, backend),
        "budget": budget(profile.budget),
    }
