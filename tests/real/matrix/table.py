"""Makes docs/fault-matrix.md of the cells that were written down while the matrix ran.

DOCTOR_MATRIX=cells.jsonl python -m pytest tests/real/matrix
python -m tests.real.matrix.table cells.jsonl
"""

import json
import sys
from collections import Counter
from pathlib import Path

from tests.real.matrix.clients import CLIENTS
from tests.real.matrix.faults import FAULTS, HARMLESS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "fault-matrix.md"
NAMES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "opencode": "OpenCode",
    "qwen-code": "Qwen Code",
    "cline": "Cline CLI",
    "aider": "aider",
    "openai-sdk": "OpenAI SDK",
    "anthropic-sdk": "Anthropic SDK",
    "browser": "Web page",
}
HEAD = """# The fault matrix

Every fault stands in front of every client it can happen to: a real llama.cpp server, the client's own settings files in
an empty home, variables in the profile of its shell, the server's command in a script, and one thing broken. Then doctor
looks (`check`, `verify --client`; for answers that are spoilt on the way `verify --client --deep`, for pages
`verify --origin`, for what only a server's log tells `log`), and its first finding has to be the fault. Its first remedy
is carried out: by `doctor fix --yes` where it is an edit doctor can make, else as printed, by a small program that knows
nothing of the fault. After that the same request has to be answered. With the stand-ins what `doctor fix` did is then
taken back (`doctor fix --undo`: every file is as it was), and the remedy is carried out once more as printed.

**fix**: found first by every command that can see it, and cured by `doctor fix` · **yes**: the same, cured by the first remedy
as printed · **found**: found first, not cured · **no**: something else came first · · : the fault cannot happen to this
client. The sign behind it is the same cell with the real program (Chromium for the page): ◆ cured by `doctor fix`, ◇ cured as
printed, ✗ something was not as it should be. Where a fault only makes itself felt later (a window that is too large, a small
model that is not served), cured means that doctor no longer warns of it.

This page is written by `python -m tests.real.matrix.table` (see there how).
"""


def main():
    rows = [json.loads(line) for path in sys.argv[1:] for line in Path(path).read_text("utf-8").splitlines()]
    plain = {(row["fault"], row["client"]): row for row in rows if not row.get("program")}
    real = {(row["fault"], row["client"]): row for row in rows if row.get("program")}
    lines = [HEAD, *_counts(plain, real), ""]
    lines += ["| fault | first finding | " + " | ".join(NAMES.values()) + " |", "|---" * (len(NAMES) + 2) + "|"]
    for fault in FAULTS:
        found = [plain.get((fault.id, client)) or real.get((fault.id, client)) for client in fault.clients]
        rules = dict.fromkeys(row["first"] for row in found if row)
        cells = [
            _cell(plain.get((fault.id, client)), real.get((fault.id, client))) if client in fault.clients else "·"
            for client in NAMES
        ]
        shown = ", ".join(f"`{rule}`" for rule in rules if rule)
        lines.append(f"| {fault.id.replace('-', ' ')} | {shown} | " + " | ".join(cells) + " |")
    lines += ["", "## No fault, nothing warned", "", *_quiet(plain, real)]
    lines += ["", "## What the program's words alone tell", "", *_words(real), ""]
    PAGE.write_text("\n".join(lines), encoding="utf-8")


def _counts(plain, real):
    cells_of = {(fault.id, client) for fault in FAULTS for client in fault.clients}
    for name, cells in (("Stand-ins that send what the clients send", plain), ("Real programs", real)):
        mine = [row for cell, row in cells.items() if cell in cells_of]
        right = sum(row["right"] for row in mine)
        cured = Counter(row["by"] for row in mine if row["right"] and row["cured"])
        kinds = len({fault for fault, client in cells if (fault, client) in cells_of})
        yield (
            f"- {name}: {len(mine)} cells of {kinds} faults, {right} found first, {sum(cured.values())} of them cured, "
            f"{cured['fix']} by `doctor fix` and {cured['hand']} as printed."
        )


def _cell(row, real):
    if row is None and real is None:
        return "–"
    seen = row or real
    cured = "fix" if seen.get("by") == "fix" else "yes"
    word = (cured if seen["cured"] else "found") if seen["right"] else "no"
    if real is None:
        return word
    return word + (" ✗" if not (real["right"] and real["cured"]) else " ◆" if real["by"] == "fix" else " ◇")


def _quiet(plain, real):
    yield "By `check`, `verify` and `verify --deep`; ◆: the real program as well."
    yield ""
    for case in HARMLESS:
        wrong = [c for c in case.clients if not plain.get((case.id, c), {"right": False})["right"]]
        shown = [NAMES[c] + (" ◆" if _sound(real.get((case.id, c))) else "") for c in case.clients]
        left = f" — warned of: {', '.join(wrong)}" if wrong else ""
        yield f"- {case.id.replace('-', ' ')}: {', '.join(shown)}{left}"


def _sound(row):
    return row is not None and row["right"] and row["cured"]


def _words(real):
    """How often `doctor log` finds the cause in the words alone, and what else it takes them for."""
    allowed = {(fault.id, client): fault.causes for fault in FAULTS for client in fault.clients}
    failed = [row for cell, row in real.items() if cell in allowed and row["failed"]]
    yield "What `doctor log` says first when it is given nothing but what a program printed in 25 seconds. A 404 has many"
    yield "causes, and so has silence: `verify --client` is what tells them apart."
    yield ""
    yield "| client | failed runs | the cause is named | another is | nothing was printed or known |"
    yield "|---|---|---|---|---|"
    for client, name in NAMES.items():
        mine = [row for row in failed if row["client"] == client]
        if mine:
            counts = Counter(_kind(row, allowed) for row in mine)
            yield f"| {name} | {len(mine)} | {counts['right']} | {counts['other']} | {counts['nothing']} |"
    yield ""
    yield "Taken for another:"
    yield ""
    others: dict[tuple[str, str], list[str]] = {}
    for row in failed:
        if _kind(row, allowed) == "other":
            others.setdefault((row["fault"].replace("-", " "), row["log"]), []).append(NAMES[row["client"]])
    for (fault, log), clients in sorted(others.items()):
        yield f"- {fault}: {log} ({', '.join(clients)})"


def _kind(row, allowed):
    if row["log"] == "nothing":
        return "nothing"
    return "right" if row["log"] in allowed[row["fault"], row["client"]] else "other"


assert set(NAMES) == set(CLIENTS)
if __name__ == "__main__":
    main()
