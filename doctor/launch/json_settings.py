"""JSON launch files: the settings of LM Studio and of llama-cpp-python's server, told apart by what stands in them.

JSON is read as YAML, which it is: so every value keeps its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.launch.definition import DefinitionError
from doctor.launch.yaml_tree import load_yaml

if TYPE_CHECKING:
    from doctor.launch.definition import Definition, Siblings
    from doctor.launch.yaml_tree import Tree


def read_json(text: str, name: str, siblings: Siblings) -> list[Definition]:
    """The servers of a JSON file. Raises DefinitionError for one that no server here reads."""
    from doctor.launch.llama_cpp_python import is_settings as is_llama_cpp_python
    from doctor.launch.llama_cpp_python import read_settings
    from doctor.launch.lm_studio import is_settings, read_model_settings, read_server_settings

    tree = load_json(text)
    if tree.root is None or tree.root.kind != "map":
        raise DefinitionError("line 1: JSON, but not an object: no server reads it")
    if is_settings(tree):
        return read_model_settings(tree, name, siblings)
    if is_llama_cpp_python(tree):
        return read_settings(tree)
    if tree.get(tree.root, "networkInterface") is not None and tree.get(tree.root, "port") is not None:
        return read_server_settings(tree)
    raise DefinitionError(
        "JSON, but neither settings of LM Studio (load.fields) nor of llama-cpp-python (models): llama-server itself reads no JSON"
    )


def load_json(text: str) -> Tree:
    """JSON as a tree. Raises DefinitionError with the line."""
    # YAML allows no tab in front of a value; JSON does. Between quotes JSON has none.
    try:
        return load_yaml(text.lstrip("\ufeff").replace("\t", " "))
    except DefinitionError as error:
        raise DefinitionError(str(error).replace("YAML", "JSON")) from None
