"""A launch file on disk, put right as `doctor fix --launch` does, without the rest of the machine."""

from dataclasses import replace
from typing import NamedTuple

from doctor.engine.load import load
from doctor.facts.build import record as build_record
from doctor.facts.facts import nothing_known
from doctor.facts.launch.record import find
from doctor.fix.launch.bench import Bench
from doctor.fix.launch.files import LaunchFiles
from doctor.fix.launch.hand import Hand
from doctor.fix.launch.improve import improve
from doctor.launch.command_text import hidden
from doctor.launch.table import load_table
from doctor.outside import Outside
from doctor.secrets import Vault

RULES = load(Outside()).rules
NUMBER = 10434


class Fixed(NamedTuple):
    """What became of it: the texts by file name, the servers' arguments, and what `improve` says."""

    texts: dict
    arguments: list
    improved: object
    vault: Vault


def put_right(folder, name, text, *, build=NUMBER, siblings=None, facts=None, rule=None):
    """The file (and those beside it), put right in memory."""
    for other, content in {name: text, **(siblings or {})}.items():
        path = folder / other
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    outside = Outside({"HOME": str(folder), "PATH": ""}, "linux")
    vault = Vault()
    seen = find(outside, vault, text=str(folder / name))
    known = replace(nothing_known("not looked at"), **(facts or {}))
    if build is not None:
        known = replace(known, build=build_record.from_number(outside, build, source="option"))
    bench = Bench(outside, vault, RULES, known, (seen, *seen.others), build)
    hand = Hand(LaunchFiles(outside, str(folder / name), load_table(outside), inside=False), vault)
    improved = improve(hand, bench, rule)
    texts = {path.rpartition("/")[2]: changed for path, changed in hand.changed.items()}
    arguments = [" ".join(hidden(item.command.words, vault)[item.command.first :]) for item in hand.now]
    return Fixed(texts, arguments, improved, vault)
