"""The matrix with the real programs, where they are installed: what they say, what doctor says, and that the cure cures.

Run them where nothing but loopback can be reached, with the folders that hold the programs in DOCTOR_CLIENTS:

    unshare -rn sh -c 'ip link set lo up; exec python -m pytest tests/real/matrix/test_programs.py'
"""

import pytest

from tests.real.matrix.applier import NotApplied, apply
from tests.real.matrix.cell import Cell
from tests.real.matrix.faults import FAULTS, HARMLESS
from tests.real.matrix.run import only_loopback, run

pytestmark = [pytest.mark.real, pytest.mark.matrix]
CELLS = [(fault, client) for fault in FAULTS for client in fault.clients]
QUIET = [(fault, client) for fault in HARMLESS for client in fault.clients if fault.id in ("nothing", "with-a-key")]
INTERACTIVE = ("key-once-refused",)
"""Faults that only stop a session with a screen: one-shot runs do not ask and work."""


def named(cells):
    return [f"{fault.id}-{client}" for fault, client in cells]


@pytest.fixture(autouse=True)
def kept_in():
    if not only_loopback():
        pytest.skip("clients are only run where nothing but loopback can be reached: unshare -rn (see the docstring)")


def installed(cell):
    if not cell.setup.client.command():
        pytest.skip(f"{cell.setup.client.id} is not installed: put its folder into DOCTOR_CLIENTS")


@pytest.mark.parametrize(("fault", "client"), CELLS, ids=named(CELLS))
def test_the_program_is_cured(fault, client, home, pool, matrix_models, capsys, table, tmp_path):
    with Cell(fault, client, home, pool, matrix_models, capsys) as cell:
        installed(cell)
        setup = cell.setup
        before = run(setup, 25)
        (tmp_path / "said").write_text(before.said)
        logged = cell.doctor("log", str(tmp_path / "said"))["findings"]
        causes, right, rule, remedy = {}, True, "", {"text": "", "command": ""}
        for number, command in enumerate(fault.seen):
            findings = cell.look(command)
            causes[command] = findings[0]["cause"] if findings else "nothing"
            right = right and causes[command] in fault.causes
            if number == 0 and findings:
                rule, remedy = findings[0]["rule"], (findings[0]["remedies"] or [remedy])[0]
        cured, why = False, ""
        try:
            apply(remedy, setup)
            cell.after_remedy()
            cell.wait()
            after = run(setup)
            cured, why = after.works, after.said[-300:]
        except NotApplied as error:
            why = f"not done: {error}"
        said = logged[0]["cause"] if logged else "nothing"
        row = {"fault": fault.id, "client": client, "program": True, "first": rule, "cause": causes, "right": right}
        table(**row, failed=not before.works, cured=cured, log=said, said=before.said[-600:], why=why, remedy=remedy)
        assert before.works is not (fault.fails and fault.id not in INTERACTIVE), before.said
        assert right, (causes, before.said)
        assert cured, (rule, remedy, why)


@pytest.mark.parametrize(("case", "client"), QUIET, ids=named(QUIET))
def test_the_program_works_and_nothing_is_warned_of(case, client, home, pool, matrix_models, capsys):
    with Cell(case, client, home, pool, matrix_models, capsys) as cell:
        installed(cell)
        ran = run(cell.setup)
        assert ran.works, ran.said
        left = [f["rule"] for command in ("check", "verify") for f in cell.look(command) if f["severity"] != "note"]
        assert left == []
