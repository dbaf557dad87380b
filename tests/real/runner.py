"""Run llama.cpp's own HTTP server out of the wheel `xllamacpp` until standard input ends.

    python runner.py '{"model": "/tmp/tiny.gguf", "port": 18080, "options": {"n_ctx": 1024}}'

`options` are attributes of CommonParams, the struct llama-server fills from its command line; "threads" is the one
word of our own. Prints "ready URL" once the model is loaded. Standard input is the life line: it ends with whoever
started it.
"""

import json
import os
import sys

import xllamacpp


def main() -> None:
    task = json.loads(sys.argv[1])
    options = dict(task["options"])
    params = xllamacpp.CommonParams()
    params.model.path = task["model"]
    params.port = task["port"]
    params.warmup = False
    params.cpuparams.n_threads = options.pop("threads", 1)
    for name, value in options.items():
        if not hasattr(params, name):
            raise SystemExit(f"CommonParams has no {name}")
        setattr(params, name, set(value) if name == "model_alias" else value)
    server = xllamacpp.Server(params)
    print("ready", server.listening_address, flush=True)
    sys.stdin.read()
    # The wheel's own shut-down waits for ever when the server has only just come up.
    os._exit(0)


if __name__ == "__main__":
    main()
