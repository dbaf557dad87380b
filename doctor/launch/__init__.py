"""Command lines of llama-server: their words and what a build makes of them. Pure: nothing here looks outside."""
