"""Launch files of servers that are not llama-server are read, and left as they are."""

import pytest

from doctor.cli import main
from doctor.outside import Outside


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "#!/bin/sh\npython3 -m llama_cpp.server --model q.gguf --n_ctx 64K --host 0.0.0.0\n"),
        ("server.json", '{"host": "0.0.0.0", "models": [{"model": "q.gguf", "use_mmap": false}]}\n'),
    ],
)
def test_nothing_is_written(tmp_path, capsys, name, text):
    file = tmp_path / name
    file.write_text(text)
    words = ["fix", "--launch", str(file), "--for-build", "11434", "--yes"]
    main(words, Outside({"PATH": "", "HOME": str(tmp_path)}))
    shown = capsys.readouterr()
    assert file.read_text() == text
    assert "--ctx-size" not in shown.out and "--load-mode" not in shown.out
