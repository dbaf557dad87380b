"""The collector on split models and on checksums: several files that belong together."""

import hashlib
import shutil

import pytest

from doctor.facts.gguf.record import Gguf, collect
from doctor.facts.record import Unknown
from doctor.outside import Outside
from tests.models import html_page, tiny_llama, truncate


def facts(path, **options) -> Gguf:
    return collect(Outside(), str(path), **options)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_llama(tmp_path_factory.mktemp("tiny") / "tiny.gguf", ctx_train=2048)


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    return tiny_llama(tmp_path_factory.mktemp("split") / "tiny.gguf", split_tensors=7)


def copy(path, folder, name=None):
    return folder / shutil.copy(path, folder / (name or path.name))


def part(split, number):
    return split.with_name(split.name.replace("-00001-", f"-{number:05d}-"))


def test_a_split_model_is_one_model(split, tiny):
    found, whole = facts(split), facts(tiny)
    assert (found.split_index, found.split_count, found.split_missing) == (1, 3, ())
    assert (found.split_trouble, found.split_problem) == (None, None)
    assert found.size_bytes < whole.size_bytes
    assert found.truncated is False
    for name in ("parameters", "tensor_count", "weights_bytes", "types", "attention_layers", "kv_bytes_per_token_f16"):
        assert getattr(found, name) == getattr(whole, name)


def test_a_part_that_is_not_there(split, tmp_path):
    first = copy(split, tmp_path)
    copy(part(split, 3), tmp_path)
    found = facts(first)
    assert found.split_missing == ("tiny-00002-of-00003.gguf",)
    assert "tiny-00002-of-00003.gguf" in found.parameters.reason
    assert "tiny-00002-of-00003.gguf" in found.kv_bytes_per_token_f16.reason
    assert found.block_count == 2


def test_a_part_that_is_cut_off(split, tmp_path):
    for number in (1, 2, 3):
        copy(part(split, number), tmp_path)
    truncate(tmp_path / "tiny-00002-of-00003.gguf", 5)
    found = facts(tmp_path / split.name)
    assert found.missing_bytes == 0
    assert found.split_problem == "tiny-00002-of-00003.gguf lacks its last 5 bytes"
    assert found.split_trouble == "damaged"
    html_page(tmp_path / "tiny-00002-of-00003.gguf")
    assert "does not begin with GGUF" in facts(tmp_path / split.name).split_problem


def test_a_part_that_is_not_the_first(split):
    found = facts(part(split, 2))
    assert found.split_index == 2
    assert found.split_trouble == "not-first"
    assert "must be given the first, tiny-00001-of-00003.gguf" in found.split_problem
    assert isinstance(found.architecture, Unknown)
    assert found.kind == "model"


def test_renamed_parts(split, tmp_path):
    renamed = facts(copy(split, tmp_path, "model.gguf"))
    assert renamed.split_trouble == "renamed"
    assert "not named …-00001-of-00003.gguf" in renamed.split_problem
    swapped = facts(copy(part(split, 2), tmp_path, "tiny-00001-of-00003.gguf"))
    assert "is part 2 of 3 by its header" in swapped.split_problem


def test_parts_of_two_models(split, tmp_path):
    copy(split, tmp_path)
    copy(part(split, 2), tmp_path)
    copy(part(split, 2), tmp_path, "tiny-00003-of-00003.gguf")
    found = facts(tmp_path / split.name)
    assert found.split_trouble == "mixed"
    assert "tiny-00003-of-00003.gguf is part 2 of 3 by its header" in found.split_problem


def test_parts_that_do_not_add_up(split, tmp_path):
    for number in (1, 2, 3):
        copy(part(split, number), tmp_path)
    data = (tmp_path / split.name).read_bytes()
    at = data.index(b"split.tensors.count") + len(b"split.tensors.count") + 4
    (tmp_path / split.name).write_bytes(data[:at] + b"\x63\0" + data[at + 2 :])
    found = facts(tmp_path / split.name)
    assert (found.split_trouble, found.kind) == ("mixed", "model")
    assert "announces 99" in found.split_problem


def test_parts_joined_with_cat(split, tmp_path):
    joined = tmp_path / "tiny.gguf"
    joined.write_bytes(b"".join(part(split, number).read_bytes() for number in (1, 2, 3)))
    found = facts(joined)
    assert found.split_trouble == "joined"
    assert "joined byte by byte (cat)" in found.split_problem


def test_pieces_cut_by_size(tiny, tmp_path):
    data = tiny.read_bytes()
    for name, piece in (("tiny.gguf-split-a", data[:150_000]), ("tiny.gguf-split-b", data[150_000:])):
        (tmp_path / name).write_bytes(piece)
    first, second = facts(tmp_path / "tiny.gguf-split-a"), facts(tmp_path / "tiny.gguf-split-b")
    assert first.truncated is True
    assert "joined with cat" in first.split_problem
    assert (first.split_trouble, second.split_trouble, second.kind) == ("piece", "piece", "not-gguf")
    assert "joined with cat" in second.split_problem


# --- checksums --------------------------------------------------------------------------------------------------------


def test_hash_on_request(tiny):
    told = []
    found = facts(tiny, want_hash=True, progress=lambda done, size: told.append((done, size)))
    assert found.sha256 == hashlib.sha256(tiny.read_bytes()).hexdigest()
    assert told[-1] == (found.size_bytes, found.size_bytes)
    assert (found.sha256_expected, found.sha256_source) == (None, None)


DIGEST = "ab" * 32


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tiny.gguf.sha256", f"{DIGEST}\n"),
        ("tiny.gguf.sha256", f"{DIGEST.upper()}  tiny.gguf\n"),
        ("SHA256SUMS", f"{'cd' * 32}  other.gguf\n{DIGEST} *tiny.gguf\n"),
        ("sha256sum.txt", f"{DIGEST}  ./models/tiny.gguf\n"),
        ("SHA256SUMS", f"SHA256 (tiny.gguf) = {DIGEST}\n"),
        (".cache/huggingface/download/tiny.gguf.metadata", f"0123456789abcdef\n{DIGEST}\n1712345678.9\n"),
    ],
)
def test_checksums_beside_the_file(tiny, tmp_path, name, text):
    model = copy(tiny, tmp_path)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text)
    assert facts(model).sha256_expected == DIGEST


def test_checksums_of_other_files_say_nothing(tiny, tmp_path):
    model = copy(tiny, tmp_path)
    (tmp_path / "SHA256SUMS").write_text(f"{DIGEST}  big-tiny.gguf\n{DIGEST}\nnonsense\n")
    (tmp_path / "sha256sum.txt").write_bytes(bytes(range(256)) * 10)
    assert facts(model).sha256_expected is None


def test_blobs_are_named_by_their_digest(tiny, tmp_path):
    ollama = copy(tiny, tmp_path, f"sha256-{DIGEST}")
    assert facts(ollama).sha256_expected == DIGEST
    (tmp_path / "link.gguf").symlink_to(ollama)
    found = facts(tmp_path / "link.gguf")
    assert (found.kind, found.sha256_expected) == ("model", DIGEST)
