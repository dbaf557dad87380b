"""A plan for people: does it fit, how much does, the commands, and what helps where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.record import known
from doctor.memory.quants import kind_of
from doctor.report.bars import GIB, bar_rows, bars_of
from doctor.report.launch_forms import FORM
from doctor.report.pace import expected_line
from doctor.report.plan_opinion import opinion_rows
from doctor.report.plan_words import tell
from doctor.report.rows import Row
from doctor.report.spoken import spoken
from doctor.report.typable import typable
from doctor.report.words import colon, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.commands.plan import Planned
    from doctor.facts.record import Fact
    from doctor.facts.speed import Speed
    from doctor.memory.planner import Profile
    from doctor.memory.result import Budget
    from doctor.memory.rooms import Outcome
    from doctor.redact import Redactor

FIT_SINCE = 7407
"""--fit, on by default."""
_FULL = 1 << 49
"""Spare bytes from here on mean that nothing limits them."""


def rows(found: Planned, clean: Redactor, lang: str, *, drawn: bool, unicode: bool) -> Iterator[Row]:
    """The lines of the answer."""
    yield from _head(found, clean, lang)
    for note in found.notes:
        yield Row((("warning", "! "), ("", clean.text(spoken(note, lang)))))
    yield Row(())
    if found.asked is not None:
        yield from _asked(found, found.asked, lang, drawn=drawn, unicode=unicode)
        yield Row(())
    if found.opinion is not None:
        yield from opinion_rows(found.opinion, clean, lang, unicode=unicode)
        yield Row(())
    if found.plan is None:
        return
    if found.asked is None:
        yield _verdict(found, lang)
        yield Row(())
    if found.steps:
        yield from _steps(found, clean, lang)
        yield Row(())
    yield from _contexts(found, lang)
    for at, profile in enumerate(found.plan.profiles):
        yield from _profile(found, at, profile, clean, lang, drawn=drawn, unicode=unicode)
        yield Row(())
    for goal, why in found.plan.missing:
        reason = tell("missing_memory", lang) if why == "memory" else clean.text(spoken(why, lang))
        yield Row((("warning", tell("missing", lang, goal=tell(f"goal_{goal}", lang), why=reason)),))
    if found.quants:
        yield from _quants(found, lang)


def _head(found: Planned, clean: Redactor, lang: str) -> Iterator[Row]:
    model = found.file.model
    name = clean.text(found.file.path.replace("\\", "/").rpartition("/")[2])
    kind = kind_of(model)
    words = tell(
        "model",
        lang,
        name=name,
        type=f"{kind}, " if kind else "",
        size=_gib(found.file.size),
        blocks=model.block_count,
        trained=found.wish.trained,
    )
    yield Row((("title", words),))
    if found.file.url:
        file = found.file
        words = tell("remote", lang, url=clean.text(file.url), kib=file.bytes_read >> 10, requests=file.requests)
        yield Row((("quiet", words),))
    path = clean.text(found.build_source)
    key = f"build_{found.build_source}" if found.build_source in ("given", "newest") else "build_found"
    source = tell(key, lang, path=path) if key == "build_found" else tell(key, lang)
    yield Row((("quiet", tell("build", lang, build=found.build, source=source)),))
    for room in found.rooms.rooms if found.rooms.measured else ():
        why = tell("card_found" if found.rooms.source == "found" else "card_named", lang)
        words = tell(
            "card",
            lang,
            device=room.device.name,
            name=clean.text(room.name),
            total=_gib(room.device.total or 0),
            usable=_gib(room.usable),
            margin=tell("margin", lang, size=_gib(room.margin)) if room.margin else "",
            least=_gib(room.least),
            most=_gib(room.most),
            why=why,
        )
        yield Row((("quiet", " ".join(words.replace(" :", ":").replace(" ：", "：").split())),))
    for device, program, pid, size in found.rooms.holders:
        words = tell("holder", lang, name=clean.text(program), pid=pid, size=_gib(size), device=device)
        yield Row((("quiet", words),), 2)
    if found.rooms.source in ("none", "device"):
        yield Row((("quiet", tell("no_card" if found.rooms.source == "none" else "no_memory", lang)),))


def _asked(found: Planned, asked: Outcome, lang: str, *, drawn: bool, unicode: bool) -> Iterator[Row]:
    if asked.budget is None:
        yield Row((("error", tell("asked_refused", lang, why=spoken(asked.refusal, lang))),))
        return
    yield Row((_asked_words(found, asked, asked.budget, lang),))
    free = asked.options.ngl in (None, "auto") and asked.options.fit is not False and not asked.options.overrides
    if asked.spare < 0 and free and found.build >= FIT_SINCE:
        yield Row((("quiet", tell("asked_fit", lang)),), 2)
    yield from _expected(found.asked_speed, lang)
    yield from _bars(found, asked.budget, lang, drawn=drawn, unicode=unicode)


def _expected(speed: Fact[Speed], lang: str) -> Iterator[Row]:
    expected = known(speed)
    if expected is not None:
        yield Row((("quiet", expected_line(expected, lang)),), 2)


def _asked_words(found: Planned, asked: Outcome, needed: Budget, lang: str) -> tuple[str, str]:
    if asked.spare >= _FULL and asked.host_spare >= _FULL:
        return "title", tell("asked_needs", lang)
    if asked.spare < 0:
        device = min(found.wish.rooms, key=lambda room: room.usable - needed.total(room.device.name)).device.name
        return "error", tell("asked_over", lang, over=_gib(-asked.spare), device=device)
    if asked.host_spare < 0:
        return "error", tell("asked_ram", lang, over=_gib(-asked.host_spare))
    spare = min(asked.spare, asked.host_spare)
    doubt = max((needed.plus_minus(room.device.name) for room in found.wish.rooms), default=0)
    if spare < doubt:
        return "warning", tell("asked_tight", lang, spare=_gib(spare), doubt=_gib(doubt))
    return "ok", tell("asked_fits", lang, spare=_gib(spare))


def _verdict(found: Planned, lang: str) -> Row:
    assert found.plan is not None
    best = max(found.plan.contexts, key=lambda row: row.tokens or 0, default=None)
    if best is not None and best.tokens is not None:
        if not found.wish.rooms:
            return Row((("ok", tell("fits_cpu", lang, tokens=best.tokens)),))
        return Row((("ok", tell("fits_whole", lang, tokens=best.tokens, kv=best.kv)),))
    return Row((("warning", tell("fits_part", lang, tokens=found.plan.shortest, over=_gib(found.plan.over))),))


def _contexts(found: Planned, lang: str) -> Iterator[Row]:
    if found.plan is None or not any(row.tokens for row in found.plan.contexts):
        return
    yield Row((("head", tell("contexts" if found.wish.rooms else "contexts_cpu", lang)),))
    for row in found.plan.contexts:
        tokens = tell("none", lang) if row.tokens is None else str(row.tokens)
        more = f"  ({tell('trained', lang)})" if row.trained else ""
        yield Row((("", f"{row.kv:<6} {tokens:>8}"), ("quiet", more)), 4)
    yield Row(())


def _profile(
    found: Planned, at: int, profile: Profile, clean: Redactor, lang: str, *, drawn: bool, unicode: bool
) -> Iterator[Row]:
    setup, wish, words = profile.setup, found.wish, found.commands[at]
    goal = tell(f"goal_{profile.goal}", lang)
    if profile.same_as:
        same = tell("same", lang, goal=tell(f"goal_{profile.same_as}", lang))
        yield Row((("title", f"{goal}: "), ("", same)))
        yield from _why_no_mtp(found, profile, lang)
        return
    title = tell(
        "profile",
        lang,
        goal=goal,
        ctx=setup.ctx,
        slots=tell("slots", lang, slots=wish.slots) if wish.slots > 1 else "",
        kv=setup.kv,
        mtp=tell("mtp", lang) if setup.mtp else "",
        place=_place(found, profile, lang),
    )
    yield Row((("title", title),))
    yield Row((("quiet", _stop(found, profile, lang)),), 2)
    yield from _expected(found.speeds[at] if found.speeds else None, lang)
    yield from _why_no_mtp(found, profile, lang)
    yield from _why_smaller_caches(found, profile, lang)
    yield from _bars(found, profile.budget, lang, drawn=drawn, unicode=unicode)
    for note in profile.budget.notes:
        yield Row((("quiet", spoken(note, lang)),), 4)
    backend = wish.rooms[0].device.backend if wish.rooms else "cpu"
    text = clean.text(FORM[found.form](words, profile.goal, backend))
    text = typable(text) if found.form == "shell" else text
    if found.form == "systemd" and "~/" in text:
        yield Row((("quiet", tell("unit_home", lang)),), 2)
    for line in text.splitlines():
        yield Row((("command", line),), 2, copy=True)


def _place(found: Planned, profile: Profile, lang: str) -> str:
    if not found.wish.rooms:
        return tell("place_cpu", lang)
    if profile.setup.experts is not None:
        return tell("place_experts", lang, moe=profile.options.cpu_moe or 0)
    if profile.setup.layers is not None:
        return tell("place_layers", lang, layers=profile.budget.gpu_layers, all=profile.budget.all_layers)
    return tell("place_all", lang, layers=profile.budget.all_layers)


def _stop(found: Planned, profile: Profile, lang: str) -> str:
    if profile.stop == "trained":
        return tell("stop_trained", lang)
    if profile.stop in ("asked", "enough"):
        return tell(
            f"stop_{profile.stop}", lang, spare=_gib(min(profile.spare, profile.host_spare)), kv=profile.setup.kv
        )
    if profile.host_spare < profile.spare:
        return tell("stop_host", lang)
    setup = profile.setup
    step = "layer" if setup.layers is not None else "experts" if setup.experts is not None else "context"
    key = "stop_margin" if any(room.margin for room in found.wish.rooms) else "stop_memory"
    return tell(key, lang, step=tell(f"step_{step}", lang), spare=_gib(max(0, profile.spare)))


def _why_no_mtp(found: Planned, profile: Profile, lang: str) -> Iterator[Row]:
    if profile.goal != "speed" or profile.setup.mtp or not found.wish.rooms:
        return
    if not found.wish.model.layers.mtp:
        key = "no_mtp_file"
    elif not found.wish.abilities.mtp:
        key = "no_mtp_build"
    else:
        key = "no_mtp_room"
    yield Row((("quiet", tell(key, lang, tokens=found.wish.ctx or 16384)),), 2)


def _why_smaller_caches(found: Planned, profile: Profile, lang: str) -> Iterator[Row]:
    """What the options are for that keep caches in RAM, which grow with use, to what RAM there is."""
    given, options = found.wish.options, profile.options
    if options.cache_ram_mib != given.cache_ram_mib:
        key = "less_cache" if options.cache_ram_mib else "no_cache"
        yield Row((("quiet", tell(key, lang, mib=options.cache_ram_mib)),), 2)
    if options.checkpoints != given.checkpoints:
        yield Row((("quiet", tell("fewer_checkpoints", lang, count=options.checkpoints)),), 2)


def _bars(found: Planned, needed: Budget, lang: str, *, drawn: bool, unicode: bool) -> Iterator[Row]:
    measured = found.rooms.measured
    rooms = {room.device.name: room.usable if measured else None for room in found.wish.rooms}
    plain = ((row.device, row.kind, row.bytes, row.optional) for row in needed.rows)
    yield from bar_rows(bars_of(plain, rooms, found.wish.ram), lang, drawn=drawn, unicode=unicode)
    if not needed.exact:
        yield Row((("quiet", tell("inexact", lang)),), 4)


def _steps(found: Planned, clean: Redactor, lang: str) -> Iterator[Row]:
    yield Row((("head", tell("remedies", lang)),))
    kept = False  # steps that cost next to nothing: those that cost something come on top of them
    for step, words in zip(found.steps, found.step_commands, strict=True):
        before = found.asked.budget.slots if found.asked is not None and found.asked.budget is not None else 0
        value, _, kind = step.value.partition(" ")
        text = tell(f"fix_{step.name}", lang, value=value, before=before)
        if kind:
            text += tell("with_kv", lang, kv=kind)
        if step.name in ("kv", "context", "experts", "layers"):
            text = tell("besides", lang) + text if kept else text
        else:
            kept = True
        price = say(f"price_{step.price}", lang)
        cost = f"  [{say('costs', lang)}{colon(lang)}{price}]" if price else ""
        enough = tell("enough" if step.fits else "not_enough", lang)
        saved = f": −{tell('saves', lang, size=_gib(step.saved))}, " if 0 < step.saved < _FULL else ": "
        yield Row((("", f"{text}{saved}"), ("ok" if step.fits else "quiet", enough), ("quiet", cost)), 2)
        if step.fits:
            yield Row((("command", typable(clean.text(FORM["shell"](words, "", "")))),), 6, copy=True)


def _quants(found: Planned, lang: str) -> Iterator[Row]:
    yield Row((("head", tell("quants", lang)),))
    own = kind_of(found.file.model)
    needed = found.plan.smallest if found.plan is not None else 0
    here = next((item.card for item in found.quants if item.name == own), None)
    usable = sum(room.usable - room.margin for room in found.wish.rooms)
    for item in found.quants:
        if here is None or found.plan is None:
            words = ""
        elif (over := needed - here + item.card - usable) > 0:
            words = tell("quant_over", lang, over=_gib(over))
        else:
            more = int(-over / max(1.0, found.plan.token)) // 4096 * 4096
            words = tell("quant_fits", lang, tokens=min(found.plan.shortest + more, found.wish.trained))
        mark = f" ({tell('this_file', lang)})" if item.name == own else ""
        yield Row((("", f"{item.name:<8} {_gib(item.file):>7} GiB  "), ("quiet", words + mark)), 4)


def _gib(size: int) -> str:
    return f"{size / GIB:.2f}" if abs(size) < 100 * GIB else f"{size / GIB:.0f}"
