"""What `doctor rules check` says about a rule that is wrong."""

import sys

from doctor.engine.check import faults
from doctor.engine.rules import rule_from_toml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RULE = """
cause    = "some-cause"
severity = "error"
title.en = "A title"
title.zh = "标题"
why.en   = "Why."
why.zh   = "原因。"
phrases  = ["words"]

[[symptom]]
pattern = 'something went wrong'

[[remedy]]
en      = "REMEDY"
zh      = "办法"
price   = "none"

[[example]]
text  = "something went wrong"
match = true

[[example]]
text  = "all is well"
match = false
"""


def check(text):
    return faults((rule_from_toml("subject/name", tomllib.loads(text)),))


def test_a_sound_rule_has_no_faults():
    assert check(RULE) == ()


def test_braces_that_are_no_expression_are_a_fault_of_the_rule():
    (fault,) = check(RULE.replace('"REMEDY"', '\'curl -d {"model": "NAME"}\''))
    assert "subject/name" in fault
    assert "cannot be read" in fault


def test_a_differential_that_does_not_exist_is_a_fault():
    (fault,) = check(RULE.replace("phrases ", 'differential = ["subject/none"]\nphrases '))
    assert fault == "subject/name: differential 'subject/none', and there is no such rule"
