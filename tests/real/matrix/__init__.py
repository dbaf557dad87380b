"""The fault matrix: every fault in front of every client it can happen to, found first by doctor and cured as printed."""
