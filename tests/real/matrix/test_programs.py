"""The matrix with the real programs, where they are installed: what they say, what doctor says, and that the cure cures.

They are run where nothing but loopback can be reached, with an address in a network that is this machine's own and the
name that Docker gives to the host of a container, and with the folders that hold the programs in DOCTOR_CLIENTS:

    npm install --prefix clients @anthropic-ai/claude-code @openai/codex opencode-ai @qwen-code/qwen-code cline
    python3 -m venv clients/python && clients/python/bin/pip install openai anthropic aider-chat   # aider: Python 3.10-3.12
    export DOCTOR_CLIENTS=$PWD/clients/node_modules/.bin:$PWD/clients/python/bin
    export DOCTOR_CLIENTS_PYTHON=$PWD/clients/python/bin/python
    sh tests/real/matrix/alone.sh python -m pytest tests/real/matrix/test_programs.py
"""

import pytest

from tests.real.matrix import world
from tests.real.matrix.cell import Cell
from tests.real.matrix.clients import PROMPT
from tests.real.matrix.faults import CHECK, DEEP, FAULTS, HARMLESS, ORIGIN, VERIFY
from tests.real.matrix.run import only_loopback, run

pytestmark = [pytest.mark.real, pytest.mark.matrix]
CELLS = [(fault, client) for fault in FAULTS for client in fault.clients]
QUIET = [(fault, client) for fault in HARMLESS for client in fault.clients if fault.id in ("nothing", "with-a-key")]
INTERACTIVE = ("key-once-refused",)
"""Faults that only stop a session with a screen: one-shot runs do not ask and work."""
BEFORE = 25
"""Seconds a program has to fail in."""


def named(cells):
    return [f"{fault.id}-{client}" for fault, client in cells]


@pytest.fixture(autouse=True)
def kept_in():
    if not only_loopback():
        pytest.skip("clients are only run where nothing but loopback can be reached: unshare -rn (see the docstring)")


def installed(cell):
    if not cell.setup.client.command():
        pytest.skip(f"{cell.setup.client.id} is not installed: put its folder into DOCTOR_CLIENTS")


def works(setup, fault, limit=60):
    """(whether it works, what it said)"""
    said = []

    def ask(setup, question=PROMPT):
        ran = run(setup, limit, question)
        said.append(ran)
        return ran.said

    if fault.harm:
        harm = fault.harm(setup, ask)
        return not harm and said[-1].works, f"{harm}\n{said[-1].said}"
    return run(setup, limit)


@pytest.mark.parametrize(("fault", "client"), CELLS, ids=named(CELLS))
def test_the_program_is_cured(fault, client, home, pool, matrix_models, capsys, table, tmp_path):
    if not all(map(world.leads_there, fault.names)):
        pytest.skip(f"{fault.names} lead nowhere here: alone.sh gives them an address")
    with Cell(fault, client, home, pool, matrix_models, capsys) as cell:
        installed(cell)
        works_before, said = works(cell.setup, fault, BEFORE)
        (tmp_path / "said").write_text(said)
        logged = cell.doctor("log", str(tmp_path / "said"))["findings"]
        found = {command: cell.look(command) for command in fault.seen}
        causes = {command: findings[0]["cause"] if findings else "nothing" for command, findings in found.items()}
        right = all(cause in fault.causes for cause in causes.values())
        first = next(iter(found[fault.seen[0]]), None)
        by, why = cell.cure(first)
        cured = not why
        if cured:
            cured, why = works(cell.setup, fault)
        rule, remedy = (first["rule"], first["remedies"][:1]) if first else ("", [])
        row = {"fault": fault.id, "client": client, "program": True, "first": rule, "cause": causes, "right": right}
        words = next((finding["cause"] for finding in logged if finding["severity"] != "note"), "nothing")
        more = {
            "failed": not works_before,
            "cured": cured,
            "by": by,
            "log": words,
            "said": said[-600:],
            "why": why[-300:],
        }
        table(**row, **more, remedy=remedy)
        bad = (fault.fails or fault.harm) and fault.id not in INTERACTIVE
        assert works_before is not bool(bad), said
        assert right, (causes, said)
        assert cured, (rule, by, remedy, why)


@pytest.mark.parametrize(("case", "client"), QUIET, ids=named(QUIET))
def test_the_program_works_and_nothing_is_warned_of(case, client, home, pool, matrix_models, capsys, table):
    with Cell(case, client, home, pool, matrix_models, capsys) as cell:
        installed(cell)
        ran = run(cell.setup)
        commands = (ORIGIN,) if client == "browser" else (CHECK, VERIFY, DEEP)
        left = [f["rule"] for command in commands for f in cell.look(command) if f["severity"] != "note"]
        row = {"fault": case.id, "client": client, "program": True, "first": left[0] if left else "", "cause": {"": ""}}
        table(**row, right=not left, cured=ran.works, failed=False, log="", said=ran.said[-300:])
        assert ran.works, ran.said
        assert left == []
