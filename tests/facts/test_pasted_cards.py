"""Cards out of what nvidia-smi printed."""

from doctor.facts.pasted_cards import cards_of
from doctor.facts.record import Unknown

TABLE = """\
index, name, pcie.link.width.current, pcie.link.width.max, memory.used [MiB], power.draw [W], power.limit [W], clocks.sm [MHz]
0, NVIDIA GeForce RTX 3090, 16, 16, 22034 MiB, 348.12 W, 350.00 W, 1695 MHz
1, NVIDIA GeForce RTX 3090, 1, 16, 21500 MiB, [N/A], 350.00 W, 1710 MHz

and that is all
"""
LINKS = """\
    PCI
        GPU Link Info
            PCIe Generation
                Max                       : 4
                Current                   : 1
            Link Width
                Max                       : 16x
                Current                   : 4x
"""


def test_a_table_has_a_card_a_line():
    first, second = cards_of(TABLE).devices
    assert (first.index, first.name, first.pcie_width, first.pcie_width_max) == (0, "NVIDIA GeForce RTX 3090", 16, 16)
    assert first.memory_used_bytes == 22034 << 20 and first.power_watts == 348.12 and first.clock_sm_mhz == 1695
    assert second.pcie_width == 1 and isinstance(second.power_watts, Unknown)
    assert isinstance(first.temperature_c, Unknown)


def test_without_a_column_of_numbers_cards_are_counted():
    text = "name, pcie.link.width.current, pcie.link.width.max\nA, 8, 16\nB, 4, 16\n"
    assert [card.index for card in cards_of(text).devices] == [0, 1]


def test_links_of_the_long_form():
    (card,) = cards_of(LINKS).devices
    assert (card.pcie_width, card.pcie_width_max) == (4, 16)


def test_no_card_in_other_text():
    for text in ("", "a, b, c\n1, 2, 3", "index, name\n0, x", "temperature.gpu, name\nhot, x\n"):
        assert isinstance(cards_of(text), Unknown)
