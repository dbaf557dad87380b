"""How the server is started."""
