from doctor.redact import Redactor
from doctor.secrets import Vault


def test_same_secret_same_token_and_back():
    vault = Vault()
    first, second = vault.put("sk-local-test"), vault.put("other-key")
    assert (first, second) == ("<key-1>", "<key-2>")
    assert vault.put("sk-local-test") == first
    assert vault.get(first) == "sk-local-test"
    assert vault.secrets() == ("sk-local-test", "other-key")


def test_nothing_and_tokens_are_no_secrets():
    vault = Vault()
    assert vault.put("") == ""
    assert vault.put("<key-7>") == "<key-7>"
    assert vault.get("never hidden") == "never hidden"
    assert vault.secrets() == ()


def test_the_redactor_gives_the_same_tokens():
    vault = Vault()
    tokens = [vault.put("first-secret"), vault.put("second-secret")]
    redactor = Redactor(vault=vault)
    assert redactor.text("second-secret first-secret") == " ".join(reversed(tokens))
