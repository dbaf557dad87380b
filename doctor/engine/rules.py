"""Rules as data: what a rule file holds, and the checks a file must pass before its rule is used."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from doctor.engine.reader import Reader, RuleError, Text

SEVERITIES = ("error", "warning", "note")
PRICES = ("none", "speed", "quality", "context", "restart", "download", "money", "work")
EACH = {"clients": "client", "ladders": "ladder"}
"""Lists of facts that a condition can look at item by item, and the name of an item in its expressions."""
PLACES = ("any", "log", "command", "config")


class Symptom(NamedTuple):
    """A line that gives the fault away: a regular expression, matched without regard to case within one line.

    `also`: every one of these must match some line of the same paste. `unless`: none of them may.
    `condition` must not be false. `place` is the kind of text it may stand in. `likely`: the line alone proves nothing.
    `last`: it must be the last line that a program printed: what is the sign is that nothing comes after it.
    `literals`: a line can only match when it contains one of them (lower case); `guard_literals` the same for each
    pattern of `also` and `unless`, in that order.
    """

    pattern: str
    literals: tuple[str, ...]
    also: tuple[str, ...]
    unless: tuple[str, ...]
    condition: str
    place: str
    builds: str
    likely: bool
    guard_literals: tuple[tuple[str, ...], ...]
    last: bool


class When(NamedTuple):
    """A condition over facts under which the rule is true. `likely`: true, but not certain to be the cause.

    `each` names a list of facts ("clients"): the condition is asked of one item after the other, which has the name that
    EACH gives ("client") there and in the rule's texts, and there is a finding for each that fulfils it.
    """

    expr: str
    likely: bool
    each: str


class EditRule(NamedTuple):
    """How a remedy changes one setting of a client.

    `action`: set, append (to a list with commas), remove, clean (a key: without blanks, quotes, line breaks and
    `Bearer`). `target` is a name of `WRITABLE`, or an expression whose value is a setting or a credential: the place it
    stands in is meant. `value` is a text with {…}, "" for a key that the user gives. `client` is a text with the name of
    the client, "" for the one that the rule looks at.
    """

    action: str
    target: str
    value: str
    client: str


class Remedy(NamedTuple):
    """What to do. It is offered when `condition` is not false and every number in it can be computed.

    `edits` are the changes of settings that carry it out, all of them in one file; () where it is no such change.
    `launch`: it is carried out by giving the launch command the words of `command`, wherever that command is written.
    """

    text: Text
    command: str
    price: str
    condition: str
    edits: tuple[EditRule, ...] = ()
    launch: bool = False


class Example(NamedTuple):
    """An input that must (or must not) make the rule fire: pasted text, facts as {path: value}, or both."""

    text: str
    facts: dict[str, Any]
    match: bool


class Rule(NamedTuple):
    """One cause of trouble: how it shows, when it is true, why, and what to do.

    `priority` (0-100) says how surely this is the root when others fire too: 80 names the cause in so many words,
    50 is usual, 20 is a consequence or a generic text. `differential` names the rules whose cause can look exactly like
    this one: they are offered beside it, with what would tell them apart. `fallback`: told only when no error or warning
    is: it says what would decide, and how to get it.
    """

    id: str
    cause: str
    severity: str
    priority: int
    title: Text
    why: Text
    decide: Text
    phrases: tuple[str, ...]
    explains: tuple[str, ...]
    differential: tuple[str, ...]
    references: tuple[str, ...]
    symptoms: tuple[Symptom, ...]
    when: tuple[When, ...]
    remedies: tuple[Remedy, ...]
    examples: tuple[Example, ...]
    fallback: bool


def rule_from_toml(rule_id: str, data: dict[str, Any]) -> Rule:
    """The rule of a parsed rule file. Raises RuleError with every fault of shape that would make it unusable."""
    reader = Reader(rule_id, data)
    reader.only(
        "id", "cause", "severity", "priority", "title", "why", "decide", "phrases", "explains", "differential",
        "references", "symptom", "when", "remedy", "example", "fallback", "each",
    )  # fmt: skip
    every = reader.choice("each", ("", *EACH), "")  # said once for all conditions of the rule
    rule = Rule(
        id=rule_id,
        cause=reader.text("cause"),
        severity=reader.choice("severity", SEVERITIES),
        priority=reader.integer("priority", 50),
        title=reader.words("title"),
        why=reader.words("why"),
        decide=reader.words("decide", required=False),
        phrases=reader.texts("phrases"),
        explains=reader.texts("explains"),
        differential=reader.texts("differential"),
        references=reader.texts("references"),
        symptoms=tuple(_symptom(item) for item in reader.tables("symptom")),
        when=tuple(
            When(item.text("expr"), item.flag("likely"), item.choice("each", ("", *EACH), every))
            for item in reader.tables("when")
            if item.only("expr", "likely", "each")
        ),
        remedies=tuple(_remedy(item) for item in reader.tables("remedy")),
        examples=tuple(
            Example(item.text("text", ""), item.table("facts"), item.flag("match", True))
            for item in reader.tables("example")
            if item.only("text", "facts", "match")
        ),
        fallback=reader.flag("fallback"),
    )
    if data.get("id", rule_id) != rule_id:
        raise RuleError(f"{rule_id}: the file says id = {data['id']!r}, but its place says {rule_id!r}")
    if rule.fallback and rule.severity != "note":
        raise RuleError(f"{rule_id}: fallback = true asks for what is missing: severity must be note")
    if not rule.remedies:
        raise RuleError(f"{rule_id}: no [[remedy]]: a finding without a way out helps nobody")
    if not (rule.symptoms or rule.when or rule.phrases):
        raise RuleError(f"{rule_id}: no [[symptom]], [[when]] or phrases: it could never fire")
    return rule


def _symptom(item: Reader) -> Symptom:
    from doctor.engine.literals import literals_of

    item.only("pattern", "also", "unless", "if", "place", "builds", "likely", "last")
    pattern = item.text("pattern")
    for each in (pattern, *item.texts("also"), *item.texts("unless")):
        _check_pattern(item.where, each)
    place = item.choice("place", PLACES, "any")
    if item.flag("last") and place not in ("any", "log"):
        raise RuleError(f"{item.where}: last = true speaks of what a program printed: place must be log or any")
    return Symptom(
        pattern=pattern,
        literals=literals_of(pattern),
        also=item.texts("also"),
        unless=item.texts("unless"),
        condition=item.text("if", ""),
        place=place,
        builds=item.text("builds", ""),
        likely=item.flag("likely"),
        guard_literals=tuple(literals_of(other) for other in (*item.texts("also"), *item.texts("unless"))),
        last=item.flag("last"),
    )


def _check_pattern(where: str, pattern: str) -> None:
    from doctor.engine.literals import literals_of, risky

    try:
        re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise RuleError(f"{where}: pattern {pattern!r}: {error}") from None
    if not literals_of(pattern):
        raise RuleError(f"{where}: pattern {pattern!r} has no piece of plain text of 3 or more letters that must occur")
    trouble = risky(pattern)
    if trouble:
        raise RuleError(f"{where}: pattern {pattern!r}: {trouble}")


def _remedy(item: Reader) -> Remedy:
    item.only("en", "zh", "command", "price", "if", "edit")
    launch = item.data.get("edit") == LAUNCH
    if launch and not _LAUNCH_CHANGED.fullmatch(item.text("command", "").strip()):
        raise RuleError(f'{item.where}: edit = "{LAUNCH}" wants a command that is the launch command, changed')
    return Remedy(
        text=Text(item.shown("en"), item.shown("zh")),
        command=item.text("command", ""),
        price=item.choice("price", PRICES, "none"),
        condition=item.text("if", ""),
        edits=() if launch else tuple(_edit(edit) for edit in item.inline_tables("edit")),
        launch=launch,
    )


LAUNCH = "launch"
"""What `edit` says of a remedy that changes the launch command."""
_LAUNCH_CHANGED = re.compile(
    r"\{(?:with_option|without_option)\(launch,[^{}]*\)\}(?: --[\w-]+(?: [^;&|{}]+| \{[^{}]+\})?)*"
    r"|\{launch\.fixed_command\}|\{launch\.command\}(?: --[\w-]+(?: [^-;&|{} ][^;&|{} ]*| \{[^{}]+\})?)+"
)
ACTIONS = ("set", "append", "remove", "clean")


def _edit(item: Reader) -> EditRule:
    from doctor.facts.clients.record import WRITABLE

    item.only(*ACTIONS, "value", "client")
    actions = [action for action in ACTIONS if action in item.data]
    if len(actions) != 1:
        raise RuleError(f"{item.where}: one of {', '.join(ACTIONS)} must be there")
    target = item.text(actions[0])
    if target.isidentifier() and target not in WRITABLE:
        raise RuleError(f"{item.where}: unknown setting {target!r}; known are {', '.join(WRITABLE)}")
    value = item.text("value", "")
    if actions[0] in ("remove", "clean") and value:
        raise RuleError(f"{item.where}: {actions[0]} takes no value")
    if actions[0] in ("set", "append") and not value and target.isidentifier() and target not in _VALUELESS:
        raise RuleError(f"{item.where}: value must be text")
    return EditRule(actions[0], target, value, item.text("client", ""))


_VALUELESS = ("key", "model_entry")
"""Settings that are set without a value: a key is given by the user, an entry may be empty."""


def in_builds(span: str, number: int | None) -> bool:
    """Whether a build lies in a span such as "b4000..b6324", "..b6324", "b7407.."; an unknown build lies in all."""
    if not span or number is None:
        return True
    low, _, high = span.partition("..")
    first = int(low.lstrip("b")) if low.strip() else 0
    last = int(high.lstrip("b")) if high.strip() else 1 << 30
    return first <= number <= last
