"""Which rules fire, in what order, and what folds under what."""

from dataclasses import replace

import pytest

from doctor.engine.diagnose import diagnose
from doctor.engine.match import Matcher
from doctor.engine.reader import RuleError
from doctor.engine.rules import in_builds, rule_from_toml
from doctor.facts.build.record import Build
from doctor.facts.clients.record import Client, Setting
from doctor.facts.facts import nothing_known
from doctor.facts.launch.record import Launch, LaunchOption
from doctor.facts.record import not_collected
from doctor.logs.lines import Line
from doctor.logs.paste import Paste

NOTHING = nothing_known("not looked")


def rule(rule_id, **data):
    base = {
        "cause": "c-" + rule_id.split("/")[1],
        "severity": "error",
        "title": {"en": rule_id, "zh": rule_id},
        "why": {"en": "why", "zh": "why"},
        "remedy": [{"en": "do", "zh": "做"}],
    }
    return rule_from_toml(rule_id, {**base, **data})


def run(rules, text="", facts=NOTHING, **options):
    lines = [Line(number, line, "log") for number, line in enumerate(text.splitlines(), 1)]
    return diagnose(rules, facts, Matcher(rules).scan(lines), **options)


def run_paste(rules, text):
    paste = Paste(text.encode()[at : at + 4096] for at in range(0, len(text), 4096))
    return diagnose(rules, NOTHING, Matcher(rules).sift(paste)).findings


def test_evidence_has_line_and_source():
    found = run(
        [
            rule(
                "a/x", symptom=[{"pattern": "boom (?P<size>\\d+)"}], why={"en": "of {match.size}", "zh": "{match.size}"}
            )
        ],
        "ok\nBOOM 12\n",
        source="f.log",
    )
    assert [(e.text, e.source, e.line) for e in found.findings[0].evidence] == [("BOOM 12", "f.log", 2)]
    assert found.findings[0].why == "of 12" and found.findings[0].status == "seen"


def test_consequence_folds_under_cause_and_lifts_it():
    cause = rule("a/root", severity="warning", symptom=[{"pattern": "root fault"}], explains=["b/end", "cause:c-other"])
    end = rule("b/end", symptom=[{"pattern": "the end"}], priority=10)
    other = rule("b/other", symptom=[{"pattern": "other thing"}])
    lone = rule("b/lone", symptom=[{"pattern": "alone here"}])
    found = run([cause, end, other, lone], "root fault\nother thing\nthe end\nalone here").findings
    assert [f.rule for f in found] == ["a/root", "b/lone"]
    root = found[0]
    assert {f.rule for f in root.explains} == {"b/end", "b/other"} and root.severity == "error"


def test_rings_of_explains_lose_nothing():
    a = rule("a/a", symptom=[{"pattern": "line aaa"}], explains=["a/b"])
    b = rule("a/b", symptom=[{"pattern": "line bbb"}], explains=["a/a"])
    found = run([a, b], "line aaa\nline bbb").findings
    assert len(found) == 1 and len(found[0].explains) == 1


def test_what_else_could_look_like_it_is_offered_after_all_findings_once_and_no_worse():
    generic = rule(
        "a/generic", severity="warning", symptom=[{"pattern": "fetch failed"}], differential=["a/x", "b/end", "a/x2"]
    )
    other = rule("a/x", phrases=["x"], cause="c-x")
    same_cause = rule("a/x2", phrases=["x"], cause="c-x")
    needs_facts = rule("a/y", phrases=["y"], remedy=[{"en": "use {launch.command}", "zh": "{launch.command}"}])
    end = rule("b/end", symptom=[{"pattern": "the end"}])
    rules = [generic, other, same_cause, needs_facts, end]
    found = run(rules, "fetch failed\nthe end").findings
    assert [(f.rule, f.instead_of, f.severity) for f in found] == [
        ("b/end", "", "error"),
        ("a/generic", "", "warning"),
        ("a/x", "a/generic", "warning"),
    ]
    assert found[2].status == "likely" and found[2].evidence[0].text == "fetch failed"
    assert [f.rule for f in run([generic._replace(differential=("a/y",)), needs_facts], "fetch failed").findings] == [
        "a/generic"
    ]


def test_order_severity_status_priority_line():
    rules = [
        rule("a/note", severity="note", symptom=[{"pattern": "thing"}]),
        rule("a/likely", symptom=[{"pattern": "thing", "likely": True}], priority=90),
        rule("a/late", symptom=[{"pattern": "late thing"}]),
        rule("a/early", symptom=[{"pattern": "early thing"}]),
        rule("a/sure", symptom=[{"pattern": "late thing"}], priority=80),
    ]
    assert [f.rule for f in run(rules, "early thing\nlate thing").findings] == [
        "a/sure",
        "a/early",
        "a/late",
        "a/likely",
        "a/note",
    ]


@pytest.mark.parametrize(
    ("symptom", "text", "fires"),
    [
        ({"pattern": "alloc failed", "also": ["KV cache"]}, "alloc failed\nthe kv cache", True),
        ({"pattern": "alloc failed", "also": ["KV cache"]}, "alloc failed", False),
        ({"pattern": "alloc failed", "unless": ["retrying"]}, "alloc failed", True),
        ({"pattern": "alloc failed", "unless": ["retrying"]}, "alloc failed\nretrying without", False),
        ({"pattern": "alloc failed", "if": "launch.ctx_size > 5"}, "alloc failed", True),
        ({"pattern": "alloc failed", "place": "command"}, "alloc failed", False),
        ({"pattern": "alloc failed", "builds": "b5000.."}, "alloc failed", True),
    ],
)
def test_symptom_conditions(symptom, text, fires):
    assert bool(run([rule("a/x", symptom=[symptom])], text).findings) is fires


def test_builds_and_false_condition_silence_a_symptom():
    old = replace(NOTHING, build=replace(not_collected(Build, "x"), number=4000))
    assert not run(
        [rule("a/x", symptom=[{"pattern": "alloc failed", "builds": "b5000.."}])], "alloc failed", old
    ).findings
    launch = replace(NOTHING, launch=replace(not_collected(Launch, "x"), ctx_size=4))
    assert not run(
        [rule("a/x", symptom=[{"pattern": "alloc failed", "if": "launch.ctx_size > 5"}])], "alloc failed", launch
    ).findings


def test_unknown_neither_fires_nor_passes():
    made = rule("a/x", when=[{"expr": "launch.ctx_size > 5"}])
    facts = replace(NOTHING, launch=replace(not_collected(Launch, "no launch command"), threads=4))
    found = run([made], "", facts)
    assert not found.findings
    assert [(item.check, item.reason) for item in found.undecided] == [("launch.ctx_size", "no launch command")]


def test_remedies_need_their_numbers_and_conditions():
    launch = replace(
        not_collected(Launch, "x"), program="llama-server", command="FOO=1 llama-server -m 'a b.gguf' -c 131072", ctx_size=131072,
        options=(LaunchOption("--model", "-m", "a b.gguf", 1), LaunchOption("--ctx-size", "-c", "131072", 1)),
    )  # fmt: skip
    made = rule("a/x", when=[{"expr": "launch.ctx_size > 5"}], remedy=[
        {"en": "needs {launch.threads}", "zh": "x"},
        {"en": "half", "zh": "x", "command": "{with_option(launch, '--ctx-size', round_down(launch.ctx_size / 2, 256))}"},
        {"en": "never", "zh": "x", "if": "launch.ctx_size < 5"},
        {"en": "general", "zh": "x"},
    ])  # fmt: skip
    remedies = run([made], "", replace(NOTHING, launch=launch)).findings[0].remedies
    assert [(r.text, r.command) for r in remedies] == [
        ("half", "FOO=1 llama-server -m 'a b.gguf' -c 65536"),
        ("general", ""),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"severity": "fatal"},
        {"remedy": []},
        {"title": {"en": "only"}},
        {"unknown_key": 1},
        {"symptom": [{"pattern": "(a+)+ text"}]},
        {"symptom": [{"pattern": "\\d+"}]},
        {"symptom": [{"pattern": "(unclosed"}]},
        {"symptom": [{"pattern": "fine text", "plcae": "log"}]},
        {"priority": 400},
        {"id": "other/name"},
        {"phrases": "not a list"},
    ],
)
def test_bad_rules_are_refused_with_their_name(change):
    with pytest.raises(RuleError, match="a/x"):
        rule("a/x", **{"symptom": [{"pattern": "some text"}], **change})


def test_build_spans():
    assert (
        in_builds("b10..b20", 15)
        and not in_builds("b10..b20", 21)
        and in_builds("..b20", 3)
        and in_builds("b10..", None)
    )


LAST = [rule("a/silent", symptom=[{"pattern": "loading the thing (?P<what>\\w+)", "last": True}])]


@pytest.mark.parametrize(
    "after",
    [
        *("", "\n\n  \n", "\n```\n", "\n$ \n", "\nme@host:~/x$ \n", "\n(venv) me@host:~$\n", "\nPS C:\\Users\\me>\n"),
        *("\nrc=132\n", "\nexit code: 132", "\n$ echo done\n", "\n# it stops here\n"),
    ],
)
def test_last_line_of_a_program(after):
    found = run_paste(LAST, "started\nloading the thing one\nx\nloading the thing two" + after)
    assert [e.line for e in found[0].evidence] == [4]


@pytest.mark.parametrize(
    "after", ["\nloaded", "\n\nload: 50%\n", "\nSegmentation fault (core dumped)", "\n0.00.1 I x\n\n"]
)
def test_what_is_not_last_does_not_count(after):
    assert not run_paste(LAST, "started\nloading the thing two" + after)


def test_last_line_counts_however_often_it_came_before():
    assert [e.line for e in run_paste(LAST, "loading the thing two\n" * 500)[0].evidence] == [500]
    assert run_paste(LAST, "x\n" * 70_000 + "loading the thing two\n" + "\n" * 70_000)[0].evidence[0].line == 70_001


def test_last_line_of_scanned_lines():
    assert run(LAST, "a\nloading the thing two\n\n").findings and not run(LAST, "loading the thing two\na").findings


def test_a_last_line_of_a_command_is_refused():
    with pytest.raises(RuleError, match="last = true"):
        rule("a/x", symptom=[{"pattern": "loading", "last": True, "place": "command"}])


# --- a rule that looks at clients one by one -------------------------------------------------------------------------


def client(name, url, problems=()):
    base = Setting("base_url", url, f"{name}.json", 3)
    return replace(not_collected(Client, "not looked"), id=name, name=name, base_url=base, problems=problems)


def clients(*found):
    return replace(NOTHING, clients=found)


EACH = {"each": "clients", "title": {"en": "{client.name} at {place(client.base_url)}", "zh": "{client.name}"}}


def test_each_client_has_its_own_finding():
    wrong = rule("a/wrong", when=[{"expr": "endswith(client.base_url.value, '/v1')"}], **EACH)
    found = run([wrong], facts=clients(client("A", "x/v1"), client("B", "x"), client("C", "y/v1"))).findings
    assert [(one.about, one.title) for one in found] == [("A", "A at A.json:3"), ("C", "C at C.json:3")]
    assert [[(e.text, e.source, e.line) for e in one.evidence] for one in found] == [
        [("base_url = x/v1", "A.json", 3)],
        [("base_url = y/v1", "C.json", 3)],
    ]
    assert found[0].subjects == ("clients",)


def test_a_fault_of_one_client_explains_nothing_about_another():
    cause = rule("a/cause", when=[{"expr": "client.name == 'A'"}], explains=["a/end", "a/all"], **EACH)
    end = rule("a/end", when=[{"expr": "known(client.base_url)"}], priority=10, **EACH)
    whole = rule("a/all", when=[{"expr": "len(clients) == 2"}], priority=5)
    found = run([cause, end, whole], facts=clients(client("A", "x"), client("B", "x"))).findings
    assert [(one.rule, one.about, [(sub.rule, sub.about) for sub in one.explains]) for one in found] == [
        ("a/cause", "A", [("a/end", "A"), ("a/all", "")]),
        ("a/end", "B", []),
    ]


def test_what_is_unknown_of_one_client_keeps_no_other_from_its_finding():
    small = rule("a/small", when=[{"expr": "client.context_window < 10"}], **EACH)
    known_one = replace(client("B", "x"), context_window=5)
    diagnosis = run([small], facts=clients(client("A", "x"), known_one))
    assert [one.about for one in diagnosis.findings] == ["B"]
    assert [(item.check, item.reason) for item in diagnosis.undecided] == [("clients[0].context_window", "not looked")]


def test_no_client_is_looked_at_where_none_is_known():
    wrong = rule("a/wrong", when=[{"expr": "client.name == 'A'"}], **EACH)
    diagnosis = run([wrong])
    assert diagnosis.findings == () and [item.check for item in diagnosis.undecided] == ["clients"]


def test_only_lists_that_can_be_looked_at_one_by_one():
    with pytest.raises(RuleError, match="each"):
        rule("a/x", each="gpu", when=[{"expr": "True"}])


def test_a_condition_can_be_asked_of_each_item_of_a_list():
    from doctor.engine.check import faults

    rule = rule_from_toml(
        "client/x",
        {
            "cause": "x",
            "severity": "error",
            "title": {"en": "{default(client.name, 'one')}", "zh": "{client.name}"},
            "why": {"en": "because", "zh": "因为"},
            "phrases": ["x"],
            "when": [{"each": "clients", "expr": "client.context_needed > 10"}],
            "remedy": [{"en": "tell {client.name}", "zh": "x"}],
            "example": [
                {"facts": {"clients": [{"name": "a", "context_needed": 5}, {"name": "b", "context_needed": 50}]}},
                {"facts": {"clients": [{"name": "a", "context_needed": 5}]}, "match": False},
                {"facts": {"clients": []}, "match": False},
            ],
        },
    )
    assert faults((rule,)) == ()
    from doctor.engine.check import with_facts
    from doctor.facts.facts import nothing_known

    facts = with_facts(nothing_known("x"), rule.examples[0].facts)
    (found,) = diagnose([rule], facts).findings
    assert (found.title, found.remedies[0].text, found.subjects) == ("b", "tell b", ("clients",))
    unknown = rule._replace(when=(rule.when[0]._replace(expr="client.nonsense"),))
    assert any("nonsense" in fault for fault in faults((unknown,)))
