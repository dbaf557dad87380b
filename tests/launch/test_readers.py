"""Every kind of launch file, read to words: each with its line, `?` what only running tells, `~` what is conditional."""

from pathlib import Path

import pytest

from doctor.launch.definition import NoSiblings
from doctor.launch.kinds import read_definitions
from doctor.launch.publish import Published
from doctor.launch.shell import read_script
from doctor.launch.table import load_table
from doctor.outside import Outside

FOLDER = Path(__file__).parents[2] / "fixtures/launch/readers"
TABLE = load_table(Outside())


class Files(NoSiblings):
    def __init__(self, **files):
        self.files = {name.replace("__", "/"): text for name, text in files.items()}

    def text(self, path):
        return self.files.get(path)

    def names(self, folder):
        return sorted(name.rpartition("/")[2] for name in self.files if name.rpartition("/")[0] == folder) or None


def read(name, text=None, files=None):
    text = (FOLDER / name).read_text() if text is None else text
    return read_definitions(name, text, files or NoSiblings(), TABLE).definitions


def marked(word):
    return f"{word.text}{'?' * word.open}{'~' * bool(word.maybe)}"


def arguments(definition):
    return " ".join(marked(word) for word in definition.command.arguments)


def lines(definition):
    return {word.text: word.line for word in definition.command.arguments if word.text.startswith("-")}


def test_shell_script():
    first, second, *rest = read("run.sh")
    assert arguments(first) == (
        "-m /srv/q.gguf -c 65536 --no-mmap --mmproj~ $MMPROJ?~ -fa~ on~ --temp 0.7 --top-k 40 --jinja --port 8080 -t $(nproc)?"
    )
    assert lines(first)["--no-mmap"] == 9 and lines(first)["--mmproj"] == 12 and lines(first)["-t"] == 23
    assert (first.command.program, first.command.variables) == ("./llama-server", {"GGML_CUDA_GRAPH_OPT": "1"})
    assert first.command.places == {"GGML_CUDA_GRAPH_OPT": ("", 5)}
    assert arguments(second) == "-m b.gguf -c $CTX?"  # set in another branch: not known
    assert second.command.variables["CUDA_VISIBLE_DEVICES"] == "0"
    assert [arguments(found) for found in rest] == ["-m a.gguf -c 1", "-m b.gguf -c 2", "-m c.gguf"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A='-c 1'\nllama-server $A", "-c 1"),
        ("A='-c 1'\nllama-server -m \"$A\"", "-m -c 1"),
        ('A=(-c 1)\nA+=(--jinja)\nllama-server "${A[@]}"', "-c 1 --jinja"),
        ("llama-server -c ${C:-4096}", "-c 4096"),
        (': "${C:=8192}"\nllama-server -c $C', "-c 8192"),
        ("if x; then C=1; else C=2; fi\nllama-server -c $C", "-c $C?"),
        ("C=1\nif x; then C=1; fi\nllama-server -c $C", "-c 1"),
        ("if x; then C=1; llama-server -c $C; else C=2; llama-server -c $C; fi", "-c 1 | -c 2"),
        ("for m in a b; do llama-server -m $m.gguf; done", "-m $m.gguf?"),
        ('A=--jinja\n[ -n "$X" ] && A="$A --metrics"\nllama-server $A', "--jinja --metrics~"),
        ("cd /x && export A=1 && llama-server -c $A", "-c 1"),
        ("llama-server -m a.gguf \\\n  # a remark in between ends it\n  -c 1", "-m a.gguf"),
        ('llama-server -m "a b.gguf" 2>&1 | tee log', "-m a b.gguf"),
        ("nohup sh -c 'llama-server -c 5' &", "-c 5"),
        ("cat <<EOF\nllama-server -c 1\nEOF\nllama-server -c 2", "-c 2"),
        ("run() { llama-server -c 1; }\nrun", "-c 1"),
        ('LLAMA=/opt/llama-server\n"$LLAMA" -c 1', "-c 1"),
        ('"$LLAMA_SERVER" -c 1', "-c 1"),
        ("source ./env.sh\nllama-server -c $FROM_ENV", "-c 77"),
        ("pkill llama-server; which llama-server; echo llama-server -m x; llama-server --version", ""),
        ("cmake --build build --target llama-server", ""),
        ("docker run --gpus all -p 1:8080 ghcr.io/ggml-org/llama.cpp:server -c 1", "-c 1"),
    ],
)
def test_shell_idioms(text, words):
    found = read_script(text, Files(**{"./env.sh": "FROM_ENV=77\n"}))
    assert " | ".join(arguments(item) for item in found) == words


def test_powershell():
    first, second, third = read("run.ps1")
    assert arguments(first) == (
        "-m C:\\models\\q.gguf -c 65536 --no-mmap --mmproj~ C:\\m\\mm.gguf~ --port 8080 -ngl 99 -fa"
    )
    assert lines(first)["--no-mmap"] == 8 and lines(first)["-fa"] == 15
    assert first.command.variables == {"CUDA_VISIBLE_DEVICES": "0"}
    assert arguments(second) == "-m C:\\models\\q.gguf -c 65536"
    assert arguments(third) == "-m C:\\models\\q.gguf -t $env:NUMBER_OF_PROCESSORS?"


def test_batch():
    first, second = read("run.bat")
    assert arguments(first) == ("-m C:\\models\\q.gguf -ngl 99 -c 65536 --no-mmap --mmproj~ mm.gguf~ --port %PORT%?")
    assert lines(first)["-ngl"] == 10
    assert first.command.variables == {"MODEL": "C:\\models\\q.gguf", "CUDA_VISIBLE_DEVICES": "0"}
    assert arguments(second) == "-m b.gguf -c 4096"


def test_compose():
    files = Files(**{".env": "CTX=64K\n", "keys.env": "LLAMA_API_KEY=sk-local-test\n"})
    first, second = read("compose.yml", files=files)
    assert arguments(first) == "-m /models/q.gguf -c 64K --no-mmap"
    assert lines(first) == {"-m": 21, "-c": 22, "--no-mmap": 23}
    assert (first.name, first.gpu) == ("llama", "device reservation")
    assert first.command.ports == (Published(11434, 8080, "0.0.0.0", 11),)
    assert first.command.places["LLAMA_API_KEY"] == ("keys.env", 1)
    assert first.command.places["GGML_CUDA_GRAPH_OPT"] == ("", 2)  # where the merged anchor stands
    assert (second.name, arguments(second), lines(second)) == ("sh", "-m /m.gguf -c 4096", {"-m": 32, "-c": 31})


@pytest.mark.parametrize(
    ("service", "gpu"),
    [
        ("gpus: all", "gpus"),
        ("runtime: nvidia", "runtime nvidia"),
        ("devices: [nvidia.com/gpu=all]", "devices"),
        (
            "deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1}]}}}",
            "device reservation without capabilities",
        ),
        ("restart: always", None),
    ],
)
def test_how_compose_asks_for_a_gpu(service, gpu):
    (found,) = read(
        "compose.yml",
        f"services:\n  a:\n    image: ghcr.io/ggml-org/llama.cpp:server-cuda\n    {service}\n    command: -c 1\n",
    )
    assert found.gpu == gpu


def test_compose_with_override_and_extends():
    files = Files(
        **{
            "compose.override.yml": "services:\n  a:\n    command: [-c, '2']\n    environment: [LLAMA_ARG_HOST=0.0.0.0]\n",
            "base.yml": "services:\n  base:\n    image: ghcr.io/ggml-org/llama.cpp:server\n    ports: ['8081:8080']\n",
        }
    )
    text = "services:\n  a:\n    extends: {file: base.yml, service: base}\n    command: -c 1\n"
    (found,) = read("compose.yml", text, files)
    assert arguments(found) == "-c 2" and found.command.arguments[0].file == "compose.override.yml"
    assert found.command.ports == (Published(8081, 8080, "0.0.0.0", 4, "base.yml"),)
    assert found.command.places == {"LLAMA_ARG_HOST": ("compose.override.yml", 4)}


def test_llama_swap():
    first, second = read("llama-swap.yaml")
    assert (first.name, arguments(first)) == ("a", "--port ${PORT}? --no-mmap -m a.gguf -c 8192")
    assert lines(first)["--no-mmap"] == 4 and lines(first)["-m"] == 11
    assert first.command.variables == {"CUDA_VISIBLE_DEVICES": "0"}
    assert (second.command.image, arguments(second)) == ("ghcr.io/ggml-org/llama.cpp:server", "-m /m/b.gguf")


def test_systemd_unit():
    files = Files(
        **{
            "/etc/default/llama": "T=8\nEXTRA=-ngl 3\n",
            "llama.service.d/10-gpu.conf": "[Service]\nEnvironment=CUDA_VISIBLE_DEVICES=1\n",
        }
    )
    (found,) = read("llama.service", files=files)
    assert arguments(found) == "-m /srv/100%.gguf --no-mmap -t 8 -ngl 3"
    assert lines(found)["--no-mmap"] == 10
    assert found.command.variables["CUDA_VISIBLE_DEVICES"] == "1"
    assert found.command.places["CUDA_VISIBLE_DEVICES"] == ("llama.service.d/10-gpu.conf", 2)
    files.files["llama.service.d/20-start.conf"] = (
        "[Service]\nExecStart=\nExecStart=/usr/bin/llama-server -c 5 -m %h/a.gguf\n"
    )
    (found,) = read("llama.service", files=files)
    assert arguments(found) == "-c 5 -m %h/a.gguf?"
    assert found.command.arguments[0].file == "llama.service.d/20-start.conf"


def test_presets():
    (found,) = read("models.ini")
    assert (found.name, arguments(found)) == (
        "qwen",
        "-c 8192 --no-mmap --model /m/q.gguf --n-gpu-layers 99 --no-jinja --foo-bar 3",
    )
    assert lines(found)["--no-jinja"] == 8


def test_config_ini():
    (found,) = read(
        "config.ini", "[*]\nctx-size = 4096 ; remark\nnobody-knows = 1\n[default]\nmlock = on\n[other]\nc = 1\n"
    )
    assert arguments(found) == "--ctx-size 4096 --mlock"


def test_dockerfile():
    (found,) = read("Dockerfile")
    assert (arguments(found), lines(found)) == ("-m /models/q.gguf --no-mmap", {"-m": 3, "--no-mmap": 4})
    assert found.command.variables == {"LLAMA_ARG_HOST": "0.0.0.0", "LLAMA_ARG_PORT": "8080"}
    (shell,) = read("Dockerfile", "FROM ubuntu\nENV C=9\nCMD llama-server -m a.gguf \\\n  -c $C\n")
    assert lines(shell) == {"-m": 3, "-c": 4}
    assert read("Dockerfile", 'FROM nginx\nCMD ["nginx"]\n') == []


def test_modelfile():
    (found,) = read("Modelfile")
    assert (found.command.program, arguments(found)) == ("ollama", "--model ./q.gguf --ctx-size 8192")


@pytest.mark.parametrize("text", ["ENV\n", "ENV  \nCMD []\n", "FROM\nCMD {", 'FROM x\nCMD ["a"', "CMD\nENTRYPOINT\n"])
def test_half_written_dockerfiles(text):
    assert read("Dockerfile", text) == []
