import pytest

from doctor.launch.command import parse_argv, parse_command


def arguments(command):
    return [word.text for word in command.arguments]


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("llama-server -c 1", "llama-server"),
        ("CUDA_VISIBLE_DEVICES=0 llama-server -c 1", "llama-server"),
        ("./build/bin/llama-server -c 1", "./build/bin/llama-server"),
        ("./server -c 1", "./server"),
        ("server -c 1", "server"),
        ("sudo -u ai env A=3 nohup /opt/llama-server-vulkan -c 1 &", "/opt/llama-server-vulkan"),
        ("nice -n 5 numactl --cpunodebind=0 llama-server -c 1", "llama-server"),
        ("exec taskset -c 0-7 ./llama-server -c 1", "./llama-server"),
        ("screen -dmS llm ./llama-server -c 1", "./llama-server"),
        ("screen -dmS llama-server ./llama-server -c 1", "./llama-server"),
        ("systemd-run --unit llama-server /opt/llama-server -c 1", "/opt/llama-server"),
        ("docker exec -e A=B --user root llama-server /app/llama-server -c 1", "/app/llama-server"),
        ("kubectl exec -it llama-server-0 -- llama-server -c 1", "llama-server"),
        ("bash ./llama-server -c 1", "./llama-server"),
        ("bash -lc 'cd /opt && ./llama-server -c 1'", "./llama-server"),
        ('ssh box "nohup llama-server -c 1"', "llama-server"),
        ('tmux new -d -s llm "llama-server -c 1"', "llama-server"),
        (
            'docker run --entrypoint sh ghcr.io/ggml-org/llama.cpp:server -c "/app/llama-server -c 1"',
            "/app/llama-server",
        ),
        ("(venv) me@box:~/models$ ./llama-server -c 1", "./llama-server"),
        ("(base) [me@box ~]$ ./llama-server -c 1", "./llama-server"),
        ("[root@box llama.cpp]# ./llama-server -c 1", "./llama-server"),
        ("me@Mac llama.cpp % ./llama-server -c 1", "./llama-server"),
        ("130 me@box ~/src (git)-[master] % ./llama-server -c 1", "./llama-server"),
        ("me@box ~/src (master)> ./llama-server -c 1", "./llama-server"),
        ("➜  llama.cpp git:(master) ✗ ./llama-server -c 1", "./llama-server"),
        ("~/src » ./llama-server -c 1", "./llama-server"),
        ("(venv) PS C:\\x> .\\llama-server.exe -c 1", ".\\llama-server.exe"),
        ("docker exec -it box /app/llama-server -c 1", "/app/llama-server"),
        ("ExecStart=/usr/bin/llama-server -c 1", "/usr/bin/llama-server"),
        ("llama serve -c 1", "llama-server"),
        ('& "C:\\my llama\\llama-server.exe" -c 1', "C:\\my llama\\llama-server.exe"),
        ("-c 1", None),
    ],
)
def test_programs(text, program):
    command = parse_command(text)
    assert command.program == program
    assert arguments(command) == ["-c", "1"]


@pytest.mark.parametrize(
    "text",
    [
        "systemctl status llama-server", "docker logs llama-server", "pkill -f llama-server", "which llama-server",
        "curl http://127.0.0.1:8080/v1/models", "ollama run qwen3", "docker run ubuntu ls", "cd llama-server", "",
        "hello world", "- a point in a list", "--- a/file.c", "sudo systemctl restart llama-server",
        "sudo journalctl -u llama-server -f", "sudo cp build/bin/llama-server /usr/local/bin", "sudo docker logs -f llama-server",
        "time cmake --build build --target llama-server -j", "ssh box systemctl stop llama-server", "sudo apt install llama-server",
        "docker exec -it llama-server bash", "docker exec llama-server nvidia-smi", "kubectl logs llama-server-0",
        "docker run --name llama-server -p 8000:8000 vllm/vllm-openai --model x", 'bash -c "pkill llama-server"',
    ],
)  # fmt: skip
def test_other_commands_are_no_launch(text):
    assert parse_command(text) is None


def test_another_server_is_told_apart():
    command = parse_command("python3 -m llama_cpp.server --model x.gguf --n_ctx 4096")
    assert (command.program, arguments(command)) == ("llama_cpp.server", ["--model", "x.gguf", "--ctx-size", "4096"])


def test_variables_of_every_shell():
    text = "export A=1\n$env:B = 'x y'\nset \"C=2\"\ncd llama.cpp\nD=4 ./llama-server -c 1"
    assert parse_command(text).variables == {"A": "1", "B": "x y", "C": "2", "D": "4"}


def test_a_container():
    command = parse_command(
        "docker run --rm --gpus all -e LLAMA_ARG_CTX_SIZE=4096 --env=LLAMA_API_KEY=k \\\n"
        "  -p 127.0.0.1:11434:8080 -v ~/models:/models:ro \\\n"
        "  ghcr.io/ggml-org/llama.cpp:server-cuda -m /models/q.gguf -c 2"
    )
    assert command.image == "ghcr.io/ggml-org/llama.cpp:server-cuda"
    assert command.program is None
    assert command.variables == {"LLAMA_ARG_CTX_SIZE": "4096", "LLAMA_API_KEY": "k"}
    assert [port[:2] for port in command.ports] == [(11434, 8080)]
    assert command.mounts == (("~/models", "/models"),)
    assert arguments(command) == ["-m", "/models/q.gguf", "-c", "2"]


@pytest.mark.parametrize(
    "text",
    [
        "podman run -d local/llama.cpp:full --server -c 1",
        "docker run -it --entrypoint /app/llama-server my/image:1 -c 1",
        "docker run --rm llamacpp:dev llama-server -c 1",
    ],
)
def test_images_that_start_it_another_way(text):
    assert arguments(parse_command(text)) == ["-c", "1"]


def test_lost_continuation_marks_are_forgiven():
    command = parse_command("llama-server -m x.gguf\n  -c 4096\n  --jinja\nthe server then prints", line=7)
    assert arguments(command) == ["-m", "x.gguf", "-c", "4096", "--jinja"]
    assert [word.line for word in command.arguments] == [7, 7, 8, 8, 9]


def test_arguments_of_a_process():
    command = parse_argv(["/opt/llama.cpp/llama-server", "-m", "my model.gguf", "--alias", "$x"])
    assert command.program == "/opt/llama.cpp/llama-server"
    assert arguments(command) == ["-m", "my model.gguf", "--alias", "$x"]
    assert not any(word.open for word in command.words)
