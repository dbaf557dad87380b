"""The llama.cpp build in use."""
