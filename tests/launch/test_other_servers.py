"""Settings of LM Studio and of llama-cpp-python's server, read as llama-server's options of the same meaning."""

from pathlib import Path

import pytest

from doctor.cli import main
from doctor.facts.launch.record import collect
from doctor.facts.record import Unknown
from doctor.launch.definition import DefinitionError, NoSiblings
from doctor.launch.kinds import kind_of, read_definitions
from doctor.launch.table import load_table
from doctor.outside import Outside
from doctor.secrets import Vault

FOLDER = Path(__file__).parents[2] / "fixtures/launch/readers"
STUDIO = (FOLDER / "lm-studio.json").read_text()
TABLE = load_table(Outside())


def read(name, text):
    return read_definitions(name, text, NoSiblings(), TABLE).definitions


def words(definition):
    return " ".join(word.text for word in definition.command.arguments)


def test_llama_cpp_python():
    first, second = read("server.json", (FOLDER / "llama-cpp-python.json").read_text())
    server = "--host 0.0.0.0 --port 8000"
    assert (first.name, first.command.program) == ("q", "llama_cpp.server")
    assert words(first) == (
        f"{server} --model models/q.gguf --alias q --n-gpu-layers all --ctx-size 32768 --batch-size 512 --flash-attn on "
        "--cache-type-k q8_0 --tensor-split 0.5,0.5 --no-mmap"
    )
    assert (second.name, words(second)) == ("models/e.gguf", f"{server} --model models/e.gguf --embedding")
    lines = {word.text: word.line for word in first.command.arguments}
    assert (lines["--port"], lines["--ctx-size"], lines["--no-mmap"]) == (3, 10, 16)


def test_llama_cpp_python_as_yaml():
    text = "host: 0.0.0.0\nmodels:\n  - model: q.gguf\n    n_ctx: 4096\n"
    assert kind_of("config.yaml", text) == "llama-cpp-python"
    (found,) = read("config.yaml", text)
    assert words(found) == "--host 0.0.0.0 --model q.gguf --ctx-size 4096"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "python3 -m llama_cpp.server --model q.gguf --n_gpu_layers=35 --n_ctx 8192 --chat_format chatml",
            {"model": "q.gguf", "n_gpu_layers": "35", "ctx_size": 8192, "parallel": Unknown},
        ),
        (
            "export N_CTX=4096 N_GPU_LAYERS=-1 HOST=0.0.0.0\npython -m llama_cpp.server --model q.gguf --n_ctx 2048",
            {"ctx_size": 2048, "n_gpu_layers": "all", "host": "0.0.0.0"},
        ),
        (
            "python -m llama_cpp.server --model $MODEL --offload_kqv false",
            {"model": Unknown, "no_kv_offload": True, "port": Unknown},
        ),
        ("python -m llama_cpp.server --config_file server.json", {"model": Unknown, "ctx_size": Unknown}),
    ],
)  # fmt: skip
def test_a_command_of_llama_cpp_python(text, found):
    launch = collect(Outside({"PATH": "", "HOME": "/home/me"}), Vault(), text=text, build_number=11434)
    for name, value in found.items():
        assert isinstance(getattr(launch, name), Unknown) if value is Unknown else getattr(launch, name) == value
    assert (launch.problems, launch.fixed_command) == ((), None)  # its options are not llama-server's to refuse


def test_lm_studio_alone():
    (found,) = read("lm-studio.json", STUDIO)
    assert found.command.program == "lm-studio"
    assert words(found) == (
        "--ctx-size 131072 --parallel 1 --n-gpu-layers all --flash-attn on --cache-type-k q8_0 --batch-size 2048 --no-mmap "
        "--no-kv-offload --temp 0.6"
    )
    assert {word.text: word.line for word in found.command.arguments}["--ctx-size"] == 11


def test_lm_studio_in_its_own_folder(tmp_path):
    """The path names the model, and the server's address lies beside; a share of the layers is no number."""
    root = tmp_path / ".lmstudio"
    saved = root / ".internal/user-concrete-model-default-config/lmstudio-community/Q-GGUF/Q-Q4_K_M.gguf.json"
    saved.parent.mkdir(parents=True)
    saved.write_text(STUDIO.replace('offloadRatio", "value": 1', 'offloadRatio", "value": 0.5'))
    model = root / "models/lmstudio-community/Q-GGUF/Q-Q4_K_M.gguf"
    model.parent.mkdir(parents=True)
    model.write_text("")
    (root / ".internal/http-server-config.json").write_text(
        '{"port": 1234, "networkInterface": "0.0.0.0", "cors": true}'
    )
    outside = Outside({"PATH": "", "HOME": str(tmp_path)})
    launch = collect(outside, Vault(), text=str(saved), build_number=11434)
    assert (launch.model, launch.host, launch.port, launch.ctx_size) == (str(model), "0.0.0.0", 1234, 131072)
    assert (launch.file_kind, launch.name) == ("json", "Q-Q4_K_M.gguf")
    assert launch.n_gpu_layers == Unknown("the settings do not say: LM Studio decides")
    model.unlink()  # the folder of models was moved: nothing is guessed
    assert isinstance(collect(outside, Vault(), text=str(saved), build_number=11434).model, Unknown)


@pytest.mark.parametrize(
    ("ratio", "layers"),
    [('"max"', "all"), ("1", "all"), ('"off"', "0"), ("0", "0"), ("32", "32"), ("0.25", None), ('"x"', None)],
)
def test_layers_of_lm_studio(ratio, layers):
    text = f'{{"load": {{"fields": [{{"key": "llm.load.llama.acceleration.offloadRatio", "value": {ratio}}}]}}}}'
    (found,) = read("a.json", text)
    assert words(found) == (f"--n-gpu-layers {layers}" if layers else "")


def test_the_server_of_lm_studio():
    (found,) = read("http-server-config.json", '{\n"port": 1234,\n"networkInterface": "127.0.0.1"}')
    assert words(found) == "--host 127.0.0.1 --port 1234"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "line 1: JSON, but not an object"),
        ('{"model": "q.gguf", "ctx_size": 4096}', "llama-server itself reads no JSON"),
        ('{"models": [', "not valid JSON"),
        ("[" * 5000, "nesting depth|nested more than"),
        ('{"load": {"fields": ' + "[" * 70 + "]" * 70 + "}}", "nested more than 64 deep"),
    ],
)
def test_other_json(text, message):
    with pytest.raises(DefinitionError, match=message):
        read("server.json", text)


@pytest.mark.parametrize(
    "text", ["{}", '{"load": 1}', '{"load": {"fields": [1, {"key": 2}, {"key": "llm.load.contextLength"}]}}']
)
def test_odd_json_is_no_crash(text):
    try:
        read("server.json", text)
    except DefinitionError as error:
        assert "\n" not in str(error)


def test_checked_by_the_command_line(tmp_path, capsys):
    main(
        ["check", "--launch", str(FOLDER / "lm-studio.json"), "--only", "launch"],
        Outside({"PATH": "", "HOME": str(tmp_path)}),
    )
    shown = capsys.readouterr().out
    assert "--ctx-size 131072 --parallel 1" in shown and "unknown option" not in shown


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("python -m llama_cpp.server --model q.gguf", ["n_gpu_layers -1", "n_ctx 32768"]),
        ("python -m llama_cpp.server --model q.gguf --n_gpu_layers -1 --n_ctx 32768", []),
        ("python -m llama_cpp.server --config_file server.json", []),
        ("llama-server -m q.gguf", []),
    ],
)
def test_the_defaults_of_llama_cpp_python(tmp_path, capsys, text, told):
    main(["check", "--launch", text, "--only", "launch"], Outside({"PATH": "", "HOME": str(tmp_path)}))
    shown = capsys.readouterr().out
    assert [words for words in ("n_gpu_layers -1", "n_ctx 32768") if f"--{words}" in shown] == told
