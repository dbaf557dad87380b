"""How far a header is thought to reach, seen from its beginning."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.gguf.outlook import look_ahead
from tests.gguf.headers import INDEX, header_of

NAMES = sorted(INDEX)


@pytest.mark.parametrize("name", NAMES)
def test_from_half_of_a_header_its_end_is_told(name):
    header, size = header_of(name), INDEX[name]["file_bytes"]
    seen = look_ahead(header[: len(header) // 2], size)
    assert not seen.done
    assert len(header) * 0.95 < seen.likely <= seen.most < len(header) * 1.2


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_header_is_done(name):
    header, size = header_of(name), INDEX[name]["file_bytes"]
    assert look_ahead(header, size).done
    assert look_ahead(header + bytes(50), size).done


def test_every_beginning_leads_to_the_end():
    header, size = header_of("phi-4-q4_k_m"), 1 << 34
    for length in range(0, len(header) - 32, 97):
        seen = look_ahead(header[:length], size)
        assert not seen.done and length < seen.likely <= seen.most <= size


def test_a_file_that_is_all_there_has_no_more_to_give():
    header = header_of("phi-4-q4_k_m")[:9000]
    assert look_ahead(header, 9000).done


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(NAMES),
    st.lists(st.tuples(st.integers(0, 3000), st.binary(min_size=1, max_size=9)), max_size=4),
    st.integers(0, 6000),
    st.sampled_from([6000, 1 << 20, 1 << 40, 1 << 62]),
)
def test_damaged_headers_end_somewhere(name, damages, length, size):
    data = bytearray(header_of(name)[:length])
    for place, piece in damages:
        data[place : place + len(piece)] = piece[: max(0, len(data) - place)]
    seen = look_ahead(bytes(data), size)
    assert seen.done or len(data) < seen.likely <= seen.most <= max(size, len(data) + 1)
