"""Launch files on disk: named by the user or found in the current folder, and what they may and may not set off."""

import json

import pytest

from doctor.cli import main
from doctor.facts.launch import record as launch
from doctor.facts.launch.record import Seen, find, judge
from doctor.facts.record import Unknown, from_json, to_json
from doctor.outside import Outside
from doctor.secrets import Vault


class Here(Outside):
    """This machine without its processes, in a folder of the test's own."""

    def __init__(self, folder, home=None):
        super().__init__({"HOME": str(home or folder), "PATH": "/usr/bin"})
        self._here = str(folder)
        self.ran = []

    def folder(self):
        return self._here

    def psutil(self):
        class Nothing:
            Error = OSError

            @staticmethod
            def process_iter(attributes):
                return iter(())

        return Nothing

    def run(self, argv, **rest):
        self.ran.append(argv)
        return super().run(argv, **rest)


def judged(outside, text, build=11434):
    seen = find(outside, Vault(), text=text)
    assert isinstance(seen, Seen), seen
    return judge(outside, Vault(), seen, build)


def test_a_named_file(tmp_path):
    script = tmp_path / "my start.sh"
    script.write_text("export GGML_CUDA_GRAPH_OPT=1\nllama-server -m a.gguf \\\n  --no-mmap -c 64K\n")
    found = judged(Here(tmp_path), str(script))
    assert (found.source, found.file, found.file_kind) == ("file", str(script), "shell")
    assert [(problem.kind, problem.source, problem.line) for problem in found.problems] == [
        ("renamed", str(script), 3),
        ("misread", str(script), 3),
    ]
    assert found.place_of("ctx_size") == ("-c 64K", str(script), 3)
    assert found.place_of("environment['GGML_CUDA_GRAPH_OPT']") == ("GGML_CUDA_GRAPH_OPT=1", str(script), 1)
    assert from_json(launch.Launch, json.loads(json.dumps(to_json(found)))) == found


def test_a_conditional_option_is_unknown(tmp_path):
    (tmp_path / "run.sh").write_text("A=(-m a)\nif x; then A+=(-c 4096 --jinja); fi\nllama-server ${A[@]}\n")
    found = judged(Here(tmp_path), str(tmp_path / "run.sh"))
    for value in (found.ctx_size, found.jinja):
        assert isinstance(value, Unknown) and "only runs under a condition" in value.reason
    assert found.model == "a"


def test_found_in_the_current_folder(tmp_path):
    (tmp_path / "compose.yml").write_text(
        "services:\n  a:\n    image: ghcr.io/ggml-org/llama.cpp:server\n    command: -c 1\n"
    )
    (tmp_path / "notes.txt").write_text("llama-server -m x\n")
    found = judged(Here(tmp_path), None)
    assert (found.source, found.file_kind, found.name, found.ctx_size) == ("folder", "compose", "a", 1)


def test_nothing_in_the_current_folder(tmp_path):
    assert find(Here(tmp_path), Vault(), text=None) is None


def test_a_file_of_the_folder_reads_only_below_it(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "other.env").write_text("LLAMA_ARG_CTX_SIZE=5\n")
    (inside / "own.env").write_text("LLAMA_ARG_PORT=6\n")
    (inside / "compose.yml").write_text(
        "services:\n  a:\n    image: ghcr.io/ggml-org/llama.cpp:server\n    env_file: [../other.env, own.env]\n    command: -m a\n"
    )
    assert judged(Here(inside), None).environment == {"LLAMA_ARG_HOST": "0.0.0.0", "LLAMA_ARG_PORT": "6"}
    named = judged(Here(inside), str(inside / "compose.yml"))
    assert named.environment["LLAMA_ARG_CTX_SIZE"] == "5"


def test_the_program_of_a_file_is_not_run(tmp_path):
    from doctor.facts.collect import collect
    from doctor.facts.side_by_side import Wishes

    program = tmp_path / "llama-server"
    program.write_text("#!/bin/sh\ntouch " + str(tmp_path / "it-ran") + "\n")
    program.chmod(0o755)
    (tmp_path / "run.sh").write_text(f"LD_LIBRARY_PATH=/evil {program} -m a.gguf\n")
    for named in (str(tmp_path / "run.sh"), None):
        outside = Here(tmp_path)
        facts = collect(outside, Vault(), Wishes(launch=named, subjects=("launch", "build")))
        assert isinstance(facts.build.path, Unknown) and "--binary" in facts.build.path.reason
        assert not any(str(tmp_path) in word for argv in outside.ran for word in argv)
    assert not (tmp_path / "it-ran").exists()


def test_config_ini_is_read_last(tmp_path):
    folder = tmp_path / ".config/llama.cpp"
    folder.mkdir(parents=True)
    (folder / "config.ini").write_text("ctx-size = 4096\nthreads = 3\nno-mmap = on\n")
    found = judged(Here(tmp_path), "LLAMA_ARG_THREADS=5 llama-server -m a -c 1")
    assert (found.ctx_size, found.threads, found.config_files) == (1, 5, (str(folder / "config.ini"),))
    assert [(problem.kind, problem.source, problem.line) for problem in found.problems] == [
        ("renamed", str(folder / "config.ini"), 3)
    ]
    assert judged(Here(tmp_path), "llama-server -m a", build=10397).ctx_size is None
    assert judged(Here(tmp_path), "docker run ghcr.io/ggml-org/llama.cpp:server -m a").ctx_size is None


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("compose.yml", "services: [\n", "compose.yml: line 2: not valid YAML"),
        ("run.sh", "echo hello\n", "run.sh: it starts no llama-server as far as reading tells"),
        ("blob.sh", "\0\0", "blob.sh: not a text"),
    ],
)
def test_unusable_files_are_refused_in_a_line(tmp_path, capsys, name, text, words):
    (tmp_path / name).write_text(text)
    assert main(["check", "--launch", str(tmp_path / name), "--only", "launch"], Here(tmp_path)) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_a_number_is_a_process(tmp_path, capsys):
    assert main(["check", "--launch", "999999", "--only", "launch"], Here(tmp_path)) == 2
    assert "process 999999 is no llama-server" in capsys.readouterr().err


def test_every_server_of_a_file_is_looked_at(tmp_path, capsys):
    file = tmp_path / "llama-swap.yaml"
    file.write_text("models:\n  a:\n    cmd: llama-server -m a.gguf\n  b:\n    cmd: llama-server -m b.gguf -c 64K\n")
    assert main(["check", "--launch", str(file), "--only", "launch", "--format", "json"], Here(tmp_path)) == 1
    (finding,) = [
        item for item in json.loads(capsys.readouterr().out)["findings"] if item["rule"] == "launch/value-misread"
    ]
    assert finding["evidence"][0]["line"] == 5 and finding["evidence"][0]["source"].endswith("llama-swap.yaml")
