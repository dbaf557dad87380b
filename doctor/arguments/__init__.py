"""The command line: a module for each verb, found by its name; only that of the verb called is loaded."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from doctor.arguments.overview import VERBS, overview, start
from doctor.arguments.shared import DEFAULTS, EVERYWHERE, TAKE_A_VALUE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doctor.arguments.parser import Parser


def parse(words: list[str], environ: Mapping[str, str]) -> argparse.Namespace:
    """The options of a call. Ends the program: with 2 when they are wrong, with 0 after help."""
    lang = _language(words, environ)
    before, rest = _split(words, lang)
    if not rest:
        _without_verb(before, lang)
    verb, rest = rest[0], rest[1:]
    if verb == "help":
        verb, rest = _help(rest, lang)
    if verb not in VERBS:
        top = parser_of("", lang)
        top.error(_no_such_verb(verb))
    parser = parser_of(verb, lang)
    options, unknown = parser.parse_known_args([*before, *rest])
    if unknown:
        from doctor.arguments.complaints import is_word, unrecognised

        if verb == "explain" and all(is_word(word, parser.options()) for word in unknown):
            options.words += unknown  # an option of llama-server is a word of the question
        else:
            elsewhere = {other: tuple(parser_of(other, lang).options()) for other in VERBS if other != verb}
            parser.error(unrecognised(unknown[0], verb, tuple(parser.options()), elsewhere))
    for name, value in DEFAULTS.items():
        if name not in options:
            setattr(options, name, value)
    # Before Python 3.13 argparse takes "--model=--" for an option without a value and leaves a list.
    empty = next((name for name, value in vars(options).items() if value == []), None)
    if empty:
        parser.error(f"argument --{empty.replace('_', '-')}: expected one argument")
    options.verb = verb
    return options


def parser_of(verb: str, lang: str) -> Parser:
    """The parser of a verb; of "" one that knows what every verb has."""
    from importlib import import_module

    name = f"doctor.arguments.{verb or 'overview'}"
    found: Parser = import_module(name).build(lang)
    return found


def _language(words: list[str], environ: Mapping[str, str]) -> str:
    """The language of help and errors, before anything is known to be well formed."""
    from doctor.report.words import language

    said = None
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if name == "--lang":
            said = value if equals else following
    return language(said if said in ("en", "zh") else None, dict(environ))


def _split(words: list[str], lang: str) -> tuple[list[str], list[str]]:
    """(options of every verb that stand in front of the verb, the verb and what stands behind it)."""
    at = 0
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        name, equals, _ = words[at].partition("=")
        if name == "--version":
            return words[at : at + 1], []
        if name not in EVERYWHERE:
            parser_of("", lang).error(_in_front(words[at], words[at + 1 :]))
        at += 2 if name in TAKE_A_VALUE and not equals else 1
    return words[:at], words[at:]


def _without_verb(before: list[str], lang: str) -> None:
    """Help about all verbs, the version, or where to begin. Ends the program."""
    from doctor import __version__

    top = parser_of("", lang)
    if before[:1] == ["--version"]:
        top.exit_with(f"doctor {__version__}\n")
    asked = [word for word in before if word in ("-h", "--help")]
    top.parse_args([word for word in before if word not in asked])
    top.exit_with(overview(lang) if asked else start(lang))


def _help(topics: list[str], lang: str) -> tuple[str, list[str]]:
    """What `doctor help …` stands for. Ends the program where it is about all verbs."""
    if not topics or topics[0].startswith("-"):
        parser_of("", lang).exit_with(overview(lang))
    return topics[0], ["--help"]


def _in_front(word: str, others: list[str]) -> str:
    from doctor.arguments.complaints import in_front

    return in_front(word, others)


def _no_such_verb(verb: str) -> str:
    from doctor.arguments.complaints import no_such_verb

    return no_such_verb(verb)
