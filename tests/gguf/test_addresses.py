"""What people write for a model that is not on this machine yet."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.gguf.addresses import RemoteError, may_carry_key, parse_model
from doctor.gguf.fetch import _next
from doctor.gguf.remote import RemoteTrouble, is_remote, read_remote
from doctor.outside import Outside
from doctor.secrets import Vault

STARTS = ["hf://", "hf://o/r", "https://huggingface.co/", "http://", "https://modelscope.cn/models/", "o/r:", "x://"]


def complaint(text, *words, **environ):
    found = read_remote(Outside(environ), text, Vault())
    assert isinstance(found, RemoteTrouble) and found.kind == "address", found
    assert all(word in found.message for word in words) and "\n" not in found.message and len(found.message) < 500
    return found.message


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("hf://o/r/m.gguf", "https://huggingface.co/o/r/resolve/main/m.gguf"),
        ("hf://o/r@v2/sub/m.gguf", "https://huggingface.co/o/r/resolve/v2/sub/m.gguf"),
        ("https://huggingface.co/o/r/blob/main/m.gguf", "https://huggingface.co/o/r/resolve/main/m.gguf"),
        ("https://huggingface.co/o/r/raw/main/m.gguf", "https://huggingface.co/o/r/resolve/main/m.gguf"),
        (
            "https://hf-mirror.com/o/r/resolve/main/m.gguf?download=true",
            "https://hf-mirror.com/o/r/resolve/main/m.gguf",
        ),
        (
            "https://modelscope.cn/models/o/r/file/view/master/m-Q4.gguf?status=2",
            "https://modelscope.cn/models/o/r/resolve/master/m-Q4.gguf",
        ),
        (
            "https://www.modelscope.cn/models/o/r/resolve/master/m.gguf",
            "https://www.modelscope.cn/models/o/r/resolve/master/m.gguf",
        ),
        ("https://example.org/a/m.gguf?sig=1", "https://example.org/a/m.gguf?sig=1"),
    ],
)
def test_addresses_of_files(text, url):
    assert parse_model(text, {}).url == url


@pytest.mark.parametrize(
    ("text", "repo"),
    [
        ("o/r", ("https://huggingface.co", "o/r", "main", "")),
        ("o/r:UD-Q4_K_XL", ("https://huggingface.co", "o/r", "main", "UD-Q4_K_XL")),
        ("hf://o/r@dev:Q8_0", ("https://huggingface.co", "o/r", "dev", "Q8_0")),
        ("https://huggingface.co/o/r", ("https://huggingface.co", "o/r", "main", "")),
        ("https://hf-mirror.com/o/r/tree/main", ("https://hf-mirror.com", "o/r", "main", "")),
    ],
)
def test_addresses_of_repositories(text, repo):
    assert parse_model(text, {}) == repo


@pytest.mark.parametrize(
    "text",
    [
        "ftp://example.org/m.gguf", "http://", "https://key@huggingface.co/o/r/resolve/main/m.gguf", "hf://", "hf://o",
        "hf://o/r/../../x.gguf", "hf://o/r:Q4/m.gguf", "http://[::1/m.gguf", "http://127.0.0.1:99999999/m.gguf",
        "https://modelscope.cn/models/o/r", "hf://o/r\n/m.gguf", "h" * 9000, "http://x:0/m.gguf", "o/r:Q4 K",
    ],
)  # fmt: skip
def test_addresses_that_cannot_be_asked(text):
    assert "key@" not in complaint(text)


def test_a_broken_endpoint():
    complaint("o/r", "HF_ENDPOINT", HF_ENDPOINT="hub")


@pytest.mark.parametrize(
    ("text", "remote"),
    [
        ("o/r", True), ("o/r:Q4_K_M", True), ("hf://o/r", True), ("https://x/m.gguf", True), ("m.gguf", False),
        ("models/m.gguf", False), ("./o/r", False), ("/o/r", False), (r"C:\o\r.gguf", False), ("o/r/m.gguf", False),
        ("file:///o/m.gguf", False),
    ],
)  # fmt: skip
def test_what_is_meant_for_the_network(text, remote):
    assert is_remote(Outside({}), text) is remote


def test_a_file_of_that_name_comes_first(tmp_path, monkeypatch):
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "r").write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    assert not is_remote(Outside({}), "o/r")


def test_a_stranger_cannot_send_us_into_the_private_network():
    for place in ("https://127.0.0.1/x", "https://localhost/x", "https://192.168.1.1/x", "https://169.254.169.254/x"):
        with pytest.raises(RemoteError, match="private network"):
            _next("https://example.org/m.gguf", place, False)
    with pytest.raises(RemoteError, match="unencrypted"):
        _next("https://example.org/m.gguf", "http://example.org/m.gguf", False)
    assert _next("https://example.org/a/m.gguf", "../b?c=1", False) == "https://example.org/b?c=1"


def test_no_key_over_an_unencrypted_line():
    assert may_carry_key("https://huggingface.co/x") and may_carry_key("http://127.0.0.1:8000/x")
    assert not may_carry_key("http://huggingface.co/x") and not may_carry_key("http://192.168.1.5/x")


@given(st.one_of(st.text(max_size=60), st.builds("{}{}".format, st.sampled_from(STARTS), st.text(max_size=60))))
@settings(max_examples=300, deadline=None)
def test_any_text_is_an_address_or_refused_in_one_line(text):
    is_remote(Outside({}), text)
    try:
        found = parse_model(text, {})
    except RemoteError as error:
        assert error.kind == "address" and "\n" not in str(error)
    else:
        assert found[0].startswith(("http://", "https://"))
