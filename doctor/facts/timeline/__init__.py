"""The requests of a log, one after the other."""
