"""Homes for the tests of clients: one on disk (Linux), and one of another system by full paths."""

import io
import json

from doctor.facts.clients.record import Client
from doctor.facts.record import from_json, to_json
from doctor.outside import Outside, OutsideError


class Home(Outside):
    """A Linux home and a project folder on disk, with variables of their own."""

    def __init__(self, tmp_path, files=None, environ=None):
        self.root = tmp_path
        (tmp_path / "home").mkdir(exist_ok=True)
        (tmp_path / "work").mkdir(exist_ok=True)
        super().__init__({"HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "bin"), **(environ or {})}, "linux")
        for path, content in (files or {}).items():
            self.put(path, content)

    def folder(self):
        return str(self.root / "work")

    def put(self, path, content):
        place = self.root / path.replace("{HOME}", "home").replace("{WORK}", "work")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")
        return str(place)

    def port_open(self, host, port, timeout=1.0):
        return False


class Elsewhere(Outside):
    """Another system, as far as paths go: files by their full path."""

    def __init__(self, platform, environ, files, folder):
        super().__init__(environ, platform)
        self.files = {
            path: text if isinstance(text, str) else json.dumps(text, indent=2) for path, text in files.items()
        }
        self.here = folder

    def open(self, path):
        if path not in self.files:
            raise OutsideError("missing", f"{path}: no such file")
        return io.BytesIO(self.files[path].encode("utf-8", "surrogatepass"))

    def exists(self, path):
        return path in self.files

    def folder(self):
        return self.here

    def real_path(self, path):
        return path

    def list_folder(self, path, limit=10_000):
        raise OutsideError("missing", f"{path}: no such file")

    def which(self, name):
        return None


def collected(module, world, vault):
    """The records of one module, each proven to survive being saved."""
    made = module.collect(world, vault)
    made = made if isinstance(made, tuple) else (made,)
    for client in made:
        assert from_json(Client, json.loads(json.dumps(to_json(client)))) == client
    return made
