"""Reasons and summaries in Chinese; what is not known stays as it is."""

import pytest

from doctor.report.spoken import spoken, summary


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("no model file is known: name it with --model FILE", "不知道模型文件：请用 --model FILE 指定"),
        ("no result within 5 s", "5 秒内没有结果"),
        ("the check crashed: ValueError: x", "这项检查自身出错：ValueError: x"),
        ("something nobody has translated", "something nobody has translated"),
    ],
)
def test_reason(text, chinese):
    assert spoken(text, "zh") == chinese
    assert spoken(text, "en") == text


def test_summary():
    text = "Debian, 2 cores, 23.5 GiB RAM (23.0 GiB free), in docker"
    assert summary(text, "zh") == "Debian, 2 核, 内存 23.5 GiB（空闲 23.0 GiB）, 在 docker 容器中"
    assert (
        summary("toolkit 13.0 in /usr/local/cuda-13.0, libcudart", "zh")
        == "工具包 13.0（/usr/local/cuda-13.0）, libcudart"
    )
    assert summary(text, "en") == text
