"""A log that grows, is cut off, renamed, taken away: real files."""

import os

from doctor.facts.watch.log import PIECE, LogWatch
from doctor.outside import Outside


def turn(task, speed):
    return (
        f"slot print_timing: id  0 | task {task} | prompt eval time = 100.00 ms / 40 tokens ( 1.00 ms per token, 900.00 tokens per second)\n"
        f"slot print_timing: id  0 | task {task} |        eval time = 100.00 ms / 50 tokens ( 1.00 ms per token, {speed:.2f} tokens per second)\n"
    )


def append(path, text):
    with open(path, "a") as stream:
        stream.write(text)


def speeds(found):
    return [timing.decoded_per_second for timing in found[1]]


def test_only_what_is_new_counts(tmp_path):
    path = tmp_path / "server.log"
    path.write_text(turn(1, 50))
    watch = LogWatch(Outside(), str(path))
    assert watch.sample() == ("ok", (), ())
    append(path, turn(2, 41.5)[:-20])
    assert speeds(watch.sample()) == []  # half a line is none
    append(path, turn(2, 41.5)[-20:] + turn(3, 40))
    found = watch.sample()
    assert found[0] == "ok" and speeds(found) == [41.5, 40.0] and found[1][0].prompt_tokens == 40
    assert watch.sample() == ("ok", (), ())


def test_rotation_by_rename_and_by_truncation(tmp_path):
    path = tmp_path / "server.log"
    path.write_text("begin\n" * 50)
    watch = LogWatch(Outside(), str(path))
    watch.sample()
    os.rename(path, tmp_path / "server.log.1")
    assert watch.sample() == ("missing", (), ())
    path.write_text(turn(1, 30))
    assert speeds(watch.sample()) == [30.0]
    path.write_text("")
    assert watch.sample()[0] == "rotated"
    append(path, turn(2, 29))
    assert speeds(watch.sample()) == [29.0]
    os.rename(path, tmp_path / "server.log.2")
    path.write_text("another beginning, and longer than before\n" * 20 + turn(3, 28))  # at once, and larger
    found = watch.sample()
    assert found[0] == "rotated" and speeds(found) == [28.0]


def test_a_log_that_is_not_there_yet_is_read_from_its_beginning(tmp_path):
    path = tmp_path / "later.log"
    watch = LogWatch(Outside(), str(path))
    assert watch.sample() == ("missing", (), ())
    path.write_text(turn(1, 33))
    assert speeds(watch.sample()) == [33.0]


def test_a_flood_is_bounded(tmp_path):
    path = tmp_path / "server.log"
    path.write_text("")
    watch = LogWatch(Outside(), str(path))
    watch.sample()
    append(path, "x" * (3 * PIECE) + "\n" + "\x00\xff\x1b[31m eval time = \n" + turn(1, 20))
    found = [watch.sample() for _ in range(5)]
    assert [speed for each in found for speed in speeds(each)] == [20.0]
    append(path, "y" * (10 * PIECE) + "\n" + turn(2, 19))
    found = [watch.sample() for _ in range(3)]
    assert [speed for each in found for speed in speeds(each)] == [19.0]


def test_what_is_no_file(tmp_path):
    assert LogWatch(Outside(), str(tmp_path)).sample()[0] in ("invalid", "failed")


def test_requests_come_whole_when_they_have_ended(tmp_path):
    path = tmp_path / "server.log"
    path.write_text("")
    watch = LogWatch(Outside(), str(path))
    watch.sample()
    append(path, "slot launch_slot_: id  0 | task 7 | processing task, is_child = 0\n" + turn(7, 30))
    assert watch.sample().turns == ()
    append(path, "slot      release: id  0 | task 7 | stop processing: n_tokens = 90, truncated = 0\n")
    (found,) = watch.sample().turns
    assert (found.task, found.prompt_tokens, found.decoded_per_second, found.depth) == (7, 40, 30.0, 90)
    assert watch.sample().turns == ()
