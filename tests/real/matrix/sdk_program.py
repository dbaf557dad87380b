"""What somebody writes with OpenAI's library: one question, streamed."""

import os
import sys

import openai

client = openai.OpenAI(max_retries=0, timeout=30)
stream = client.chat.completions.create(
    model=os.environ.get("OPENAI_MODEL", ""), stream=True, messages=[{"role": "user", "content": sys.argv[1]}]
)
text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
if not text:
    raise SystemExit("no text came")
print(text)
