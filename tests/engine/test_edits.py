"""What a rule may say about an edit, and what becomes of it on a machine."""

from dataclasses import replace

import pytest

from doctor.engine.check import faults
from doctor.engine.diagnose import diagnose
from doctor.engine.load import read_rules, rules_folder
from doctor.engine.reader import RuleError
from doctor.engine.rules import rule_from_toml
from doctor.facts.clients.record import WRITABLE, Client, Credential, Setting, Writable
from doctor.facts.facts import nothing_known
from doctor.facts.launch.record import Launch, LaunchOption
from doctor.facts.record import Unknown, not_collected
from doctor.outside import Outside

FILE = "/h/settings.json"


def rule(edit, **remedy):
    return rule_from_toml(
        "client/x",
        {
            "cause": "x",
            "severity": "error",
            "title": {"en": "t", "zh": "t"},
            "why": {"en": "w", "zh": "w"},
            "phrases": ["x"],
            "each": "clients",
            "when": [{"expr": "client.id == 'a'"}],
            "remedy": [{"en": "do", "zh": "do", "edit": edit, **remedy}],
            "example": [{"facts": {"clients": [{"id": "a"}]}}, {"facts": {"clients": []}, "match": False}],
        },
    )


def edits(edit, client=None, **remedy):
    made = not_collected(Client, "x")
    values = {"id": "a", "name": "A", "wire_api": "openai-chat", "appends_v1": False, **(client or {})}
    facts = replace(nothing_known("x"), clients=(replace(made, **values),))
    made_rule = rule(edit, **remedy)
    assert faults((made_rule,)) == ()
    return diagnose([made_rule], facts).findings[0].remedies[0].edits


PLACES = (
    Writable("model", FILE, "/model", "text", "local/"),
    Writable("key", FILE, "/key", "text"),
    Writable("context_window", "/h/other.json", "/w", "number"),
    Writable("A_KEY", FILE, "/env/A_KEY", "text"),
)


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        ({"set": "nonsense", "value": "x"}, "unknown setting 'nonsense'"),
        ({"set": "model"}, "value must be text"),
        ({"set": "model", "remove": "key"}, "one of set, append, remove, clean"),
        ({"value": "x"}, "one of set, append, remove, clean"),
        ({"remove": "key", "value": "x"}, "takes no value"),
        ({"set": "model", "value": "x", "file": "/etc/passwd"}, "unknown key 'file'"),
        ({"set": "model", "value": 5}, "value must be text"),
        ("model", "write edit"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_at_loading(edit, complaint):
    with pytest.raises(RuleError, match=complaint):
        rule(edit)


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        ({"set": "model", "value": "{client.nonsense}"}, "nonsense"),
        ({"set": "first(k for k in client.nonsense)", "value": "x"}, "nonsense"),
    ],
)
def test_an_edit_with_unknown_facts_is_a_fault(edit, complaint):
    assert any(complaint in fault for fault in faults((rule(edit),)))


def test_an_edit_wants_a_client():
    alone = rule({"set": "model", "value": "x"})
    alone = alone._replace(when=(alone.when[0]._replace(each="", expr="known(server.url)"),))
    assert any("wants a client" in fault for fault in faults((alone,)))


def test_a_name_leads_to_the_place_the_client_tells():
    (made,) = edits({"set": "model", "value": "{client.id}-1"}, {"writable": PLACES})
    assert (made.file, made.pointer, made.value, made.kind) == (FILE, "/model", "local/a-1", "text")


def test_an_expression_leads_to_the_place_of_a_setting():
    setting = Setting("m", "x", "/h/y.toml", 4, pointer="/a/b", prefix="p/")
    (made,) = edits({"set": "client.small_model", "value": "z"}, {"small_model": setting, "writable": ()})
    assert (made.file, made.pointer, made.value) == ("/h/y.toml", "/a/b", "p/z")


def test_a_variable_of_a_profile_stands_there():
    setting = Setting("BASE", "x", "environment", None, "/h/.bashrc:12")
    (made,) = edits({"set": "client.base_url", "value": "z"}, {"base_url": setting, "writable": ()})
    assert (made.file, made.pointer) == ("/h/.bashrc", "/BASE")


def test_a_key_of_the_shell_is_blanked_where_the_client_has_a_place_that_beats_it():
    key = Credential("A_KEY", "<key-1>", "authorization", "environment", None, ())
    (made,) = edits({"remove": "client.credentials[0]"}, {"credentials": (key,), "writable": PLACES})
    assert (made.file, made.pointer, made.blank) == (FILE, "/env/A_KEY", True)


@pytest.mark.parametrize(
    ("edit", "client", "remedy"),
    [
        ({"set": "small_model", "value": "x"}, {"writable": PLACES}, {}),  # no place
        ({"set": "model", "value": "{server.url}"}, {"writable": PLACES}, {}),  # no value
        ({"set": "model", "value": "x"}, {"writable": Unknown("not looked")}, {}),
        ({"set": "model", "value": "x"}, {"writable": PLACES}, {"if": "server.state == 'ok'"}),  # not known to be right
        (
            [{"set": "model", "value": "x"}, {"set": "context_window", "value": "1"}],
            {"writable": PLACES},
            {},
        ),  # two files
        ([{"set": "model", "value": "x"}, {"set": "small_model", "value": "1"}], {"writable": PLACES}, {}),  # a half
        (
            {"set": "client.base_url", "value": "x"},
            {"writable": (), "base_url": Setting("B", "x", "environment", None)},
            {},
        ),
        ({"set": "client.name", "value": "x"}, {"writable": PLACES}, {}),  # no setting
    ],
)
def test_no_edit_is_better_than_a_wrong_one(edit, client, remedy):
    assert edits(edit, client, **remedy) == ()


def test_what_is_written_is_not_redacted():
    facts = replace(
        nothing_known("x"), clients=(replace(not_collected(Client, "x"), id="a", name="box", writable=PLACES),)
    )
    made_rule = rule({"set": "model", "value": "{client.name}"})
    (found,) = diagnose([made_rule], facts, clean=lambda text: text.replace("box", "<name>")).findings
    assert found.remedies[0].edits[0].value == "local/box"


def test_the_settings_rules_change_are_used_and_told():
    outside = Outside()
    rules = read_rules(outside, rules_folder(outside))
    used = {
        edit.target for rule in rules for remedy in rule.remedies for edit in remedy.edits if edit.target.isidentifier()
    }
    assert set(WRITABLE) == used
    assert len([rule for rule in rules if any(remedy.edits for remedy in rule.remedies)]) >= 30


@pytest.mark.parametrize(
    ("command", "right"),
    [
        ("{with_option(launch, '--ctx-size', 8192)}", True),
        ("{without_option(launch, '--mmproj')} --cache-type-k q8_0", True),
        ("{launch.fixed_command}", True),
        ("{launch.command} --jinja", True),
        ("{launch.command}", False),  # no change
        ("{launch.command} --jinja; echo", False),
        ("A=1 {launch.command}", False),
        ("curl http://127.0.0.1:8080/props", False),
        ("", False),
    ],
)
def test_an_edit_of_the_launch_command(command, right):
    if not right:
        with pytest.raises(RuleError, match="the launch command, changed"):
            rule("launch", command=command)
        return
    assert rule("launch", command=command).remedies[0].launch


def test_the_words_of_the_launch_command_are_its_own():
    launch = replace(
        not_collected(Launch, "x"),
        command="llama-server -m 'C:\\a b\\q.gguf' -c 64",
        options=(LaunchOption("--model", "-m", "C:\\a b\\q.gguf", 1), LaunchOption("--ctx-size", "-c", "64", 1)),
    )
    made = rule("launch", command="{with_option(launch, '--ctx-size', 8192)}")
    facts = replace(nothing_known("x"), launch=launch, clients=(replace(not_collected(Client, "x"), id="a"),))
    (found,) = diagnose([made], facts, clean=lambda text: text.replace("q.gguf", "<name>")).findings
    assert found.remedies[0].launch == ("llama-server", "-m", "C:\\a b\\q.gguf", "-c", "8192")
    assert "<name>" in found.remedies[0].command
    unsure = rule("launch", command="{launch.command} --jinja", **{"if": "server.state == 'ok'"})
    assert diagnose([unsure], facts).findings[0].remedies[0].launch == ()
