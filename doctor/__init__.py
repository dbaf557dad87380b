"""doctor finds the cause of trouble with llama.cpp servers and their clients, and gives the fix."""

__version__ = "0.1.0"
