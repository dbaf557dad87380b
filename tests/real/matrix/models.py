"""Models of the matrix: tiny, roomy enough for an agent, and with tokens for whole words, so that prompts stay short."""

import functools
import re
from pydoc_data.topics import topics

from tests.models import TOOL_TEMPLATE, tiny_llama

CTX_TRAIN = 131072
STRICT = TOOL_TEMPLATE.replace(
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


def agent_model(path, template=TOOL_TEMPLATE):
    """A model that takes tools and late system messages and has room for an agent's first request."""
    text = {"vocab": 6000, "words": common_words(), "answer": "PONG"}
    smallest = {"layers": 1, "embedding": 16, "heads": 1, "heads_kv": 1}  # an agent's first request is read in seconds
    return tiny_llama(path, ctx_train=CTX_TRAIN, chat_template=template, **smallest, **text)
