"""The running server: what is asked, and what the answers amount to."""
