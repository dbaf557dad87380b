"""Writes rules/tables/options.json, model_builds.json, build_commits.txt and build_dates.tsv from facts read out of llama.cpp's sources.

    python tests/launch/write_tables.py FOLDER

FOLDER holds flags.json (spellings, values, defaults and variables by build), archs.json, pretokenizers.json,
ggml_types.json (what of a model file a build knows), commit_builds.tsv and build_dates.json.
Run it again when a newer FOLDER exists; what the sources do not say stands in rules/tables/option_fixes.toml.

Where a change is only known to lie between two builds, both sides are taken as accepting: a doubtful build raises no
alarm.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

TABLES = Path(__file__).resolve().parents[2] / "rules" / "tables"
STATUS = {"ok": "", "deprecated": "deprecated", "removed": "removed", "other_tools": "other"}
NAMED_NUMBERS = {"GGML_SCHED_PRIO_LOW": "-1", "GGML_SCHED_PRIO_REALTIME": "3"}  # ggml.h, enum ggml_sched_priority
COMPARISON = re.compile(r"(?:value|prio) (<|>|==|!=) (-?\d+)")


def main(folder: Path) -> None:
    """Write the four tables."""
    flags = json.loads((folder / "flags.json").read_text())
    (TABLES / "options.json").write_text(options_json(flags))
    (TABLES / "model_builds.json").write_text(model_builds_json(folder))
    dates = json.loads((folder / "build_dates.json").read_text())
    first = {low: day for day, (low, _) in sorted(dates["days"].items(), reverse=True)}
    first.update({int(build): day for build, day in dates["samples"].items()})
    (TABLES / "build_dates.tsv").write_text("".join(f"{build}\t{day}\n" for build, day in monotonic(first)))
    (TABLES / "build_commits.txt").write_text(commit_lines((folder / "commit_builds.tsv").read_text()))


def model_builds_json(folder: Path) -> str:
    """{"architectures": {name: [first, last]}, "pre_tokenizers": …, "tensor_types": …}, one name a line."""
    blocks: dict[str, dict[str, Any]] = {}
    for title, name in (("architectures", "archs.json"), ("pre_tokenizers", "pretokenizers.json")):
        blocks[title] = json.loads((folder / name).read_text())["items"]
    kinds = json.loads((folder / "ggml_types.json").read_text())["ggml_type"]
    blocks["tensor_types"] = {entry["name"].lower(): entry for entry in kinds.values()}
    parts = []
    for title, block in blocks.items():
        rows = ",\n".join(
            f"{json.dumps(name)}:[{entry['first']},{json.dumps(entry['last'])}]"
            for name, entry in sorted(block.items())
        )
        parts.append(f'"{title}": {{\n{rows}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


def monotonic(first: dict[int, str]) -> list[tuple[int, str]]:
    """(build, day) in build order, days never going back (commits can carry an older day than the one before)."""
    rows: list[tuple[int, str]] = []
    for build, day in sorted(first.items()):
        if not rows or day > rows[-1][1]:
            rows.append((build, day))
    return rows


def commit_lines(text: str) -> str:
    """Line N is the commit of build N (9 hex digits), "-" where it is not known."""
    commits = {int(build): commit for build, commit, *_ in (line.split("\t") for line in text.splitlines())}
    return "".join(f"{commits.get(build, '-'):<9}\n" for build in range(1, max(commits) + 1))


def options_json(flags: dict[str, Any]) -> str:
    """The table of options, one spelling, option or variable a line."""
    options = {name: option for name, option in flags["options"].items() if "server" in option}
    spellings = {name: spelling_row(name, entry, flags["options"]) for name, entry in flags["spellings"].items()}
    blocks = {
        "spellings": dict(sorted(spellings.items())),
        "options": {name: option_row(option) for name, option in sorted(options.items())},
        "variables": variable_rows(options),
    }
    meta = flags["meta"]
    lines = [f'{{"oldest": {meta["range"][0]}, "exact_through": {meta["exact_through"]}, "newest": {meta["range"][1]}']
    for title, block in blocks.items():
        rows = ",\n".join(f"{json.dumps(key)}:{json.dumps(row, separators=(',', ':'))}" for key, row in block.items())
        lines.append(f'"{title}": {{\n{rows}\n}}')
    return ",\n".join(lines) + "}\n"


def span(entry: dict[str, Any]) -> list[int | None]:
    """First and last build, widened to the doubtful ones."""
    return [entry.get("from_min", entry["from"]), entry.get("to_max", entry["to"])]


def spelling_row(name: str, entry: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """{"in": [[first, last, option, words taken, status, negated, message, [successors]] …], "now": [successors]}."""
    rows: list[list[Any]] = []
    for segment in entry["segments"]:
        option = segment["option"]
        negated = name != option and (segment.get("negated", False) or name in options[option].get("negated", ()))
        row = [*span(segment), option, segment["takes"], STATUS[segment["status"]], negated]
        row += [segment.get("message", ""), segment.get("use") or []]
        if rows and rows[-1][2:] == row[2:] and rows[-1][1] is not None and rows[-1][1] + 1 >= row[0]:
            rows[-1][1] = row[1]
        else:
            rows.append(row)
    for row in rows:
        while row[-1] in ("", [], False):
            row.pop()
    found: dict[str, Any] = {"in": rows}
    if entry.get("renamed_to"):
        found["now"] = entry["renamed_to"]
    return found


def option_row(option: dict[str, Any]) -> dict[str, Any]:
    """{"value": [[first, last, words taken, type, allowed, others too]], "default": …, "limits": …}."""
    values: list[list[Any]] = []
    for value in option["value"]:
        allowed = [word for word in value.get("allowed", ()) if word]
        row = [*span(value), value["takes"], value["type"], allowed, value.get("others_too", False)]
        if values and values[-1][2:] == row[2:]:
            values[-1][1] = row[1]
        else:
            values.append(row)
    for row in values:
        while row[-1] in ([], False):
            row.pop()
    found: dict[str, Any] = {"value": values}
    if option.get("default"):
        found["default"] = [[*span(item), item["value"]] for item in option["default"]]
    limits = [
        [*span(item), *limit]
        for item in option.get("rejects", ())
        for condition, message in item["rules"]
        if (limit := limit_of(condition, message)) is not None
    ]
    if limits:
        found["limits"] = limits
    return found


def limit_of(condition: str, message: str) -> list[Any] | None:
    """[lowest, highest, refused, only these, message] of a C++ condition that refuses a number; None if it is none."""
    for name, number in NAMED_NUMBERS.items():
        condition = condition.replace(name, number)
    tests = COMPARISON.findall(condition)
    if not tests or COMPARISON.sub("", condition).strip(" |&"):
        return None
    lowest = [int(number) for sign, number in tests if sign == "<"]
    highest = [int(number) for sign, number in tests if sign == ">"]
    refused = [int(number) for sign, number in tests if sign == "=="]
    only = [int(number) for sign, number in tests if sign == "!="]
    bounds = [lowest[0] if lowest else None, highest[0] if highest else None]
    return [*bounds, refused, only, message.removeprefix("error: ")]


def variable_rows(options: dict[str, Any]) -> dict[str, Any]:
    """Variable -> [[first, last, option, negated, counts by being there]]."""
    rows: dict[str, list[Any]] = {}
    for name, option in options.items():
        for variable in option.get("env", ()):
            negated = "_NO_" in variable["name"] and not name.startswith("--no-")
            row = [*span(variable), name, negated, variable.get("negated", False)]
            while row[-1] is False:
                row.pop()
            rows.setdefault(variable["name"], []).append(row)
    return dict(sorted(rows.items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
