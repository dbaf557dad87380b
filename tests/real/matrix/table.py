"""Makes docs/fault-matrix.md of the cells that were written down while the matrix ran.

DOCTOR_MATRIX=cells.jsonl python -m pytest tests/real/matrix
python -m tests.real.matrix.table cells.jsonl
"""

import json
import sys
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
}
HEAD = """# The fault matrix

Every fault stands in front of every client it can happen to: a real llama.cpp server, the client's own settings files in
an empty home, and one thing broken. Then doctor looks (`check`, `verify --client`, for answers that are spoilt on the way
`verify --client --deep`), its first finding has to be the fault, and its first remedy is done as printed by a small program
that knows nothing of the fault. After that the same request has to be answered.

**fix**: found first by every command that can see it, and cured by `doctor fix` · **yes**: the same, cured by the first remedy
as printed · **found**: found first, not cured by the first remedy
· **no**: something else came first · · : the fault cannot happen to this client. ◆: done with the real program as well, ◇:
with the real program something was not as it should be. Where a fault only makes itself felt later (a window that is too
large, a small model that is not served), cured means that doctor no longer warns of it.

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
    lines += ["", "## No fault, nothing warned", "", *_quiet(plain)]
    lines += ["", "## What the program's words alone tell", "", *_words(real), ""]
    PAGE.write_text("\n".join(lines), encoding="utf-8")


def _counts(plain, real):
    cells_of = {(fault.id, client) for fault in FAULTS for client in fault.clients}
    for name, cells in (("Stand-ins that send what the clients send", plain), ("Real programs", real)):
        mine = [row for cell, row in cells.items() if cell in cells_of]
        right = sum(row["right"] for row in mine)
        both = sum(row["right"] and row["cured"] for row in mine)
        kinds = len({fault for fault, client in cells if (fault, client) in cells_of})
        yield f"- {name}: {len(mine)} cells of {kinds} faults, {right} found first, {both} of them cured."


def _cell(row, real):
    if row is None and real is None:
        return "·"
    seen = row or real
    cured = "fix" if seen.get("by") == "fix" else "yes"
    word = (cured if seen["cured"] else "found") if seen["right"] else "no"
    mark = "" if real is None else " ◆" if real["right"] and real["cured"] and real["failed"] is not None else " ◇"
    return word + mark


def _quiet(plain):
    for case in HARMLESS:
        wrong = [c for c in case.clients if not plain.get((case.id, c), {"right": False})["right"]]
        of = ", ".join(NAMES[client] for client in case.clients)
        yield f"- {case.id.replace('-', ' ')}: {of}" + (f" — warned of: {', '.join(wrong)}" if wrong else "")


def _words(real):
    yield "What `doctor log` says first when it is given nothing but what the program printed in 25 seconds."
    yield ""
    yield "| fault | client | cause | `doctor log` |"
    yield "|---|---|---|---|"
    allowed = {(fault.id, client): fault.causes for fault in FAULTS for client in fault.clients}
    for (fault, client), row in sorted((cell, row) for cell, row in real.items() if cell in allowed):
        cause = next(iter(row["cause"].values()))
        yield f"| {fault.replace('-', ' ')} | {NAMES[client]} | {cause} | {row['log']} |"


assert set(NAMES) == set(CLIENTS)
if __name__ == "__main__":
    main()
