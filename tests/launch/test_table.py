import time

import pytest

from doctor.launch.table import load_table
from doctor.outside import Outside


@pytest.fixture(scope="module")
def table():
    return load_table(Outside())


def test_loading_is_quick():
    used = []
    for _ in range(3):
        started = time.process_time()
        load_table(Outside())
        used.append(time.process_time() - started)
    assert min(used) < 0.03


def test_span_of_the_table(table):
    assert (table.oldest, table.exact_through, table.newest) == (583, 10587, 11434)


@pytest.mark.parametrize(
    ("spelling", "build", "takes"),
    [("-fa", 2770, None), ("-fa", 2771, 0), ("-fa", 6324, 0), ("-fa", 6325, 1), ("-fa", 11434, 1), ("-fa", 20000, 1),
     ("--n-gpu-layers", 3682, 1), ("--n-gpu-layers", 3683, None), ("--n-gpu-layers", 3704, 1), ("-lv", 1000, 0),
     ("-lv", 3761, 1), ("--lora-scaled", 7447, 2), ("--lora-scaled", 7448, 1), ("--config", 11434, None),
     ("--color", 11434, None)],
)  # fmt: skip
def test_words_an_option_takes(table, spelling, build, takes):
    segment = table.at(spelling, build)
    assert (segment.takes if segment else None) == takes


def test_a_doubtful_end_raises_no_alarm(table):
    # --no-mmap is in b10867 and gone in b10878; where in between is not known.
    assert [table.accepts("--no-mmap", build) for build in (10867, 10870, 10877, 10878)] == [True, True, True, False]


def test_defaults(table):
    assert [table.default("--ctx-size", build) for build in (3086, 3087, 4014, 7407)] == ["512", "0", "4096", "0"]
    assert [table.default("--parallel", build) for build in (7432, 7433)] == ["1", "-1"]


def test_variables(table):
    assert table.variable("LLAMA_ARG_NO_MMAP", 7000).by_presence is False
    assert table.variable("LLAMA_ARG_NO_MMAP", 8000).by_presence is True
    assert table.variable("LLAMA_ARG_NO_MMAP", 11434) is None
    assert table.variable_of("--load-mode", 11434, negated=False) == "LLAMA_ARG_LOAD_MODE"


def test_every_option_a_spelling_means_is_itself_a_spelling_or_was_one(table):
    for spelling in table.accepted(table.newest):
        option = table.at(spelling, table.newest).option
        assert table.life(option), spelling
        assert table.value(option, table.newest), spelling


def test_every_hand_written_remedy_works_on_some_build(table):
    from doctor.launch.unknown import judge

    builds = (6000, 8000, 9000, 10000, 10434, 11434)
    for (spelling, given), fix in table._option_fixes.items():
        if fix["use"]:
            verdicts = [
                judge(table, spelling, given or "8", build) for build in builds if not table.accepts(spelling, build)
            ]
            assert any(verdict and verdict.right for verdict in verdicts), spelling
