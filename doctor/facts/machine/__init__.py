"""The computer the server runs on."""
