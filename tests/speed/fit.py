"""Prints the constants of rules/tables/speed.toml anew: `python -m tests.speed.fit`. Descends one constant at a time."""

import copy
import math

from doctor.speed.expected import decode
from tests.speed.published import TABLE, held_out, lanes_of, of_fit, reads_for

TUNED = {
    "card": ("weights", "kv_flash", "kv_plain", "block_us", "sparse_us", "recurrent_us"),
    "hbm": ("weights", "block_us", "sparse_us", "ceiling_6.0", "ceiling_7.0", "ceiling_8.0", "ceiling_9.0"),
    "host": ("weights", "crossing_us"),
}
LIMITS = {
    "weights": (0.5, 0.95),
    "kv_flash": (0.5, 1.0),
    "kv_plain": (0.1, 0.8),
    "block_us": (5, 150),
    "sparse_us": (0, 150),
    "recurrent_us": (0, 120),
    "crossing_us": (0, 800),
}


def error(table, rows):
    total = 0.0
    for row, found, lanes in rows:
        off = abs(math.log(row.tok_s / decode(found, lanes, table, row.depth).middle))
        total += min(off, 0.5) ** 1.5  # a far one does not rule
    return total


def fitted():
    rows = [(row, reads_for(row), lanes_of(row)) for row in of_fit()]
    table = copy.deepcopy(dict(TABLE))
    table["decode"] = {kind: dict(rates) for kind, rates in TABLE["decode"].items()}
    best = error(table, rows)
    step = 0.2
    while step > 0.004:
        better = False
        for kind, names in TUNED.items():
            for name in names:
                for factor in (1 + step, 1 / (1 + step)):
                    before = table["decode"][kind][name]
                    low, high = LIMITS.get(name, (50, 5000))
                    table["decode"][kind][name] = min(high, max(low, before * factor))
                    now = error(table, rows)
                    if now < best - 1e-9:
                        best, better = now, True
                    else:
                        table["decode"][kind][name] = before
        if not better:
            step /= 2
    return table


def ratios(table, rows):
    return [(row.tok_s / decode(reads_for(row), lanes_of(row), table, row.depth).middle, row) for row in rows]


if __name__ == "__main__":
    table = fitted()
    for kind, rates in table["decode"].items():
        print(kind, {name: round(value, 3) for name, value in rates.items()})
    for title, rows in (("fit", of_fit()), ("held out", held_out())):
        print(title)
        for ratio, row in sorted(ratios(table, rows), key=lambda pair: pair[0]):
            print(f"  {ratio:.2f} {row.tok_s:7.1f} {row.card or 'CPU':20} {row.model:26} {row.flags} d{row.depth}")
