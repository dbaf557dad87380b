"""Patterns in rows of speeds, with the noise that real rows have."""

import random

import pytest

from doctor.speed.trend import Point, slope_of, trend

DEPTHS = [1000, 5000, 9000, 15000, 22000, 30000, 41000, 55000]


def row(time_of, noise=0.05, seed=1):
    chance = random.Random(seed)
    return [Point(depth, time_of(at, depth) * chance.uniform(1 - noise, 1 + noise)) for at, depth in enumerate(DEPTHS)]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("kind", "time_of"),
    [
        ("steady", lambda at, depth: 20.0),
        ("decay", lambda at, depth: 20 + 0.4 * depth / 1000),
        ("decay", lambda at, depth: 14 + 2.5 * depth / 1000),
        ("step", lambda at, depth: 17.0 if at < 2 else 90.0),
        ("step", lambda at, depth: 17.0 if at < 5 else 34.0),
        ("slow-first", lambda at, depth: 120.0 if at == 0 else 20.0),
    ],
)
def test_a_row_is_told_whatever_the_noise(kind, time_of, seed):
    assert trend(row(time_of, seed=seed)).kind == kind


def test_a_step_knows_its_place():
    found = trend(row(lambda at, depth: 17.0 if at < 3 else 60.0))
    assert found.at == 3 and 16 < found.before < 18 and 57 < found.after < 63


def test_the_slope_does_not_follow_one_wild_point():
    points = row(lambda at, depth: 20 + 0.4 * depth / 1000, noise=0.0)
    points[3] = points[3]._replace(ms=500.0)
    assert slope_of(points) == pytest.approx(0.0004, rel=0.05)


def test_few_points_show_nothing():
    assert trend([Point(1000, 20), Point(2000, 90)]) is None
    assert slope_of([Point(1000, 20), Point(1100, 21), Point(1200, 90)]) is None
