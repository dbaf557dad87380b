"""Which lines speak of trouble when no rule knows them."""

import pytest

from doctor.logs.trouble import MOST_LINES, trouble_lines


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: something broke",
        "E srv    load_model: failed to do it",
        "HTTP/1.1 502 Bad Gateway",
        '{"status": 404}',
        "POST /v1/x status=500",
        "mmproj embedding mismatch (3584 and 5120)!",
        "服务启动失败",
    ],
)
def test_speaks_of_trouble(line):
    assert trouble_lines(f"all is well\n{line}\n") == ((2, line),)


@pytest.mark.parametrize(
    "line",
    [
        "0.09.922.938 I srv          init: preserve_reasoning kwarg: not supported by template",
        '{"level":"info","msg":"failed over to the second cache"}',
        "2026-01-01 INFO retry after error",
        "requests: 12, errors: 0",
        "KV cache shifting is not supported for this context, disabling KV cache shifting",
        "prompt eval time =   18885.51 ms /   523 tokens",
        "OLLAMA_LOAD_TIMEOUT=5m0s",
        "",
    ],
)
def test_speaks_of_no_trouble(line):
    assert trouble_lines(line) == ()


def test_the_first_ones_and_the_last_one_are_kept():
    found = trouble_lines("\n".join(f"error {number}" for number in range(1, 101)))
    assert len(found) == MOST_LINES
    assert found[0] == (1, "error 1") and found[-1] == (100, "error 100")
