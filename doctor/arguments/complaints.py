"""What is said of a call that cannot be understood: what is wrong, and what was probably meant."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from doctor.arguments.overview import VERBS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_ENDINGS = ((".gguf", "plan"), (".log", "log"), (".txt", "log"))
"""What a file stands for where a verb should be: its ending -> the verb."""
_MEANT = {"version": "--version", "--api-key": "--key-env", "--url": "--server", "--json": "--format json"}
"""Words of other programs -> what they are here."""
_PLAINER = (
    (r"argument (\S+?): invalid choice: '?(.*?)'? \(choose from (.*)\)", "{0}: no {1!r} here; choose from {2}"),
    (r"the following arguments are required: (.*)", "{0} is missing"),
    (r"argument (\S+?): expected one argument", "{0} wants a value"),
    (r"argument (\S+?): not allowed with argument (\S+)", "{0} and {1} cannot be used together"),
    (r"argument (\S+?): ignored explicit argument '?(.*?)'?", "{0} takes no value ({1!r})"),
    (r"ambiguous option: (\S+) could match (.*)", "{0} could be each of {1}: write it out"),
)
"""argparse's sentences, the same in all versions of Python."""


def plainer(message: str) -> str:
    """A message of argparse in plain words."""
    for pattern, words in _PLAINER:
        found = re.fullmatch(pattern, message, re.DOTALL)
        if found:
            name, *rest = found.groups()
            if "choose from" in words and (near := _near(rest[0], rest[1].replace("'", "").split(", "))):
                words += f"; did you mean {near}?"
            return words.format(name.partition("/")[0], *(part.replace("', '", ", ").strip("'") for part in rest))
    return re.sub(r"^argument (\S+?)(?:/\S+)?: ", r"\1: ", message)


def unrecognised(word: str, verb: str, options: Sequence[str], elsewhere: Mapping[str, Sequence[str]]) -> str:
    """A word that the verb has no place for. `elsewhere`: the options of the other verbs."""
    if not word.startswith("-"):
        named = _option_for(word, verb)
        return f"{word[:80]!r} is one word too many" + (f"; did you mean {named} {word[:80]}?" if named else "")
    name = word.partition("=")[0]
    others = [f"doctor {other}" for other, theirs in elsewhere.items() if name in theirs]
    if others:
        return f"no option {name}; {', '.join(others)} has it"
    meant = _near(name, options)
    return f"no option {name[:80]}" + (f"; did you mean {meant}?" if meant else "")


def no_such_verb(word: str) -> str:
    """A verb that is none."""
    verb = next((verb for ending, verb in _ENDINGS if word.lower().endswith(ending)), None)
    verb = verb or ("verify" if "://" in word else None)
    if verb:
        return f"a verb is missing; did you mean doctor {verb} {word[:80]}?"
    meant = _MEANT.get(word) or _near(word, VERBS)
    return f"no verb {word[:80]!r}; " + (f"did you mean doctor {meant}?" if meant else f"verbs are {', '.join(VERBS)}")


def in_front(word: str, others: list[str]) -> str:
    """An option in front of the verb that does not belong to every verb."""
    verb = next((other for other in others if other in VERBS), "VERB")
    name = word.partition("=")[0]
    return f"{name[:80]} stands behind the verb: doctor {verb} {name[:80]} …"


def is_word(word: str, options: Iterable[str]) -> bool:
    """Whether an unknown word of a question is no mistyped option of ours."""
    return not word.startswith("-") or _near(word.partition("=")[0], options) is None


def _near(word: str, names: Iterable[str]) -> str | None:
    names = list(names)
    if _MEANT.get(word, "").partition(" ")[0] in names:
        return _MEANT[word]
    found = difflib.get_close_matches(word.lower(), names, 1, 0.7)
    longer = [name for name in names if len(word) > 3 and name.startswith(word.lower())]
    return found[0] if found else longer[0] if longer else None


def _option_for(word: str, verb: str) -> str:
    """The option under which a verb takes such a word."""
    if "://" in word:
        return {"check": "--server", "watch": "--server", "fix": "--server"}.get(verb, "")
    if word.lower().endswith(".gguf"):
        return {"check": "--model", "log": "--model", "bench": "--gguf"}.get(verb, "")
    if verb in ("check", "fix"):
        return "--launch" if re.search(r"\.(sh|ya?ml|ps1|bat|service|ini)$|llama-server", word.lower()) else ""
    return "--log" if verb == "watch" and word.lower().endswith(".log") else ""
