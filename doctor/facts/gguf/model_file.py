"""A model file as the memory arithmetic wants it: the header of all its parts, nothing else read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.outside import OutsideError

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.gguf.header import Header, Tensor
    from doctor.memory.model import Model
    from doctor.memory.result import Refusal
    from doctor.outside import Outside
    from doctor.secrets import Vault


class ModelFile(NamedTuple):
    """A model that could be read. `size` are the bytes of the file, or of the tensors where it has several parts.

    `url` is where it lies when it is not on this machine yet; `path` then is the name it will have, `requests` and
    `bytes_read` what its header cost.
    """

    path: str
    model: Model
    size: int
    url: str = ""
    requests: int = 0
    bytes_read: int = 0


def load_model(outside: Outside, path: str) -> ModelFile | str:
    """The model in a GGUF file, or one line that says why there is none. Raises OutsideError when it cannot be opened."""
    from doctor.memory.model import read_model

    return _load(outside, path, read_model)


def load_remote(outside: Outside, address: str, vault: Vault) -> ModelFile | str:
    """A model on the network, of which only the header is read, or one line that says why there is none."""
    from doctor.gguf.remote import RemoteTrouble, read_remote
    from doctor.memory.model import read_model
    from doctor.memory.result import Refusal

    found = read_remote(outside, address, vault)
    if isinstance(found, RemoteTrouble):
        return found.message
    if not found.parts.whole:
        return f"{found.url}: {found.parts.trouble.words if found.parts.trouble else 'parts of the model are missing there'}"
    model = read_model(found.header, found.parts.tensors)
    if isinstance(model, Refusal):
        return f"{found.url}: {model.message}"
    size = found.total_bytes if found.total_bytes is not None else sum(each.bytes or 0 for each in found.parts.tensors)
    return ModelFile(found.name, model, size, found.url, found.requests, found.bytes_read)


def load_projector(outside: Outside, path: str) -> ModelFile | str:
    """The same for a projector (--mmproj), of which the tensors count only."""
    return _load(outside, path, _projector)


def _projector(header: Header, tensors: tuple[Tensor, ...] | None = None) -> Model | Refusal:
    from doctor.gguf.layers import Layers
    from doctor.memory.model import Model
    from doctor.memory.result import Refusal

    found = header.tensors if tensors is None else tensors
    if header.data_offset is None or header.problem or any(tensor.bytes is None for tensor in found):
        return Refusal("header", header.problem or "the header could not be read to its end")
    nothing = Layers((), 0, 0, False, (), (), 0, 0, None)
    arch = header.text("general.architecture") or "clip"
    return Model(arch, header.values, {tensor.name: tensor for tensor in found}, (), nothing, 0)


def _load(
    outside: Outside, path: str, read: Callable[[Header, tuple[Tensor, ...] | None], Model | Refusal]
) -> ModelFile | str:
    from doctor.gguf.header import MAGIC, read_header
    from doctor.gguf.identify import HEAD, identify
    from doctor.gguf.parts import read_parts
    from doctor.memory.result import Refusal

    info = outside.stat(path)
    if info.is_dir:
        return f"{path}: is a folder: give one of its .gguf files"
    with outside.open(path) as stream:
        try:
            head = stream.read(HEAD) or b""
            stream.seek(0)
            if not head.startswith(MAGIC):
                return f"{path}: not a GGUF file, this is {identify(head, info.size).words}"
            header = read_header(stream, info.size)
            parts = read_parts(outside, path, header, stream, info.size)
        except (OSError, ValueError) as error:
            raise OutsideError("failed", f"{path}: cannot be read ({error})") from None
    if parts.missing:
        return f"{path}: part {parts.missing[0]} of the model is missing: all parts belong in one folder"
    if parts.trouble is not None:
        return f"{path}: {parts.trouble.words}"
    model = read(header, parts.tensors)
    if isinstance(model, Refusal):
        return f"{path}: {model.message}"
    size = info.size if parts.total is None else sum(tensor.bytes or 0 for tensor in parts.tensors)
    return ModelFile(path, model, size)
