"""Headers read over HTTP from real servers on this machine: honest, clumsy and hostile ones."""

import gzip
import io
import os
import struct
import time

import pytest

from doctor.facts.gguf.record import collect, of_remote
from doctor.gguf.header import read_header
from doctor.gguf.remote import FIRST, RemoteHeader, RemoteTrouble, read_remote
from doctor.outside import Outside
from doctor.secrets import Vault
from tests.gguf.headers import INDEX, header_of, model_file
from tests.gguf.raw import gguf_bytes, gguf_string
from tests.gguf.web import File, raw, serving

KEY = "sk-local-test"
GIB = 1 << 30


def vocabulary(tokens, merges, *, model="gpt2", tensors=300, template=9000):
    """A header as large as real ones: strings that grow along the list, as those of BPE vocabularies do."""

    def strings(key, count, most):
        texts = (b"x" * (3 + min(most, (index + 1).bit_length() * most // 18)) for index in range(count))
        items = b"".join(struct.pack("<Q", len(text)) + text for text in texts)
        return gguf_string(key) + struct.pack("<IIQ", 9, 8, count) + items

    def number(key, value):
        return gguf_string(key) + struct.pack("<II", 4, value)

    def text(key, value):
        return gguf_string(key) + struct.pack("<I", 8) + gguf_string(value)

    def numbers(key, count, kind):
        return gguf_string(key) + struct.pack("<IIQ", 9, kind, count) + bytes(4 * count)

    keys = [text("general.architecture", "qwen3"), number("qwen3.block_count", 36), text("tokenizer.ggml.model", model)]
    keys.append(strings("tokenizer.ggml.tokens", tokens, 7))
    if model != "gpt2":
        keys.append(numbers("tokenizer.ggml.scores", tokens, 6))
    keys.append(numbers("tokenizer.ggml.token_type", tokens, 5))
    if merges:
        keys.append(strings("tokenizer.ggml.merges", merges, 8))
    keys += [number("tokenizer.ggml.bos_token_id", 1), text("tokenizer.chat_template", "t" * template)]
    out = bytearray(b"GGUF" + struct.pack("<IQQ", 3, tensors, len(keys)) + b"".join(keys))
    for index in range(tensors):
        name = f"blk.{index // 9}.attn_{'abcdefghi'[index % 9]}_proj.weight"
        out += gguf_string(name) + struct.pack("<I2qIQ", 2, 4096, 4096, 0, index * 4096 * 4096 * 4)
    return bytes(out + bytes(-len(out) % 32))


@pytest.fixture
def web():
    with serving() as server:
        yield server


def ask(text, *, vault=None, seconds=5.0, total_seconds=20.0, **environ):
    home = os.environ["HOME"]
    outside = Outside({"HOME": home, **environ})
    return read_remote(outside, text, vault or Vault(), seconds=seconds, total_seconds=total_seconds)


def same_as_local(found, header, size):
    assert isinstance(found, RemoteHeader), found
    assert found.header == read_header(io.BytesIO(header + bytes(64)), size)
    assert found.header.data_offset is not None
    assert found.size == size


def complaint(found, kind, *words):
    assert isinstance(found, RemoteTrouble), found
    assert found.kind == kind, found
    for word in words:
        assert word in found.message, found
    assert "\n" not in found.message and len(found.message) < 700
    return found.message


# --- what it costs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(INDEX))
def test_real_headers_without_vocabulary(web, name):
    header, size = header_of(name), INDEX[name]["file_bytes"]
    web.pages["/m.gguf"] = File(header, size)
    found = ask(f"{web.url}/m.gguf")
    same_as_local(found, header, size)
    assert found.requests == len(web.asked) <= 3
    assert found.bytes_read == web.sent <= 2 * len(header)


# Tokens, merges and tokenizer of Llama 2, GPT-2, Qwen 2, Llama 3, gpt-oss, Gemma 3 and Gemma 4.
@pytest.mark.parametrize(
    ("tokens", "merges", "model"),
    [
        (32000, 0, "llama"),
        (50257, 50000, "gpt2"),
        (151936, 151387, "gpt2"),
        (128256, 280147, "gpt2"),
        (201088, 446189, "gpt2"),
        (262144, 0, "llama"),
        (262144, 514906, "gemma4"),
    ],
)
@pytest.mark.parametrize("redirects", [0, 1])
def test_vocabularies_of_all_sizes(web, tokens, merges, model, redirects):
    header = vocabulary(tokens, merges, model=model)
    web.pages["/m.gguf"] = web.pages["/there"] = File(header, 20 * GIB)
    if redirects:
        web.pages["/m.gguf"] = (302, {"Location": "/there?signature=abc"}, b"")
    found = ask(f"{web.url}/m.gguf")
    same_as_local(found, header, 20 * GIB)
    assert found.header_requests == found.requests == len(web.asked) <= 3
    assert found.bytes_read == web.sent <= 2 * len(header)
    assert found.header.lengths["tokenizer.ggml.tokens"] == tokens


def test_a_whole_small_file_takes_one_request(web):
    data = gguf_bytes({"general.architecture": "llama"}, [("a.weight", (32, 2), 0)])
    web.pages["/m.gguf"] = File(data)
    found = ask(f"{web.url}/m.gguf")
    same_as_local(found, data, len(data))
    assert len(web.asked) == 1


# --- servers that do it differently ------------------------------------------------------------------------------


def test_a_server_without_ranges_is_not_downloaded(web):
    header = vocabulary(32000, 0, model="llama")
    web.pages["/m.gguf"] = File(header, GIB, ranges=False)
    found = ask(f"{web.url}/m.gguf")
    same_as_local(found, header, GIB)
    assert len(web.asked) == 2
    assert found.bytes_read <= 2 * len(header)
    time.sleep(0.1)
    assert web.sent < 64 << 20  # what fits into the buffers of a loopback connection, nothing near the file


def test_without_ranges_and_without_a_length(web):
    answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + header_of("phi-4-q4_k_m") + bytes(100_000)
    web.pages["/m.gguf"] = raw(answer)
    complaint(ask(f"{web.url}/m.gguf"), "no-ranges", "how large it is", "download it first")


def test_a_header_that_does_not_come_on_without_ranges(web):
    header = vocabulary(60000, 0, model="llama", template=900_000)
    web.pages["/m.gguf"] = File(header, GIB, ranges=False)
    complaint(ask(f"{web.url}/m.gguf"), "no-ranges", "download it first")
    assert len(web.asked) == 2


def test_a_redirect_to_a_cdn_is_followed_once(web):
    header = header_of("gpt-oss-20b-mxfp4")
    with serving() as cdn:
        cdn.pages["/blob"] = File(header, GIB)
        web.pages["/o/r/resolve/main/m.gguf"] = (302, {"Location": f"{cdn.url}/blob?X-Amz-Signature=secret"}, b"")
        found = ask("hf://o/r/m.gguf", HF_ENDPOINT=web.url)
        same_as_local(found, header, GIB)
        assert (len(web.asked), len(cdn.asked)) == (1, 2)
    assert found.url == f"{web.url}/o/r/resolve/main/m.gguf"
    assert "secret" not in repr(found._replace(header=None, parts=None))


def test_redirects_end(web):
    web.pages["/m.gguf"] = (302, {"Location": "/m.gguf"}, b"")
    complaint(ask(f"{web.url}/m.gguf"), "redirect", "more than 5 times")
    assert len(web.asked) == 6


@pytest.mark.parametrize(
    "place",
    ["", "ftp://127.0.0.1/x", "file:///etc/passwd", "http://user:pass@127.0.0.1/x", "http://[bad", "x" * 9000],
)
def test_redirects_to_nowhere(web, place):
    web.pages["/m.gguf"] = (302, {"Location": place}, b"")
    complaint(ask(f"{web.url}/m.gguf"), "redirect")
    assert len(web.asked) == 1


# --- keys --------------------------------------------------------------------------------------------------------


def keys_seen(server):
    return [entry.headers.get("authorization") for entry in server.asked]


def test_the_key_stays_with_its_host(web):
    header = header_of("phi-4-q4_k_m")
    with serving() as other:  # another port is another host, as far as keys go
        other.pages["/blob"] = File(header, GIB)
        web.pages["/o/r/resolve/main/m.gguf"] = (307, {"Location": f"{other.url}/blob"}, b"")
        found = ask("hf://o/r/m.gguf", HF_ENDPOINT=web.url, HF_TOKEN=KEY)
        same_as_local(found, header, GIB)
        assert keys_seen(web) == [f"Bearer {KEY}"]
        assert keys_seen(other) == [None]
    assert KEY not in repr(found)


def test_the_key_is_sent_again_when_the_way_leads_back(web):
    header = header_of("phi-4-q4_k_m")
    with serving() as other:
        other.pages["/away"] = (302, {"Location": f"{web.url}/back"}, b"")
        web.pages["/back"] = File(header, GIB)
        web.pages["/o/r/resolve/main/m.gguf"] = (302, {"Location": f"{other.url}/away"}, b"")
        same_as_local(ask("hf://o/r/m.gguf", HF_ENDPOINT=web.url, HF_TOKEN=KEY), header, GIB)
        assert keys_seen(other) == [None]


def test_another_host_never_gets_the_key(web):
    web.pages["/m.gguf"] = File(header_of("phi-4-q4_k_m"), GIB)
    for environ in ({}, {"HF_ENDPOINT": "http://127.0.0.1:9"}, {"HF_ENDPOINT": "https://hub.invalid"}):
        assert isinstance(ask(f"{web.url}/m.gguf", HF_TOKEN=KEY, **environ), RemoteHeader)
    assert keys_seen(web) == [None, None, None]


def test_the_written_key_belongs_to_the_hub_alone(web, clean_environment):
    folder = clean_environment / ".cache" / "huggingface"
    folder.mkdir(parents=True)
    (folder / "token").write_text(f"{KEY}\n")
    web.pages["/o/r/resolve/main/m.gguf"] = File(header_of("phi-4-q4_k_m"), GIB)
    assert isinstance(ask("hf://o/r/m.gguf", HF_ENDPOINT=web.url), RemoteHeader)
    assert keys_seen(web) == [None]


@pytest.mark.parametrize("where", ["default", "HF_HOME", "HF_TOKEN_PATH", "XDG_CACHE_HOME"])
def test_where_the_written_key_lies(clean_environment, where):
    from doctor.gguf.hub import hub_key

    places = {
        "default": ("", clean_environment / ".cache" / "huggingface" / "token"),
        "HF_HOME": (clean_environment / "hf", clean_environment / "hf" / "token"),
        "HF_TOKEN_PATH": (clean_environment / "my-token", clean_environment / "my-token"),
        "XDG_CACHE_HOME": (clean_environment / "x", clean_environment / "x" / "huggingface" / "token"),
    }
    value, path = places[where]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(KEY)
    environ = {"HOME": str(clean_environment)} | ({where: str(value)} if value else {})
    vault = Vault()
    key = hub_key(Outside(environ), vault)
    assert key is not None and vault.get(key.token) == KEY
    assert key.address == "https://huggingface.co"


def test_a_key_that_no_header_can_hold(web):
    web.pages["/o/r/resolve/main/m.gguf"] = File(header_of("phi-4-q4_k_m"), GIB)
    found = ask("hf://o/r/m.gguf", HF_ENDPOINT=web.url, HF_TOKEN="two words\r\nX-Evil: 1")
    assert isinstance(found, RemoteHeader)
    assert keys_seen(web) == [None]


# --- what is not given -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "headers", "environ", "kind", "words"),
    [
        (401, {}, {}, "gated", ("no such repository", "accept the licence", "set HF_TOKEN")),
        (401, {"X-Error-Code": "GatedRepo"}, {}, "gated", ("gated: accept the licence",)),
        (401, {}, {"HF_TOKEN": KEY}, "gated", ("the key of HF_TOKEN is refused",)),
        (403, {}, {}, "gated", ("gated: accept the licence",)),
        (403, {}, {"HF_TOKEN": KEY}, "gated", ("the account of HF_TOKEN has no access",)),
        (404, {}, {}, "missing", ("no such file (HTTP 404)",)),
        (404, {"X-Error-Code": "RevisionNotFound"}, {}, "missing", ("no such file",)),
        (410, {}, {}, "missing", ("no such file",)),
        (429, {"Retry-After": "9"}, {}, "busy", ("too many requests", "wait")),
        (503, {}, {}, "busy", ("HTTP 503", "later")),
        (418, {"X-Error-Message": "short\tand stout"}, {}, "hostile", ("HTTP 418", "short and stout")),
    ],
)
def test_refusals(web, status, headers, environ, kind, words):
    web.pages["/o/r/resolve/main/m.gguf"] = (status, headers, b"<html>" + b"no" * 100_000)
    message = complaint(ask("hf://o/r/m.gguf", HF_ENDPOINT=web.url, **environ), kind, *words)
    assert KEY not in message


def test_a_strange_host_that_wants_a_key(web):
    web.pages["/m.gguf"] = (401, {}, b"")
    message = complaint(ask(f"{web.url}/m.gguf?token={KEY}"), "gated", "the way this host asks for")
    assert KEY not in message


def test_a_cdn_that_refuses(web):
    with serving() as cdn:
        cdn.pages["/blob"] = (403, {}, b"")
        web.pages["/m.gguf"] = (302, {"Location": f"{cdn.url}/blob?sig={KEY}"}, b"")
        message = complaint(ask(f"{web.url}/m.gguf"), "unreachable", "which refuses (HTTP 403)")
    assert KEY not in message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<!doctype html><title>Sign in</title>" + b" " * 500, 'a web page instead of the model: "Sign in"'),
        (b'{"error": "Invalid username or password."}', "Invalid username or password"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 5000000000\n",
            "LFS pointer",
        ),
        (gzip.compress(bytes(100_000_000)), "a gzip archive"),
        (struct.pack("<Q", 60) + b'{"weight": {}}' + b" " * 60, "safetensors"),
    ],
)
def test_what_is_no_model(web, body, words):
    web.pages["/m.gguf"] = File(body)
    complaint(ask(f"{web.url}/m.gguf"), "not-gguf", words)
    assert len(web.asked) == 1


def test_an_empty_file(web):
    web.pages["/m.gguf"] = File(b"")
    complaint(ask(f"{web.url}/m.gguf"), "not-gguf", "empty")


def test_one_piece_of_a_file(web):
    web.pages["/m.gguf.part1of2"] = File(header_of("phi-4-q4_k_m"), GIB)
    complaint(ask(f"{web.url}/m.gguf.part1of2"), "not-gguf", "joined with cat")


def test_a_cut_off_file_is_read_as_far_as_it_goes(web):
    header = header_of("gpt-oss-20b-mxfp4")
    web.pages["/m.gguf"] = File(header[:20_000])
    found = ask(f"{web.url}/m.gguf")
    assert isinstance(found, RemoteHeader)
    assert found.header == read_header(io.BytesIO(header[:20_000]), 20_000)
    assert found.header.cut_off


# --- hostile servers ---------------------------------------------------------------------------------------------


def answer_206(content_range, body):
    head = f"HTTP/1.1 206 Partial Content\r\nContent-Range: {content_range}\r\nContent-Length: {len(body)}\r\n\r\n"
    return raw(head.encode() + body)


@pytest.mark.parametrize(
    ("content_range", "kind"),
    [
        (f"bytes 5-{FIRST + 4}/9999999", "hostile"),
        (f"bytes 0-{FIRST - 1}/100", "hostile"),
        (f"bytes 0-{FIRST - 1}/9{'0' * 18}", "hostile"),
        (f"bytes 0-{FIRST - 1}/{'9' * 500}", "hostile"),
        ("bytes 0-99999999/999999999", "hostile"),
        ("bytes 9-2/99999", "hostile"),
        ("items 0-1/2", "hostile"),
        (f"bytes 0-{FIRST - 1}/*", "no-ranges"),
        ("", "hostile"),
    ],
)
def test_wrong_content_ranges(web, content_range, kind):
    web.pages["/m.gguf"] = answer_206(content_range, header_of("phi-4-q4_k_m")[:8000])
    complaint(ask(f"{web.url}/m.gguf"), kind)


def test_a_part_smaller_than_asked_is_taken(web):
    header = header_of("phi-4-q4_k_m")

    def page(handler):
        first = int(handler.headers["Range"].partition("=")[2].partition("-")[0])
        answer_206(f"bytes {first}-{first + 7999}/{GIB}", (header + bytes(GIB >> 14))[first : first + 8000])(handler)

    web.pages["/m.gguf"] = page
    same_as_local(ask(f"{web.url}/m.gguf"), header, GIB)


def test_a_file_that_changes_meanwhile(web):
    header = header_of("gpt-oss-20b-mxfp4")

    def page(handler):
        sizes.append(1)
        first = int(handler.headers["Range"].partition("=")[2].partition("-")[0])
        piece = (header + bytes(60_000))[first : first + FIRST]
        answer_206(f"bytes {first}-{first + len(piece) - 1}/{GIB + len(sizes)}", piece)(handler)

    sizes = []
    web.pages["/m.gguf"] = page
    complaint(ask(f"{web.url}/m.gguf"), "hostile", "changed while it was read")


def test_a_compressed_answer_is_not_unpacked(web):
    bomb = gzip.compress(header_of("phi-4-q4_k_m") + bytes(50_000_000))
    web.pages["/m.gguf"] = File(bomb, ranges=False, Content_Encoding="gzip")
    complaint(ask(f"{web.url}/m.gguf"), "hostile", "compressed")


def test_a_header_that_claims_to_be_endless(web):
    array = gguf_string("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 6_000_000)
    web.pages["/m.gguf"] = File(b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + array, 1 << 45)
    complaint(ask(f"{web.url}/m.gguf"), "too-large", "longer than 48 MiB")
    assert len(web.asked) == 1


def test_a_header_that_always_goes_on(web):
    # Each key is a little longer than one would think: no guess reaches the end.
    def page(handler):
        first, last = map(int, handler.headers["Range"].partition("=")[2].split("-"))
        body = bytearray(b"GGUF" + struct.pack("<IQQ", 3, 0, 60_000))
        text = struct.pack("<I", 8) + struct.pack("<Q", 900) + b"y" * 900
        for number in range(last // len(text) + 1):
            body += struct.pack("<Q", 8) + b"%08d" % number + text
        answer_206(f"bytes {first}-{last}/{1 << 45}", bytes(body[first : last + 1]))(handler)

    web.pages["/m.gguf"] = page
    started = time.monotonic()
    found = ask(f"{web.url}/m.gguf")
    assert isinstance(found, RemoteTrouble) or "take more than 64 MiB" in found.header.problem
    assert len(web.asked) <= 8
    assert time.monotonic() - started < 15


def test_one_byte_a_second(web):
    def drip(handler):
        for _ in range(50):
            handler.wfile.write(b"G")
            handler.wfile.flush()
            time.sleep(0.2)

    web.pages["/m.gguf"] = raw(f"HTTP/1.1 206 X\r\nContent-Range: bytes 0-{FIRST - 1}/{GIB}\r\n\r\n".encode(), drip)
    started = time.monotonic()
    complaint(ask(f"{web.url}/m.gguf", seconds=0.5), "timeout", "no whole answer")
    assert time.monotonic() - started < 3


def test_silence(web):
    web.pages["/m.gguf"] = raw(b"", lambda handler: time.sleep(2))
    started = time.monotonic()
    complaint(ask(f"{web.url}/m.gguf", seconds=0.4), "timeout")
    assert time.monotonic() - started < 2


def test_all_together_take_no_longer_than_said(web):
    def slow(handler):
        time.sleep(0.3)
        handler.send_response_only(302)
        handler.send_header("Location", "/m.gguf")
        handler.end_headers()

    web.pages["/m.gguf"] = slow
    started = time.monotonic()
    complaint(ask(f"{web.url}/m.gguf", total_seconds=0.8), "timeout")
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 50_000, b"HTTP/1.1 206\r\n\r\nGGUF"]
)
def test_what_is_no_http(web, answer):
    web.pages["/m.gguf"] = raw(answer)
    assert isinstance(ask(f"{web.url}/m.gguf"), RemoteTrouble)


def test_nobody_listens():
    complaint(ask("http://127.0.0.1:9/m.gguf"), "unreachable", "connection refused")


# --- repositories ------------------------------------------------------------------------------------------------

FILES = [
    "README.md", "imatrix.gguf", "mmproj-F16.gguf", "mtp-Q4_K_M.gguf", "m-BF16.gguf", "m-IQ4_XS.gguf",
    "m-Q4_K_M.gguf", "m-Q8_0.gguf", "UD/m-UD-Q5_K_XL-00001-of-00002.gguf", "UD/m-UD-Q5_K_XL-00002-of-00002.gguf",
    "../escape-Q2_K.gguf",
]  # fmt: skip


def listing(names):
    import json

    return (200, {}, json.dumps([{"type": "file", "path": name, "size": 5} for name in names]).encode())


@pytest.mark.parametrize(
    ("text", "files", "chosen"),
    [
        ("o/r", FILES, "m-Q4_K_M.gguf"),
        ("o/r:Q8_0", FILES, "m-Q8_0.gguf"),
        ("o/r:q8_0", FILES, "m-Q8_0.gguf"),
        ("hf://o/r:iq4_xs", FILES, "m-IQ4_XS.gguf"),
        ("o/r", ["m-Q8_0.gguf", "m-Q6_K.gguf"], "m-Q8_0.gguf"),
        ("o/r", ["m-BF16.gguf", "m-Q6_K.gguf"], "m-BF16.gguf"),
        ("o/r", ["mmproj-Q4_K_M.gguf", "a b-Q4_K_M.gguf"], "a%20b-Q4_K_M.gguf"),
    ],
)
def test_the_file_llama_cpp_would_take(web, text, files, chosen):
    web.pages["/api/models/o/r/tree/main"] = listing(files)
    web.pages[f"/o/r/resolve/main/{chosen}"] = File(header_of("phi-4-q4_k_m"), GIB)
    found = ask(text, HF_ENDPOINT=web.url)
    same_as_local(found, header_of("phi-4-q4_k_m"), GIB)
    assert [entry.path for entry in web.asked] == [
        "/api/models/o/r/tree/main?recursive=true",
        f"/o/r/resolve/main/{chosen}",
    ]
    assert found.page == f"{web.url}/o/r"
    assert (found.requests, found.header_requests) == (2, 1)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (listing(FILES), "missing", "no file of the quantisation Q2_K; there are m-BF16.gguf"),
        (listing(["model.safetensors"]), "missing", "-GGUF"),
        (listing([]), "missing", "no GGUF model"),
        ((401, {"X-Error-Code": "RepoNotFound"}, b""), "gated", "no such repository"),
        ((404, {}, b""), "missing", "check its name"),
        ((200, {}, b"{]"), "hostile", "cannot be read"),
        ((200, {}, b"[" * 200_000), "hostile", "cannot be read"),
        ((200, {}, b'[1, null, {"path": 5}, {"path": "\\u0000.gguf"}]'), "missing", "no GGUF model"),
    ],
)
def test_repositories_without_it(web, answer, kind, words):
    web.pages["/api/models/o/r/tree/main"] = answer
    complaint(ask("o/r:Q2_K", HF_ENDPOINT=web.url), kind, words)


def test_a_split_model_of_a_repository(web):
    first = gguf_bytes(
        {"general.architecture": "llama", "split.no": 0, "split.count": 2, "split.tensors.count": 3},
        [("a.weight", (32, 2), 0)],
    )
    second = gguf_bytes({"split.no": 1, "split.count": 2}, [("b.weight", (32, 2), 0), ("c.weight", (32, 2), 0)])
    web.pages["/api/models/o/r/tree/main"] = listing(FILES)
    folder = "/o/r/resolve/main/UD"
    web.pages[f"{folder}/m-UD-Q5_K_XL-00001-of-00002.gguf"] = File(first)
    web.pages[f"{folder}/m-UD-Q5_K_XL-00002-of-00002.gguf"] = File(second)
    found = ask("o/r:Q5_K_XL", HF_ENDPOINT=web.url)
    assert found.total_bytes == len(first) + len(second)
    assert [tensor.name for tensor in found.parts.tensors] == ["a.weight", "b.weight", "c.weight"]
    assert found.parts.whole and (found.parts.number, found.parts.total) == (1, 2)


def test_a_later_part_leads_to_the_first(web):
    first = gguf_bytes({"split.no": 0, "split.count": 2}, [("a.weight", (32, 2), 0)])
    second = gguf_bytes({"split.no": 1, "split.count": 2}, [("b.weight", (32, 2), 0)])
    web.pages["/m-00001-of-00002.gguf"], web.pages["/m-00002-of-00002.gguf"] = File(first), File(second)
    found = ask(f"{web.url}/m-00002-of-00002.gguf")
    assert found.name == "m-00001-of-00002.gguf"
    assert found.parts.whole


@pytest.mark.parametrize(
    ("second", "missing", "kind"),
    [
        (None, ("m-00002-of-00002.gguf",), None),
        (gguf_bytes({"split.no": 1, "split.count": 3}), (), "mixed"),
        (gguf_bytes({"split.no": 1, "split.count": 2}), (), "mixed"),
        (b"<html>", (), "damaged"),
    ],
)
def test_parts_that_do_not_belong_together(web, second, missing, kind):
    first = gguf_bytes({"split.no": 0, "split.count": 2, "split.tensors.count": 2}, [("a.weight", (32, 2), 0)])
    web.pages["/m-00001-of-00002.gguf"] = File(first)
    if second is not None:
        web.pages["/m-00002-of-00002.gguf"] = File(second)
    found = ask(f"{web.url}/m-00001-of-00002.gguf")
    assert found.parts.missing == missing
    assert (found.parts.trouble and found.parts.trouble.kind) == kind
    assert not found.parts.whole
    assert (found.total_bytes is None) == (kind != "mixed")


# --- proxies -------------------------------------------------------------------------------------------------------


def test_a_proxy_of_the_environment_is_used_for_others_only(web):
    # A plain proxy gets the whole address as the path of the request.
    header = header_of("phi-4-q4_k_m")
    web.pages["http://models.invalid/m.gguf"] = File(header, GIB)
    found = ask("http://models.invalid/m.gguf", http_proxy=web.url)
    same_as_local(found, header, GIB)
    complaint(ask("http://models.invalid/m.gguf", http_proxy=web.url, no_proxy="invalid"), "unreachable")
    complaint(ask("http://127.0.0.1:9/m.gguf", http_proxy=web.url), "unreachable")


# --- facts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["qwen3.6-27b-mtp-q4_k_m", "gpt-oss-20b-mxfp4"])
def test_the_facts_are_those_of_the_downloaded_file(web, tmp_path, name):
    from dataclasses import replace

    web.pages[f"/{name}.gguf"] = File(header_of(name), INDEX[name]["file_bytes"])
    far = of_remote(Outside(), ask(f"{web.url}/{name}.gguf"))
    near = collect(Outside({}), str(model_file(tmp_path, name)))
    assert far.path == f"{web.url}/{name}.gguf"
    hashes = {field: getattr(near, field) for field in ("path", "sha256", "sha256_expected", "sha256_source")}
    assert replace(far, **hashes) == near
