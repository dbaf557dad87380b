"""The matrix with stand-ins: real servers, settings files as the clients read them, requests as they send them."""

import pytest

from tests.real.matrix.cell import Cell
from tests.real.matrix.clients import NoRequest
from tests.real.matrix.faults import CHECK, DEEP, FAULTS, HARMLESS, ORIGIN, VERIFY
from tests.real.matrix.request import Failed, ask

pytestmark = [pytest.mark.real, pytest.mark.matrix]

CELLS = [(fault, client) for fault in FAULTS for client in fault.clients]
QUIET = [(fault, client) for fault in HARMLESS for client in fault.clients]


def named(cells):
    return [f"{fault.id}-{client}" for fault, client in cells]


def works(setup, fault):
    """(whether it works, what it said otherwise)"""
    try:
        harm = fault.harm(setup, ask) if fault.harm else ask(setup, fault.full) and ""
    except (Failed, NoRequest) as error:
        return False, str(error)
    return not harm, harm


def warned(cell, fault):
    """Whether doctor still tells of a fault that keeps nothing from working."""
    return any(found["cause"] in fault.causes for found in cell.look(fault.seen[0]))


@pytest.mark.parametrize(("fault", "client"), CELLS, ids=named(CELLS))
def test_found_first_and_cured(fault, client, home, pool, matrix_models, capsys, table):
    with Cell(fault, client, home, pool, matrix_models, capsys) as cell:
        setup = cell.setup
        works_before, said = works(setup, fault)
        found = {command: cell.look(command) for command in fault.seen}
        firsts = {command: findings[0] if findings else None for command, findings in found.items()}
        causes = {command: first["cause"] if first else "nothing" for command, first in firsts.items()}
        right = all(cause in fault.causes for cause in causes.values())
        first = firsts[fault.seen[0]]
        broken = setup.state()
        by, why = cell.cure(first)
        cured = not why
        if cured:
            cured, why = works(setup, fault)
        if cured and not (fault.fails or fault.harm):
            cured, why = not warned(cell, fault), "still warned of"
        row = {"fault": fault.id, "client": client, "first": first["rule"] if first else "", "cause": causes}
        table(**row, right=right, cured=cured, why=why, by=by, remedy=first["remedies"][:1] if first else [])
        assert works_before is not (fault.fails or bool(fault.harm)), said
        assert right, (causes, [f["rule"] for f in found[fault.seen[0]]], said)
        assert cured, (first["rule"], first["remedies"][:1], why)
        if by == "fix":
            assert cell.undo() == "undone"
            assert setup.state() == broken
            why = cell.by_hand(first["remedies"][0])
            assert not why, why
            assert works(setup, fault) == (True, ""), first["remedies"][0]


@pytest.mark.parametrize(("case", "client"), QUIET, ids=named(QUIET))
def test_nothing_is_warned_of(case, client, home, pool, matrix_models, capsys, table):
    with Cell(case, client, home, pool, matrix_models, capsys) as cell:
        assert works(cell.setup, case) == (True, "")
        for command in (ORIGIN,) if client == "browser" else (CHECK, VERIFY, DEEP):
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
