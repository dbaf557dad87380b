"""What lies there instead of a GGUF."""

import gzip
import json
import struct

import pytest

from doctor.gguf.identify import HEAD, identify, one_line
from tests.models import SHA256, html_page, json_error, lfs_pointer, pytorch_zip, safetensors


def of(path):
    data = path.read_bytes()
    return identify(data[:HEAD], len(data))


def of_bytes(data):
    return identify(data[:HEAD], len(data))


def test_lfs_pointer(tmp_path):
    found = of(lfs_pointer(tmp_path / "m.gguf"))
    assert found.kind == "lfs-pointer"
    assert (found.sha256, found.length) == (SHA256, 16_536_457_408)
    assert "16.5 GB" in found.words


@pytest.mark.parametrize("compressed", [False, True])
def test_web_page(tmp_path, compressed):
    found = of(html_page(tmp_path / "m.gguf", compressed))
    assert found.kind == "html"
    assert "Access denied - Example Hub" in found.words


def test_json_errors(tmp_path):
    assert "Access to model example/model is restricted." in of(json_error(tmp_path / "m.gguf")).words
    nested = of_bytes(json.dumps({"error": {"message": "no\nsuch model", "code": 404}}).encode())
    assert (nested.kind, nested.words) == ("json", 'a JSON answer instead of the model: "no such model"')
    assert of_bytes(b'{"config": 1}').words == "a JSON file"
    assert of_bytes(b"[" * 60_000).kind == "json"


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (b"", "empty", "empty"),
        (bytes(5000), "not-gguf", "begins with zeros"),
        (b"<?xml version='1.0'?><Error><Message>Access Denied</Message></Error>", "html", "Access Denied"),
        (b"\xef\xbb\xbf\n  <HTML><body>", "html", "web page"),
        (b"Invalid username or password.", "not-gguf", 'a text: "Invalid username or password."'),
        (struct.pack("<I", 0x67676D6C) + bytes(60), "ggml-old", "unversioned GGML"),
        (struct.pack("<I", 0x67676D66) + bytes(60), "ggml-old", "GGMF"),
        (struct.pack("<I", 0x67676A74) + bytes(60), "ggml-old", "GGJT"),
        (struct.pack("<I", 0x67676C61) + bytes(60), "ggml-old", "LoRA"),
        (b"\x80\x02}q\0.", "pytorch", "pickle"),
        (b"\x1f\x8b\x08\0" + b"broken", "archive", "gzip"),
        (gzip.compress(b"GGUF" + bytes(100)), "archive", "gzip"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(60), "archive", "7z"),
        (b"PK\x03\x04" + bytes(60), "archive", "zip"),
        (b"MZqFpD='\n" + bytes(60), "not-gguf", "llamafile"),
        (b"\x01\x02\x03\x04\xff\xfe\xfd\xfc\x00", "not-gguf", "begins with 01 02 03 04 ff fe fd fc"),
        (struct.pack("<Q", 1 << 60) + b"{" + bytes(60), "not-gguf", "no GGUF"),
    ],
)  # fmt: skip
def test_other_things(data, kind, words):
    found = of_bytes(data)
    assert found.kind == kind
    assert words in found.words


def test_safetensors(tmp_path):
    assert of(safetensors(tmp_path / "m.safetensors")).kind == "safetensors"


def test_a_checkpoint_is_never_unpickled(tmp_path):
    assert of(pytorch_zip(tmp_path / "pytorch_model.bin")).kind == "pytorch"


def test_a_compressed_page_is_not_unpacked_further_than_its_start():
    found = of_bytes(gzip.compress(b"<html><title>big</title>" + bytes(20 << 20), 1))
    assert found.kind == "html"


def test_words_of_strangers_are_one_printable_line():
    assert one_line(b"a\r\n\tb\x1b[31m\0c") == "a b[31mc"
    assert len(one_line(b"x" * 1000, 50)) == 50
