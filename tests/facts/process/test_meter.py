"""Counters of real control groups of both versions."""

import pytest

from doctor.facts.process.cgroup import read_limits
from doctor.facts.process.meter import Counters, GroupMeter
from doctor.facts.record import Unknown
from tests.facts.process.recorded import V1, V2
from tests.facts.tree import Tree


def without(files, *ends):
    return {path: text for path, text in files.items() if not path.endswith(ends)}


def test_version_2(tmp_path):
    found = GroupMeter(Tree(tmp_path, V2), 4242).read()
    assert found == Counters(10, 9, 0.45, 1966652, 47.170465, 1.0)


def test_version_1_and_the_pressure_of_the_computer(tmp_path):
    found = GroupMeter(Tree(tmp_path, V1), 4242).read()
    assert found == Counters(142, 130, pytest.approx(5.126465), 2226167, 37.100539, 111.580883)


def test_the_limits_are_those_of_the_server_and_not_of_who_looks(tmp_path):
    for number, files in enumerate((V1, V2)):
        outside = Tree(tmp_path / str(number), files)
        mine, servers = read_limits(outside), read_limits(outside, 4242)
        assert (mine.memory_limit, mine.cpus) == (None, None)
        assert servers.cpus == 0.5 and servers.memory_limit in (553619456, 536870912)
        assert 0 < servers.memory_used < servers.memory_limit


def test_a_quota_of_a_group_above_is_the_one_that_counts(tmp_path):
    above = "/sys/fs/cgroup/system.slice"
    files = {
        **without(V2, "llama.service/cpu.max"),
        f"{above}/cpu.max": "200000 100000\n",
        f"{above}/cpu.stat": "usage_usec 9\nnr_periods 40\nnr_throttled 8\nthrottled_usec 100000\n",
        f"{above}/llama.service/cpu.max": "max 100000\n",
    }
    found = GroupMeter(Tree(tmp_path, files), 4242).read()
    assert (found.periods, found.throttled, found.held_seconds) == (40, 8, 0.1)


def test_without_a_quota_nothing_is_throttled(tmp_path):
    found = GroupMeter(Tree(tmp_path, without(V2, "llama.service/cpu.max")), 4242).read()
    assert found.periods is None and found.throttled is None and found.refaults == 1966652


def test_where_the_group_does_not_count_the_computer_does(tmp_path):
    files = {**without(V2, "memory.stat", ".pressure"), "/proc/vmstat": "nr_free_pages 5\nworkingset_refault_file 77\n"}
    found = GroupMeter(Tree(tmp_path, files), 4242).read()
    assert (found.refaults, found.memory_seconds, found.disk_seconds) == (77, None, None)


@pytest.mark.parametrize("text", ["", "nr_periods", "nr_periods x\nnr_throttled -1", "\x00\xff", "1 " * 40_000])
def test_files_that_say_something_else(tmp_path, text):
    place = "/sys/fs/cgroup/system.slice/llama.service"
    files = {**V2, f"{place}/cpu.stat": text, f"{place}/memory.stat": text, f"{place}/io.pressure": f"some {text}"}
    found = GroupMeter(Tree(tmp_path, files), 4242).read()
    assert found.periods is None and found.refaults is None and found.disk_seconds is None


def test_a_process_that_is_gone(tmp_path):
    outside = Tree(tmp_path, without(V2, "4242/cgroup"))
    assert GroupMeter(outside, 4242).read() == Counters()
    assert isinstance(read_limits(outside, 4242).cpus, Unknown)
