"""What somebody writes with OpenAI's or Anthropic's library: a .env file is read, one question asked and streamed.

Which of them is the first argument.
"""

import os
import shlex
import sys
from pathlib import Path

if Path(".env").exists():
    for line in Path(".env").read_text(encoding="utf-8").splitlines():
        for word in shlex.split(line):
            os.environ.setdefault(*word.split("=", 1))


def with_openai(question):
    """The text of the answer."""
    import openai

    client = openai.OpenAI(max_retries=0, timeout=30)
    stream = client.chat.completions.create(
        model=os.environ.get("OPENAI_MODEL", ""), stream=True, messages=[{"role": "user", "content": question}]
    )
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def with_anthropic(question):
    """The text of the answer."""
    import anthropic

    client = anthropic.Anthropic(max_retries=0, timeout=30)
    asked = [{"role": "user", "content": question}]
    with client.messages.stream(model=os.environ.get("ANTHROPIC_MODEL", ""), max_tokens=200, messages=asked) as stream:
        return "".join(stream.text_stream)


text = {"openai": with_openai, "anthropic": with_anthropic}[sys.argv[1]](sys.argv[2])
if not text:
    raise SystemExit("no text came")
print(text)
