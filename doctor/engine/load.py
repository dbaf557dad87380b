"""Where rules come from: the TOML files people write, and the compiled form that starts fast.

A wheel carries both. In a checkout the compiled module is written again by itself whenever a rule file has changed.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.engine.reader import RuleError
from doctor.engine.rules import Rule, in_builds, rule_from_toml

if TYPE_CHECKING:
    from doctor.outside import Outside

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_CHECKOUT_RULES = os.path.join(os.path.dirname(_PACKAGE), "rules")
_MODULE = "_compiled_rules"
_PARTS = ("STAMP", "RULES", "INDEX")
FORMAT = 10
TOML_LIMIT = 1 << 20
"""Bytes of a rule file or a table."""
_DEEP = re.compile(r"(?<![\w-])(?:[\w-]+\s*\.\s*){100}", re.ASCII)  # the parser takes quadratic time for such a key


class Knowledge(NamedTuple):
    """All rules, the index `explain` searches, and the rule files left out because they are wrong, a line each."""

    rules: tuple[Rule, ...]
    words: dict[str, Any]
    left_out: tuple[str, ...] = ()


def rules_folder(outside: Outside) -> str:
    """The folder with the rule files: inside the package when installed, beside it in a checkout. Raises RuleError."""
    for folder in (os.path.join(_PACKAGE, "rules"), _CHECKOUT_RULES):
        if outside.exists(os.path.join(folder, "tables")):
            return folder
    raise RuleError(f"no rules beside or in {_PACKAGE}: the installation is incomplete, install llama-doctor again")


def load(outside: Outside) -> Knowledge:
    """The rules, from the compiled form when it is fresh. Raises RuleError when there are no rules at all."""
    import gc

    gc.disable()  # many small objects and no rings: collecting in between costs a sixth of the start
    try:
        return _load(outside)
    finally:
        gc.freeze()
        gc.enable()


def _load(outside: Outside) -> Knowledge:
    compiled = _compiled()
    usable = getattr(compiled, "FORMAT", None) == FORMAT and all(map(compiled.__dict__.__contains__, _PARTS))
    if usable and compiled.STAMP == "wheel":
        return _from_plain(compiled.RULES, compiled.INDEX)
    folder = rules_folder(outside)
    stamp = _stamp(outside, folder)
    if usable and stamp == compiled.STAMP:
        return _from_plain(compiled.RULES, compiled.INDEX)
    left_out: list[str] = []
    rules = tuple(rule._replace(examples=()) for rule in read_rules(outside, folder, left_out))
    from doctor.engine.search import build_index

    index = build_index(rules, read_table(outside, folder, "concepts"), read_table(outside, folder, "complaints"))
    if folder == _CHECKOUT_RULES and not left_out:
        _write_compiled(outside, stamp, rules, index)
    return Knowledge(rules, index, tuple(left_out))


def read_rules(outside: Outside, folder: str, left_out: list[str] | None = None) -> tuple[Rule, ...]:
    """Every rule file below `folder`, in the order of their ids.

    A file that is wrong raises RuleError, or is noted in `left_out` when that is given: one bad rule must not take the
    others away from a user.
    """
    rules = []
    for subject in outside.list_folder(folder):
        if subject == "tables":
            continue
        for name in _names_in(outside, os.path.join(folder, subject)):
            if name.endswith(".toml"):
                try:
                    rules.append(read_rule(outside, folder, f"{subject}/{name[:-5]}"))
                except RuleError as error:
                    if left_out is None:
                        raise
                    left_out.append(str(error))
    return tuple(rules)


def read_rule(outside: Outside, folder: str, rule_id: str) -> Rule:
    """A rule with its examples, from its file. Raises RuleError."""
    rule = rule_from_toml(rule_id, _toml(outside, os.path.join(folder, *rule_id.split("/")) + ".toml"))
    _check_language(rule)
    return rule


def _check_language(rule: Rule) -> None:
    """Raises RuleError for a condition or a text that cannot be read: it would end every later run of doctor."""
    from doctor.engine.conditions import parse
    from doctor.engine.templates import pieces_of

    conditions = [when.expr for when in rule.when]
    conditions += [symptom.condition for symptom in rule.symptoms if symptom.condition]
    conditions += [remedy.condition for remedy in rule.remedies if remedy.condition]
    texts = [text.get(lang) for text in (rule.title, rule.why, rule.decide) for lang in ("en", "zh")]
    texts += [words for remedy in rule.remedies for words in (*remedy.text, remedy.command)]
    edits = [edit for remedy in rule.remedies for edit in remedy.edits]
    conditions += [edit.target for edit in edits]
    texts += [words for edit in edits for words in (edit.value, edit.client)]
    try:
        for expression in conditions:
            parse(expression)
        for text in texts:
            pieces_of(text)
        for symptom in rule.symptoms:
            in_builds(symptom.builds, 1)
    except ValueError as error:
        raise RuleError(f"{rule.id}: {error}") from None


def _names_in(outside: Outside, folder: str) -> list[str]:
    """What lies in a folder; nothing when it is none."""
    from doctor.outside import OutsideError

    try:
        return outside.list_folder(folder)
    except OutsideError:
        return []


def read_table(outside: Outside, folder: str, name: str) -> dict[str, Any]:
    """A table of facts from rules/tables: NAME.toml, or NAME itself when it ends in .json. Raises RuleError."""
    if name.endswith(".json"):
        return _json(outside, os.path.join(folder, "tables", name))
    return _toml(outside, os.path.join(folder, "tables", f"{name}.toml"))


def read_table_text(outside: Outside, folder: str, name: str) -> str:
    """A table that is searched as text, one row a line. Raises RuleError."""
    from doctor.outside import OutsideError

    try:
        return outside.read_text(os.path.join(folder, "tables", name))
    except OutsideError as error:
        raise RuleError(str(error)) from None


def compiled_text(stamp: str, rules: tuple[Rule, ...], index: dict[str, Any]) -> str:
    """The source of the compiled module."""
    plain = [_plain(rule) for rule in rules]
    return (
        '"""Written from rules/*.toml by doctor.engine.load. Do not edit."""\n\n'
        f"FORMAT = {FORMAT}\nSTAMP = {stamp!r}\nRULES: list = {plain!r}\nINDEX: dict = {index!r}\n"
    )


def _toml(outside: Outside, path: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:  # pragma: no cover
        import tomli as tomllib
    from doctor.outside import OutsideError

    try:
        text = outside.read_text(path, TOML_LIMIT)
        if _DEEP.search(text):
            raise RuleError(f"{path}: a key of more than 100 parts")
        data: dict[str, Any] = tomllib.loads(text)
        return data
    except OutsideError as error:
        raise RuleError(str(error)) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RuleError(f"{path}: not valid TOML: {error}") from None


def _json(outside: Outside, path: str) -> dict[str, Any]:
    import json

    from doctor.outside import OutsideError

    try:
        found: dict[str, Any] = json.loads(outside.read_text(path))
    except OutsideError as error:
        raise RuleError(str(error)) from None
    except ValueError as error:
        raise RuleError(f"{path}: not valid JSON: {error}") from None
    return found


def _stamp(outside: Outside, folder: str) -> str:
    """A text that changes whenever a rule file does: names, sizes and times."""
    from doctor.outside import OutsideError

    parts = []
    for subject in outside.list_folder(folder):
        where = os.path.join(folder, subject)
        for name in _names_in(outside, where):
            try:
                info = outside.stat(os.path.join(where, name))
                parts.append(f"{subject}/{name}:{info.size}:{info.modified}")
            except OutsideError as error:  # a link to nowhere: reading it says so
                parts.append(f"{subject}/{name}:{error.kind}")
    import zlib

    text = "\n".join(parts).encode("utf-8", "replace")
    return f"{len(parts)}-{zlib.crc32(text):08x}-{zlib.adler32(text):08x}"


def _compiled() -> Any:
    import importlib

    try:
        return importlib.import_module(f"doctor.{_MODULE}")
    except Exception:
        return None  # not there yet, or half written by an interrupted run: it is made again


def _write_compiled(outside: Outside, stamp: str, rules: tuple[Rule, ...], index: dict[str, Any]) -> None:
    import importlib

    from doctor.outside import OutsideError

    try:
        outside.write_text(os.path.join(_PACKAGE, f"{_MODULE}.py"), compiled_text(stamp, rules, index), private=False)
    except OutsideError:
        return  # a checkout that cannot be written to only starts slower
    sys.modules.pop(f"doctor.{_MODULE}", None)  # a later load in this process must see the new one
    importlib.invalidate_caches()


def _plain(value: Any) -> Any:
    """NamedTuples as plain tuples, so that the compiled module is one literal. Examples serve authors only: left out."""
    if isinstance(value, Rule):
        value = value._replace(examples=())
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    return value


def _from_plain(rules: list[Any], index: dict[str, Any]) -> Knowledge:
    from doctor.engine.reader import Text
    from doctor.engine.rules import EditRule, Example, Remedy, Symptom, When

    made = []
    for row in rules:
        (rule_id, cause, severity, priority, title, why, decide, phrases, explains, differential, *rest) = row
        references, symptoms, when, remedies, examples, fallback = rest
        made.append(
            Rule(
                rule_id, cause, severity, priority, Text(*title), Text(*why), Text(*decide), phrases, explains,
                differential, references,
                tuple(Symptom(*item) for item in symptoms),
                tuple(When(*item) for item in when),
                tuple(
                    Remedy(Text(*words), command, price, condition, tuple(EditRule(*edit) for edit in edits), launch)
                    for words, command, price, condition, edits, launch in remedies
                ),
                tuple(Example(*item) for item in examples),
                fallback,
            )
        )  # fmt: skip
    return Knowledge(tuple(made), index)
