"""The matrix with stand-ins: real servers, settings files as the clients read them, requests as they send them."""

import pytest

from tests.real.matrix.applier import NotApplied, apply
from tests.real.matrix.cell import Cell
from tests.real.matrix.clients import NoRequest
from tests.real.matrix.faults import FAULTS, HARMLESS, VERIFY
from tests.real.matrix.request import Failed, ask

pytestmark = [pytest.mark.real, pytest.mark.matrix]

CELLS = [(fault, client) for fault in FAULTS for client in fault.clients]
QUIET = [(fault, client) for fault in HARMLESS for client in fault.clients]


def named(cells):
    return [f"{fault.id}-{client}" for fault, client in cells]


def works(setup, full):
    try:
        return bool(ask(setup, full)), ""
    except (Failed, NoRequest) as error:
        return False, str(error)


@pytest.mark.parametrize(("fault", "client"), CELLS, ids=named(CELLS))
def test_found_first_and_cured(fault, client, home, pool, matrix_models, capsys, table):
    with Cell(fault, client, home, pool, matrix_models, capsys) as cell:
        setup = cell.setup
        works_before, said = works(setup, fault.full)
        assert works_before is not fault.fails, said
        found = {command: cell.look(command) for command in fault.seen}
        firsts = {command: findings[0] if findings else None for command, findings in found.items()}
        causes = {command: first["cause"] if first else "nothing" for command, first in firsts.items()}
        right = all(cause in fault.causes for cause in causes.values())
        first = firsts[fault.seen[0]]
        remedy = first["remedies"][0] if first and first["remedies"] else {"text": "", "command": ""}
        rule = first["rule"] if first else ""
        cured, why = False, ""
        by = "fix" if cell.fix(rule) else "hand"
        try:
            if by == "hand":
                apply(remedy, setup)
                cell.after_remedy()
                cell.wait()
            cured, why = works(setup, fault.full)
            if cured and not fault.fails:
                again = cell.look(fault.seen[0])
                cured, why = all(f["cause"] not in fault.causes for f in again), "still warned of"
        except NotApplied as error:
            why = f"not done: {error}"
        table(
            fault=fault.id,
            client=client,
            first=rule,
            cause=causes,
            right=right,
            cured=cured,
            why=why,
            by=by,
            remedy=remedy,
        )
        assert right, (causes, [f["rule"] for f in found[fault.seen[0]]], said)
        assert cured, (first["rule"], remedy, why)


@pytest.mark.parametrize(("case", "client"), QUIET, ids=named(QUIET))
def test_nothing_is_warned_of(case, client, home, pool, matrix_models, capsys, table):
    with Cell(case, client, home, pool, matrix_models, capsys) as cell:
        assert works(cell.setup, False) == (True, "")
        for command in ("check", VERIFY):
            left = [(f["rule"], f["severity"]) for f in cell.look(command) if f["severity"] != "note"]
            table(
                fault=case.id,
                client=client,
                first=left[0][0] if left else "",
                cause={command: ""},
                right=not left,
                cured=True,
            )
            assert left == [], command
