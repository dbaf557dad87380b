"""`doctor completion`: a script that lets a shell complete verbs, options and values. Made from the parsers themselves."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, NamedTuple

from doctor.arguments import parser_of
from doctor.arguments.overview import VERBS
from doctor.arguments.shared import CLIENT_IDS
from doctor.arguments.words import translated
from doctor.commands.answer import write
from doctor.exits import Exit
from doctor.report.words import language

if TYPE_CHECKING:
    from doctor.outside import Outside


_VALUES = {"client": CLIENT_IDS, "rules_verb": ("list", "show", "check")}
"""What can be offered where the parser takes more than these."""


class Option(NamedTuple):
    """An option: its names, the values it can have (none: anything), whether it takes one, what it is."""

    names: tuple[str, ...]
    values: tuple[str, ...]
    takes_value: bool
    says: str


_BASH = """\
_doctor() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" verb="" words="" one
  for one in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$one" in {verbs}) verb="$one"; break;; esac
  done
  case "$verb $before" in
{values}
  esac
  case "$verb" in
{options}
  esac
  COMPREPLY=()
  if [[ -z $verb || $word == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); fi
}}
complete -o bashdefault -o default -F _doctor doctor
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def completion(options: argparse.Namespace, outside: Outside) -> Exit:
    """Print the script for a shell."""
    lang = language(options.lang, dict(outside.environ))
    verbs = {verb: _options(verb, lang) for verb in VERBS}
    if options.shell == "fish":
        write(_fish(verbs, lang))
    else:
        write((_ZSH if options.shell == "zsh" else "") + _bash(verbs, lang))
    return Exit.OK


def _options(verb: str, lang: str) -> tuple[Option, ...]:
    return tuple(
        Option(
            names=tuple(action.option_strings),
            values=tuple(action.choices or _VALUES.get(action.dest, ())),
            takes_value=action.nargs != 0,
            says=translated(action.help or "", lang),
        )
        for action in parser_of(verb, lang)._actions
        if action.help != argparse.SUPPRESS
    )


def _bash(verbs: dict[str, tuple[Option, ...]], lang: str) -> str:
    values, lists = [], [f'    "") words="help {" ".join(verbs)} {_names(_options("", lang))} --version";;']
    for verb, options in verbs.items():
        for option in options:
            cases = "|".join(f'"{verb} {name}"' for name in option.names or (verb,))
            reply = (
                f'COMPREPLY=($(compgen -W "{" ".join(option.values)}" -- "$word"))' if option.values else "COMPREPLY=()"
            )
            if option.takes_value and (option.names or option.values):
                values.append(f"    {cases}) {reply}; return;;")
        lists.append(f'    {verb}) words="{_names(options)}";;')
    return _BASH.format(verbs="|".join(verbs), values="\n".join(values), options="\n".join(lists))


def _names(options: tuple[Option, ...]) -> str:
    return " ".join(name for option in options for name in option.names if name.startswith("--"))


def _fish(verbs: dict[str, tuple[Option, ...]], lang: str) -> str:
    lines = ["complete -c doctor -n __fish_use_subcommand -f"]
    for verb, options in verbs.items():
        says = shlex.quote(translated(VERBS[verb].says, lang))
        lines.append(f"complete -c doctor -n __fish_use_subcommand -a {verb} -d {says}")
        for option in options:
            seen = f"complete -c doctor -n '__fish_seen_subcommand_from {verb}'"
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            values = (
                f" -x -a {shlex.quote(' '.join(option.values))}"
                if option.values
                else " -r"
                if option.takes_value
                else ""
            )
            if names or option.values:
                lines.append(
                    f"{seen} {names}{values if names else values.replace(' -x', '')} -d {shlex.quote(option.says)}"
                )
    return "\n".join(lines) + "\n"
