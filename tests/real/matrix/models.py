"""Models of the matrix: tiny, roomy enough for an agent, and with tokens for whole words, so that prompts stay short."""

import functools
import re
from pydoc_data.topics import topics

from tests.models import tiny_llama

CTX_TRAIN = 131072
TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content or '' }}"
    "{% if tools and loop.first %}<|tools|>{% for tool in tools %}{{ tool | tojson }}{% endfor %}{% endif %}"
    "{% for call in message.tool_calls or [] %}<tool_call>\n"
    "{{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson }}\n</tool_call>{% endfor %}"
    "</s>{% endfor %}{% if add_generation_prompt %}<|assistant|>"
    "{% if 'Call the tool' in messages[-1].content | string %}~{% endif %}{% endif %}"
)
"""Prints tools behind the first message, as Qwen's does, and calls; a request to call one ends in the sign on which the model calls."""
CALL = '<tool_call>\n{"name": "report_status", "arguments": {"ok": true}}\n</tool_call>'
STRICT = TEMPLATE.replace(
    "{% for message in messages %}",
    "{% for message in messages %}{% if message.role == 'system' and not loop.first %}"
    "{{ raise_exception('System message must be at the beginning.') }}{% endif %}",
)


@functools.lru_cache(maxsize=1)
def common_words(count=900):
    """The commonest words of Python's own manual."""
    seen = {}
    for text in topics.values():
        for word in re.findall(r"[A-Za-z]{2,12}", text):
            seen[word] = seen.get(word, 0) + 1
    return tuple(sorted(seen, key=lambda word: (-seen[word] * len(word), word))[:count])


def agent_model(path, template=TEMPLATE, endless=False):
    """A model that takes tools and late system messages and has room for an agent's first request."""
    text = {"vocab": 6000, "words": common_words(), "answer": "PONG", "endless": endless, "call": CALL}
    smallest = {"layers": 1, "embedding": 16, "heads": 1, "heads_kv": 1}  # an agent's first request is read in seconds
    return tiny_llama(path, ctx_train=CTX_TRAIN, chat_template=template, **smallest, **text)
