from doctor.report.bars import WIDTH, Bar, bar_rows, bars_of
from doctor.report.text import plain

GIB = 1 << 30
ROWS = [
    ("CUDA0", "weights", 14 * GIB, False),
    ("CUDA0", "kv", 4 * GIB, False),
    ("CUDA0", "overhead", GIB // 2, False),
    ("CUDA_Host", "compute", GIB // 4, False),
    ("CPU", "weights", GIB, False),
    ("CPU", "prompt-cache", 8 * GIB, True),
]


def test_one_bar_a_card_and_one_for_the_host():
    card, host = bars_of(ROWS, {"CUDA0": 24 * GIB}, 32 * GIB)
    assert (card.device, card.room, card.parts) == (
        "CUDA0",
        24 * GIB,
        {"weights": 14 * GIB, "kv": 4 * GIB, "overhead": GIB // 2},
    )
    assert (host.device, host.room, host.total) == ("RAM", 32 * GIB, GIB + GIB // 4)


def test_on_a_terminal_the_parts_are_as_long_as_they_are_large():
    bar = Bar("CUDA0", {"weights": 12 * GIB, "kv": 6 * GIB}, 24 * GIB)
    drawn, legend = bar_rows([bar], "en", drawn=True, unicode=True)
    pieces = dict(drawn.pieces)
    assert len(pieces["weights"]) == WIDTH // 2 and len(pieces["kv"]) == WIDTH // 4
    assert sum(len(text) for style, text in drawn.pieces if style in ("weights", "kv", "quiet")) == WIDTH
    assert "18.00 of 24.00 GiB" in drawn.pieces[-1][1]
    assert any("KV cache 6.00" in text for _, text in legend.pieces)


def test_more_than_there_is_fills_the_bar_and_is_marked():
    bar = Bar("CUDA0", {"weights": 30 * GIB}, 24 * GIB)
    drawn = next(iter(bar_rows([bar], "en", drawn=True, unicode=False)))
    assert dict(drawn.pieces)["weights"] == "#" * WIDTH
    assert drawn.pieces[-1][0] == "error"


def test_in_a_pipe_there_are_numbers_only():
    text = plain(bar_rows(bars_of(ROWS, {"CUDA0": None}, None), "zh", drawn=False, unicode=True))
    assert "CUDA0" in text and "权重 14.00" in text and "KV 缓存 4.00" in text and "█" not in text
