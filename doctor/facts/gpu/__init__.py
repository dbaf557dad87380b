"""The NVIDIA cards."""
