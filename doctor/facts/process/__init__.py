"""The server's own process: what it may use, what it uses, and what holds it back."""
