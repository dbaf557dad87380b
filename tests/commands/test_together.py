"""Several findings about one launch command: the command with all of their changes."""

import io
import json

from doctor.cli import main
from doctor.outside import Outside

WRONG = "llama-server -m /m/a.gguf -c 8192 -np 4 -ctv q8_0 -fa off"
RIGHT = "llama-server -m /m/a.gguf -c 8192 -np 1 -ctv q8_0 -fa on"
HINT = "doctor fix --launch"


def check(capsys, launch, *words):
    status = main(
        ["check", "--launch", launch, "--only", "launch,build", "--for-build", "b10434", *words],
        Outside({"PATH": "", "HOME": "/nowhere"}),
    )
    return status, capsys.readouterr().out


def test_check_prints_it_last(tmp_path, capsys):
    file = tmp_path / "start.sh"
    file.write_text(WRONG + "\n")
    _, out = check(capsys, str(file))
    before, _, after = out.partition("with all of these changes")
    assert RIGHT not in before and RIGHT in after and f"{HINT} {file}" in after.replace("~", str(tmp_path))


def test_a_command_that_stands_in_no_file_cannot_be_written(capsys):
    _, out = check(capsys, WRONG)
    assert RIGHT in out and HINT not in out


def test_one_finding_needs_no_more(capsys):
    _, out = check(capsys, "llama-server -m /m/a.gguf -ctv q8_0 -fa off")
    assert "with all of these changes" not in out


def test_json(capsys):
    _, out = check(capsys, WRONG, "--format", "json")
    (found,) = json.loads(out)["corrections"]
    assert (found["together"], found["command"], found["build"]) == (True, RIGHT, 10434)


def test_every_server_of_a_file(tmp_path, capsys):
    file = tmp_path / "start.sh"
    file.write_text(f"{WRONG}\n{WRONG.replace('8192', '16384')} --port 81\n")
    _, out = check(capsys, str(file), "--format", "json")
    second = RIGHT.replace("8192", "16384") + " --port 81"
    assert [item["command"] for item in json.loads(out)["corrections"]] == [RIGHT, second]


def test_log_prints_it_too(capsys, monkeypatch):
    class Paste(Outside):
        def stdin(self):
            return io.BytesIO(f"$ {WRONG} --api-key sk-local-test-0123456789\n".encode())

    main(["log", "-"], Paste({"PATH": "", "HOME": "/nowhere"}))
    out = capsys.readouterr().out
    assert RIGHT in out.partition("with all of these changes")[2] and "sk-local-test" not in out
