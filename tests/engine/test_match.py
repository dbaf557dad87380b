"""What a pattern's named groups hold: numbers as numbers, anything else as it stands."""

import pytest

from doctor.engine.match import _number


@pytest.mark.parametrize(
    ("text", "value"),
    [("8192", 8192), ("-1", -1), ("8.5", 8.5), (None, None), ("b11434", "b11434"), ("1" * 40, "1" * 40)]
    + [(word, word) for word in ("nan", "inf", "infinity", "1_000", "1e400", "0x10", "")],
)
def test_captured_texts(text, value):
    assert _number(text) == value and type(_number(text)) is type(value)
