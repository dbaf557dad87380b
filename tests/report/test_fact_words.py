"""Facts as evidence, in the words of users and with units."""

import pytest

from doctor.engine.finding import Evidence, NotChecked
from doctor.report.fact_names import FIELDS, VALUES
from doctor.report.fact_words import fact_name, fact_words, not_checked_rows, telling


@pytest.mark.parametrize(
    ("fact", "english", "chinese"),
    [
        ("launch.ctx_size = 131072", "launch, -c: 131072", "启动命令，-c：131072"),
        ("server.state = refused", "server, state: connection refused", "服务，状态：连接被拒绝"),
        ("gpu.hardware = False", "GPU, hardware: no", "显卡，硬件：否"),
        ("machine.ram_total_bytes = 17179869184", "machine, RAM: 16.0 GiB", "机器，内存：16.0 GiB"),
        ("budget.over_bytes = 104857600", "memory, too much by: 100.0 MiB", "内存预算，超出：100.0 MiB"),
        ("build.age_days = 400", "build, age: 400 days", "程序版本，距今：400 天"),
        ("watch.throttled_share = 0.25", "watch, time throttled: 25%", "观察，被限速的时间占比：25%"),
        ("timeline.pattern = step", "requests, how the speed goes: slower at once", "各次请求，速度变化：突然变慢"),
        (
            "timeline.step_cause = none",
            "requests, what the step comes from: nothing in the log",
            "各次请求，变慢的原因：日志里看不出",
        ),
        (
            "bench.regressed = prefill_per_second, deep_decode_per_second",
            "benchmark, worse than before: reading speed, generation speed deeper in",
            "测速，比之前差：读入速度、较深处的生成速度",
        ),
        (
            "launch.environment['CUDA_VISIBLE_DEVICES'] = -1",
            "launch, variable CUDA_VISIBLE_DEVICES: -1",
            "启动命令，环境变量 CUDA_VISIBLE_DEVICES：-1",
        ),
        ("log.timings[-1].prompt_tokens = 9", "log, prompt tokens (last): 9", "日志，提示词 token（最后一个）：9"),
        ("log.decode_speeds[0] = 37.51", "log, generation speeds (first): 37.51", "日志，生成速度（第一个）：37.51"),
        ("ladders[0].rungs[2].detail = no such path", "connection, answer: no such path", "连接，回应：没有这个路径"),
        ("ggml_cuda_init: found = 1 devices", "ggml_cuda_init: found = 1 devices", "ggml_cuda_init: found = 1 devices"),
        (
            "Codex → http://127.0.0.1:1/v1 — kind: ready; path: HTTP 404 to /v1: Not Found; http://x/v1 works",
            "Codex → http://127.0.0.1:1/v1 — program: ready; path: HTTP 404 to /v1: Not Found; http://x/v1 works",
            "Codex → http://127.0.0.1:1/v1 — 程序: 就绪; 路径: /v1 返回 HTTP 404：Not Found；http://x/v1 可用",
        ),
    ],
)
def test_words_and_units(fact, english, chinese):
    assert (fact_words(fact, "en"), fact_words(fact, "zh")) == (english, chinese)


def test_names_of_facts():
    assert fact_name("gguf", "en") == "model" and fact_name("launch.ctx_size", "zh") == "启动命令，-c"


def test_what_one_reason_is_about_is_one_row():
    items = [NotChecked("build.number", "no llama-server found"), NotChecked("build.age_days", "no llama-server found")]
    items += [NotChecked("server", "no result within 8 s"), NotChecked("gpu.devices", "no llama-server found")]
    assert not_checked_rows(items, "en") == [
        ("build, number, age, GPU, devices", "no llama-server found"),
        ("server", "no result within 8 s"),
    ]


def test_every_name_is_there_in_both_languages():
    assert all(english and chinese for english, chinese in (*FIELDS.values(), *VALUES.values()))


def test_an_item_of_a_list_that_is_shown_as_a_whole_is_not_told_again():
    whole, first, other = (
        Evidence(text, "facts", None) for text in ("log.speeds = 9, 4", "log.speeds[0] = 9", "log.turns[0] = 3")
    )
    assert telling((whole, first, other)) == [whole, other] and telling((first,)) == [first]
