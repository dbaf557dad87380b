"""A launch file on disk, put right as `doctor fix --launch` does, without the rest of the machine."""

from dataclasses import replace
from typing import NamedTuple

from doctor.engine.load import load
from doctor.facts.build import record as build_record
from doctor.facts.clients.record import Client, Setting
from doctor.facts.facts import nothing_known
from doctor.facts.launch.record import find
from doctor.facts.record import known, not_collected
from doctor.fix.launch.bench import Bench
from doctor.fix.launch.files import LaunchFiles
from doctor.fix.launch.hand import Hand
from doctor.fix.launch.improve import improve
from doctor.launch.command_text import hidden
from doctor.launch.table import load_table
from doctor.outside import Outside
from doctor.secrets import Vault

RULES = [rule for rule in load(Outside()).rules if rule.id.startswith(("launch/", "context/", "output/tools"))]
NUMBER = 10434
AGENT = replace(
    not_collected(Client, "x"),
    id="opencode",
    name="OpenCode",
    wire_api="openai-chat",
    base_url=Setting("baseURL", "http://127.0.0.1:8080/v1", "x", None),
)


class Fixed(NamedTuple):
    """What became of it: the changed texts by file name, the servers' arguments and records, what `improve` says; the bytes
    of the changed files, and the arguments as they are, keys and all."""

    texts: dict
    arguments: list
    launches: list
    improved: object
    data: dict
    words: list

    def reasons(self):
        return [step.why for step in self.improved.refused]


def put_right(folder, name, text, *, build=NUMBER, siblings=None, facts=None, rule=None):
    """The file (and those beside it), put right in memory."""
    for other, content in {name: text, **(siblings or {})}.items():
        path = folder / other
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    outside = Outside({"HOME": str(folder), "PATH": ""}, "linux")
    vault = Vault()
    seen = find(outside, vault, text=str(folder / name))
    here = replace(nothing_known("not looked at"), **(facts or {}))
    if build is not None:
        here = replace(here, build=build_record.from_number(outside, build, source="option"))
    bench = Bench(outside, vault, RULES, here, (seen, *seen.others), load_table(outside), build)
    hand = Hand(LaunchFiles(outside, str(folder / name), load_table(outside), inside=False), vault)
    improved = improve(hand, bench, rule)
    data = {path: hand.files.bytes_of(path, changed) for path, changed in hand.changed.items()}
    return Fixed(
        {path.rpartition("/")[2]: changed for path, changed in hand.changed.items()},
        [" ".join(hidden(item.command.words, vault)[item.command.first :]) for item in hand.now],
        [end.launch for end in improved.end],
        improved,
        {path.rpartition("/")[2]: content for path, content in data.items()},
        [[word.text for word in item.command.arguments] for item in hand.now],
    )


def wrong(launch):
    """What can be put right in a command, and was not."""
    return [problem for problem in known(launch.problems) or () if problem.fatal or problem.replacement is not None]


def changed_lines(before, after):
    """(old, new) lines that differ."""
    import difflib

    olds, news = before.splitlines(), after.splitlines()
    found = ([], [])
    for kind, start, end, first, last in difflib.SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
        if kind != "equal":
            found[0].extend(olds[start:end])
            found[1].extend(news[first:last])
    return found
