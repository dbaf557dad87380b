"""A corrected launch command stands in every form of an answer."""

import json

import pytest

from doctor.cli import main
from doctor.report.words import key_remark

WRONG = "llama-server -m x.gguf -fa --mlock -c 64K -np 8 --host 0.0.0.0"
RIGHT = "llama-server -m x.gguf -fa on --mlock -c 65536 -np 8 --host 0.0.0.0"


@pytest.mark.parametrize("form", ["text", "markdown", "json", "html"])
def test_the_whole_command_can_be_copied(capsys, tmp_path, form):
    page = tmp_path / "page.html"
    more = ["--html", str(page)] if form == "html" else ["--format", form]
    main(
        ["check", "--launch", WRONG, "--fix", "--for-build", "9000", "--skip", "gpu,cuda,clients,ladders,server", *more]
    )
    said = capsys.readouterr().out
    if form == "html":
        said = page.read_text(encoding="utf-8").replace('<span class="n">', "").replace("</span>", "")
    if form == "json":
        assert RIGHT in [item["command"] for item in json.loads(said)["corrections"]]
    elif form == "markdown":
        assert (
            f"```sh\n{RIGHT}\n```" in said
            and "**The launch command for b9000:**\n\n- " in said
            and "- -fa → -fa on" in said
        )
    else:
        assert RIGHT in said and "-c 64K → -c 65536" in said


@pytest.mark.parametrize(("lang", "words"), [("en", "<key-2>, <key-1> stands for"), ("zh", "<key-2>, <key-1> 代表")])
def test_the_remark_on_keys_names_those_of_the_command(lang, words):
    assert words in key_remark("llama-server --api-key '<key-2>,<key-1>' --alias '<key-2>'", lang)
    assert key_remark("llama-server -m a.gguf", lang) == ""
