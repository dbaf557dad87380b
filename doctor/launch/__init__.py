"""Command lines of llama-server: words, options by build, and what is wrong with them. Pure: nothing here looks outside."""
