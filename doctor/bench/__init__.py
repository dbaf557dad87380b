"""Measuring a server: requests of known size, timed by our own clock, few and capped."""
