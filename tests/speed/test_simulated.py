"""What slows a server is named from its log alone: logs whose cause is known, the same in fixtures/logs/speed."""

import json
from pathlib import Path

import pytest

from doctor.cli import main
from tests.speed.simulated import LOGS

FOLDER = Path(__file__).parents[2] / "fixtures" / "logs" / "speed"


def told(capsys, path, *more):
    main(["log", str(path), "--format", "json", *more])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", LOGS)
def test_the_cause_comes_first(capsys, name):
    text, facts, rule = LOGS[name]
    path = FOLDER / f"{name}.log"
    assert path.read_text(encoding="utf-8") == text, "write it anew: python -m tests.speed.test_simulated"
    answer = told(capsys, path)
    timeline = answer["facts"]["timeline"]
    for key, expected in facts.items():
        assert timeline[key] == expected, timeline
    findings = answer["findings"]
    if rule:
        assert findings and findings[0]["rule"] == rule, [found["rule"] for found in findings]
        assert "{" not in findings[0]["title"]
    else:
        assert not [found for found in findings if found["severity"] != "note"]


def test_both_languages_have_numbers(capsys):
    for lang in ("en", "zh"):
        found = told(capsys, FOLDER / "decay_steep.log", "--lang", lang)["findings"][0]
        assert "0.1" in found["why"] and "1.4" in found["why"]  # ms of the cache, ms that are seen


def test_prefill_and_generation_are_kept_apart(capsys):
    timeline = told(capsys, FOLDER / "steady.log")["facts"]["timeline"]
    assert timeline["prompt_per_second"] == 900.0 and timeline["best_per_second"] == 41.0
    assert timeline["turns"][0]["prompt_per_second"] == 900.0 and timeline["turns"][0]["decoded_per_second"] == 41.0


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, (text, _, _) in LOGS.items():
        (FOLDER / f"{name}.log").write_text(text, encoding="utf-8")
