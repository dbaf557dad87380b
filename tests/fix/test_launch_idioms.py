"""Launch files as people write them: where the words come from variables, macros, other files; and what is left alone."""

import subprocess
from dataclasses import replace

import pytest

from doctor.facts.record import not_collected
from doctor.facts.server.record import Server
from tests.fix.launching import AGENT, changed_lines, put_right, wrong

IMAGE = "services:\n  a:\n    image: ghcr.io/ggml-org/llama.cpp:server\n"


@pytest.mark.parametrize(
    ("name", "text", "old", "new"),
    [
        ("a.sh", "CTX=64K   # context\nllama-server -m a.gguf -c $CTX\n", ["CTX=64K   # context"], ["CTX=65536   # context"]),
        ("a.sh", 'CTX="${CTX:-64K}"\nllama-server -c "$CTX"\n', ['CTX="${CTX:-64K}"'], ['CTX="${CTX:-65536}"']),
        ("a.sh", "llama-server -c ${C:-64K} --port 1\n", ["llama-server -c ${C:-64K} --port 1"], ["llama-server -c ${C:-65536} --port 1"]),
        ("a.sh", 'A="-c 64K"\nA="$A --no-mmap"\nllama-server $A\n', ['A="-c 64K"', 'A="$A --no-mmap"'], ['A="-c 65536"', 'A="$A --load-mode none"']),
        ("a.sh", "A=(-c 64K)\nif x; then A+=(--no-mmap); fi\nllama-server \"${A[@]}\"\n", ["A=(-c 64K)", "if x; then A+=(--no-mmap); fi"], ["A=(-c 65536)", "if x; then A+=(--load-mode none); fi"]),
        ("a.sh", "if x; then\n\tllama-server -c 64K\nelse\n\tllama-server -c 32K\nfi\n", ["\tllama-server -c 64K", "\tllama-server -c 32K"], ["\tllama-server -c 65536", "\tllama-server -c 32768"]),
        ("a.sh", "# llama-server -c 64K\nnohup sh -c 'llama-server -c 64K' &\n", ["nohup sh -c 'llama-server -c 64K' &"], ["nohup sh -c 'llama-server -c 65536' &"]),
        ("a.sh", "docker run --gpus all -e LLAMA_ARG_CTX_SIZE=64K ghcr.io/ggml-org/llama.cpp:server -m /m\n", ["docker run --gpus all -e LLAMA_ARG_CTX_SIZE=64K ghcr.io/ggml-org/llama.cpp:server -m /m"], ["docker run --gpus all -e LLAMA_ARG_CTX_SIZE=65536 ghcr.io/ggml-org/llama.cpp:server -m /m"]),
        ("a.sh", "export LLAMA_ARG_CTX_SIZE='64K' # c\nllama-server -m a.gguf\n", ["export LLAMA_ARG_CTX_SIZE='64K' # c"], ["export LLAMA_ARG_CTX_SIZE='65536' # c"]),
        ("a.sh", "LLAMA_ARG_DRAFT_MAX=8 llama-server -m a.gguf\n", ["LLAMA_ARG_DRAFT_MAX=8 llama-server -m a.gguf"], ["LLAMA_ARG_SPEC_DRAFT_N_MAX=8 llama-server -m a.gguf"]),
        ("a.sh", "llama-server -m a.gguf \\\n  -c 8192 \\\n  -np 4 --foo \\\n  \"$@\"\n", ["  -np 4 --foo \\"], ["  -np 1 \\"]),
        ("a.sh", "llama-server --chat-template-kwargs '{enable_thinking: False}' -c 1\n", ["llama-server --chat-template-kwargs '{enable_thinking: False}' -c 1"], ["llama-server --chat-template-kwargs '{\"enable_thinking\": false}' -c 1"]),
        ("a.sh", 'llama-server --ctx-size=$N --draft-max "$(nproc)" --foo $X\n', ['llama-server --ctx-size=$N --draft-max "$(nproc)" --foo $X'], ['llama-server --ctx-size $N --spec-draft-n-max "$(nproc)"']),
        ("a.bat", "@echo off\r\nset CTX=64K\r\nset \"ARGS=-c %CTX% --no-mmap\"\r\nllama-server.exe %ARGS%\r\n", ["set CTX=64K", 'set "ARGS=-c %CTX% --no-mmap"'], ["set CTX=65536", 'set "ARGS=-c %CTX% --load-mode none"']),
        ("a.ps1", '$ctx = "64K"\n$a = @(\n  "-c"\n  $ctx\n  "--no-mmap"\n)\n& llama-server.exe @a\n', ['$ctx = "64K"', '  "--no-mmap"'], ['$ctx = "65536"', '  "--load-mode", "none"']),
        ("a.ps1", '$env:LLAMA_ARG_CTX_SIZE = "64K"\n.\\llama-server.exe -m a.gguf -fa `\n  --foo\n', ['$env:LLAMA_ARG_CTX_SIZE = "64K"', ".\\llama-server.exe -m a.gguf -fa `", "  --foo"], ['$env:LLAMA_ARG_CTX_SIZE = "65536"', ".\\llama-server.exe -m a.gguf -fa on"]),
        ("a.ps1", 'Start-Process -FilePath llama-server.exe -ArgumentList "-m a.gguf -c 64K" -NoNewWindow\n', ['Start-Process -FilePath llama-server.exe -ArgumentList "-m a.gguf -c 64K" -NoNewWindow'], ['Start-Process -FilePath llama-server.exe -ArgumentList "-m a.gguf -c 65536" -NoNewWindow']),
        ("compose.yml", f"{IMAGE}    environment:\n      LLAMA_ARG_CTX_SIZE: 64K  # c\n      LLAMA_ARG_DRAFT_MAX: 8\n    command: -m /m\n", ["      LLAMA_ARG_CTX_SIZE: 64K  # c", "      LLAMA_ARG_DRAFT_MAX: 8"], ["      LLAMA_ARG_CTX_SIZE: 65536  # c", "      LLAMA_ARG_SPEC_DRAFT_N_MAX: 8"]),
        ("compose.yml", f"{IMAGE}    environment:\n      - 'LLAMA_ARG_FLASH_ATTN=yes'\n    command: -m /m\n", ["      - 'LLAMA_ARG_FLASH_ATTN=yes'"], ["      - 'LLAMA_ARG_FLASH_ATTN=on'"]),
        ("compose.yml", f"{IMAGE}    environment:\n      LLAMA_ARG_FLASH_ATTN: enable\n    command: -m /m -c 64K\n", ["      LLAMA_ARG_FLASH_ATTN: enable", "    command: -m /m -c 64K"], ['      LLAMA_ARG_FLASH_ATTN: "on"', "    command: -m /m -c 65536"]),
        ("compose.yml", "services:\n  a:\n    build: .\n    entrypoint: [/bin/sh, -c]\n    command:\n      - |\n        exec /app/llama-server -m /m.gguf -c 64K $$X\n", ["        exec /app/llama-server -m /m.gguf -c 64K $$X"], ["        exec /app/llama-server -m /m.gguf -c 65536 $$X"]),
        ("compose.yml", f"x-a: &args\n  - -m\n  - /m\n  - -c\n  - 64K\n{IMAGE}    command: *args\n  b:\n    image: ghcr.io/ggml-org/llama.cpp:server\n    command: *args\n", ["  - 64K"], ['  - "65536"']),
        ("Dockerfile", "FROM ghcr.io/ggml-org/llama.cpp:server\nENV LLAMA_ARG_CTX_SIZE=64K A=b\nCMD llama-server -m /m --no-mmap\n", ["ENV LLAMA_ARG_CTX_SIZE=64K A=b", "CMD llama-server -m /m --no-mmap"], ["ENV LLAMA_ARG_CTX_SIZE=65536 A=b", "CMD llama-server -m /m --load-mode none"]),
        ("l.service", "[Service]\nEnvironment=\"LLAMA_ARG_CTX_SIZE=64K\" \"ARGS=--no-mmap --metrics\"\nExecStart=/usr/bin/llama-server -m /100%%.gguf $ARGS \\\n# remark\n  -fa\n", ['Environment="LLAMA_ARG_CTX_SIZE=64K" "ARGS=--no-mmap --metrics"', "  -fa"], ['Environment="LLAMA_ARG_CTX_SIZE=65536" "ARGS=--load-mode none --metrics"', "  -fa on"]),
        ("llama-swap.yaml", "macros:\n  base: llama-server --port ${PORT} --no-mmap\n  ctx: 64K\nmodels:\n  a:\n    cmd: ${base} -m a -c ${ctx}\n  b:\n    cmd: ${base} -m b\n    env: [LLAMA_ARG_CTX_SIZE=64K]\n", ["  base: llama-server --port ${PORT} --no-mmap", "  ctx: 64K", "    env: [LLAMA_ARG_CTX_SIZE=64K]"], ["  base: llama-server --port ${PORT} --load-mode none", "  ctx: 65536", "    env: [LLAMA_ARG_CTX_SIZE=65536]"]),
        ("m.ini", "[*]\nc=64K ; all\n\n[a]\nmodel = /a\nno-mmap=1\n[b]\nmodel = /b\nLLAMA_ARG_DRAFT_MAX = 8\n", ["c=64K ; all", "no-mmap=1", "LLAMA_ARG_DRAFT_MAX = 8"], ["c=65536 ; all", "load-mode=none", "spec-draft-n-max = 8"]),
        ("config.ini", "ctx-size = 64K\nmlock = on\n", ["ctx-size = 64K", "mlock = on"], ["ctx-size = 65536", "load-mode = mlock"]),
    ],
)  # fmt: skip
def test_changed_where_it_stands(tmp_path, name, text, old, new):
    fixed = put_right(tmp_path, name, text)
    assert changed_lines(text, fixed.texts[name]) == (old, new) and fixed.reasons() == []


@pytest.mark.parametrize(
    ("name", "text", "siblings", "changed", "old", "new"),
    [
        ("compose.yml", f"{IMAGE}    command: -m /m -c ${{CTX}}\n", {".env": "# mine\nCTX=64K # c\n"}, ".env", ["CTX=64K # c"], ["CTX=65536 # c"]),
        ("compose.yml", f"{IMAGE}    env_file: [k.env]\n    command: -m /m\n", {"k.env": "export LLAMA_ARG_CTX_SIZE='64K'\r\nX=1\r\n"}, "k.env", ["export LLAMA_ARG_CTX_SIZE='64K'"], ["export LLAMA_ARG_CTX_SIZE='65536'"]),
        ("compose.yml", f"{IMAGE}    command: -m /m\n", {"compose.override.yml": "services:\n  a:\n    command: [-c, 64K]\n"}, "compose.override.yml", ["    command: [-c, 64K]"], ['    command: [-c, "65536"]']),
        ("l.service", "[Service]\nExecStart=/usr/bin/llama-server -m /m\n", {"l.service.d/10-x.conf": "[Service]\nExecStart=\nExecStart=/usr/bin/llama-server -c 64K\n"}, "10-x.conf", ["ExecStart=/usr/bin/llama-server -c 64K"], ["ExecStart=/usr/bin/llama-server -c 65536"]),
        ("l.service", "[Service]\nEnvironmentFile=-{folder}/default\nExecStart=/usr/bin/llama-server -m /m $ARGS\n", {"default": "ARGS=-c 64K\n"}, "default", ["ARGS=-c 64K"], ["ARGS=-c 65536"]),
        ("a.sh", ". ./env.sh\nllama-server -c $CTX\n", {"env.sh": "CTX=64K\n"}, "env.sh", ["CTX=64K"], ["CTX=65536"]),
    ],
)  # fmt: skip
def test_changed_in_the_file_it_comes_from(tmp_path, name, text, siblings, changed, old, new):
    fixed = put_right(tmp_path, name, text.replace("{folder}", str(tmp_path)), siblings=siblings)
    assert list(fixed.texts) == [changed] and changed_lines(
        siblings[{"10-x.conf": "l.service.d/10-x.conf"}.get(changed, changed)], fixed.texts[changed]
    ) == (old, new)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.sh", "X=64K\nllama-server -c $X -b $X\n", "more depends on it"),
        ("a.sh", "C=64K\nllama-server -c $C\nllama-server -b 2048 --alias $C\n", "more depends on it"),
        ("a.sh", 'llama-server "--ctx-size=$N" --metrics\n', "only known when it runs"),
        ("compose.yml", f"{IMAGE}    command: -m /m -fmoe\n", "an option of the fork"),
        ("a.sh", "llama-server --config server.json\n", "give the options themselves"),
    ],
)
def test_left_alone_with_a_reason(tmp_path, name, text, reason):
    fixed = put_right(tmp_path, name, text)
    assert fixed.texts == {} and reason in fixed.reasons()[0]


def test_one_fault_that_cannot_be_changed_does_not_stop_the_others(tmp_path):
    fixed = put_right(tmp_path, "a.sh", "X=64K\nllama-server -c $X -b $X --no-mmap\n")
    assert fixed.texts["a.sh"] == "X=64K\nllama-server -c $X -b $X --load-mode none\n" and fixed.reasons()


def test_one_file_at_a_time(tmp_path):
    text = f"{IMAGE}    command: -m /m -c ${{CTX}} --no-mmap\n"
    fixed = put_right(tmp_path, "compose.yml", text, siblings={".env": "CTX=64K\n"})
    assert list(fixed.texts) == ["compose.yml"] and "another file" in fixed.reasons()[0]


def test_without_a_build_only_what_is_wrong_on_every_build(tmp_path):
    text = "llama-server -m a.gguf -c 64K --no-mmap --draft-max 8 --ctx-szie=1\n"
    fixed = put_right(tmp_path, "a.sh", text, build=None)
    assert fixed.arguments == ["-m a.gguf --no-mmap --draft-max 8 --ctx-size 1"]
    assert set(fixed.reasons()) == {"build-unknown"}


def test_a_remark_in_another_encoding_stays(tmp_path):
    data = "@echo off\r\nrem 启动\r\nllama-server.exe -c 64K\r\n".encode("gbk")
    assert put_right(tmp_path, "a.bat", data).data["a.bat"] == data.replace(b"64K", b"65536")


def test_new_options_stand_on_a_line_of_their_own_where_the_others_do(tmp_path):
    text = "llama-server -m a.gguf \\\n    -c 65536 \\\n    --port 1 # mine\n"
    fixed = put_right(tmp_path, "a.sh", text, build=7000, facts={"clients": (AGENT,)})
    assert changed_lines(text, fixed.texts["a.sh"]) == (["    --port 1 # mine"], ["    --port 1 --jinja # mine"])
    text = text.replace(" # mine", "")
    fixed = put_right(tmp_path, "a.sh", text, build=7000, facts={"clients": (AGENT,)})
    assert fixed.texts["a.sh"] == text.replace("--port 1\n", "--port 1 \\\n    --jinja\n")


def test_what_a_shell_makes_of_it(tmp_path):
    """Held against bash itself: the arguments that the program gets are those that were meant."""
    text = (
        '#!/bin/bash\nCTX=64K\nMORE="--no-mmap --metrics"\nARGS=(\n  -m "a b.gguf"   # the model\n  -c "$CTX"\n)\n'
        '[ -n "$FAST" ] && ARGS+=(-fa)\nllama-server "${ARGS[@]}" $MORE --foo \\\n  --draft-max 8 "$@"\n'
    )
    fixed = put_right(tmp_path, "start.sh", text)
    program = tmp_path / "llama-server"
    program.write_text('#!/bin/bash\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    (tmp_path / "start.sh").write_text(fixed.texts["start.sh"])
    done = subprocess.run(
        ["bash", str(tmp_path / "start.sh"), "--port", "1"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "FAST": "1"},
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert done.stdout.split("\n")[:-1] == [
        "-m", "a b.gguf", "-c", "65536", "-fa", "on", "--load-mode", "none", "--metrics", "--spec-draft-n-max", "8",
        "--port", "1",
    ]  # fmt: skip


def test_a_guess_never_takes_the_place_of_what_is_given(tmp_path):
    """A second model file without an option is some other file: the model that is given stays."""
    fixed = put_right(tmp_path, "a.sh", "llama-server --model a.gguf mmproj.gguf -c 64K\n")
    assert fixed.texts["a.sh"] == "llama-server --model a.gguf mmproj.gguf -c 65536\n"
    assert [problem.kind for problem in wrong(fixed.launches[0])] == ["stray-word"]


def test_what_a_variable_says_already_is_no_change(tmp_path):
    text = f"{IMAGE}    environment:\n      LLAMA_ARG_CTX_SIZE: 65536\n    command: -m /m\n    ports: ['8080:8080']\n"
    asks = "http://127.0.0.1:8080/v1/chat/completions"
    client = replace(AGENT, request_url=asks, context_needed=12166)
    server = replace(not_collected(Server, "x"), url="http://127.0.0.1:8080", n_ctx=4096)
    fixed = put_right(tmp_path, "compose.yml", text, facts={"clients": (client,), "server": server})
    assert fixed.texts == {} and not fixed.improved.done
    assert "context/slot-too-small-for-agent" in {finding.rule for finding in fixed.improved.told}
