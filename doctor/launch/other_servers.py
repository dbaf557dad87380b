"""Servers around llama.cpp that are not llama-server: their settings are read as its options where they mean the same.

What such a command does not say is that server's own affair: unknown, not llama-server's default.
"""

OLLAMA = "ollama"
LM_STUDIO = "lm-studio"
LLAMA_CPP_PYTHON = "llama_cpp.server"
OTHER_SERVERS = {
    OLLAMA: "the Modelfile does not say: Ollama decides",
    LM_STUDIO: "the settings do not say: LM Studio decides",
    LLAMA_CPP_PYTHON: "it is not given: llama-cpp-python has defaults of its own",
}
"""Program of a command -> why something is unknown that it does not say."""
