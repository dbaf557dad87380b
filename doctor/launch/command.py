"""Finds the llama-server in a command line: program, arguments, variables set for it, the container it runs in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.launch.publish import HOST_NETWORK, Published, published
from doctor.launch.spelling import is_secret
from doctor.launch.starters import CONTAINER_SWITCHES, CONTAINERS, SHELLS, base, program_at, quoted_command, starts
from doctor.launch.words import Word, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from doctor.launch.compose import Service

_SURE_PROGRAM = re.compile(r"llama-server(?:-[\w.-]+)?", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_POWERSHELL_VARIABLE = re.compile(r"\$env:([A-Za-z_]\w*)(?:=(.*))?", re.IGNORECASE | re.DOTALL)
_PREFIX = re.compile(r"(?:ExecStart=[-@:+!]*|cmd:)", re.IGNORECASE)
_MOUNT = re.compile(r"((?:[A-Za-z]:)?[^:]+):(/[^:]*)(?::[\w,]+)?")
_LLAMA_IMAGE = re.compile(r"llama", re.IGNORECASE)
_FOREIGN_MODULES = ("llama_cpp.server",)


class Command(NamedTuple):
    """A command line that starts a server.

    `program` is the word that names it, None where only options were given or the image brings it along. `words` are
    all words, wrappers and variables in front included; `first` is the index of the first argument of the server
    itself. `variables` are those set in front, by `export` or by `docker -e`. `image` is the container image or name.
    `ports` are those that lead out of the container, `mounts` (host folder, container folder) pairs. `places`
    says where a variable is set: (file, line), the file "" when it is the command's own. A server around llama.cpp that
    is not llama-server (`OTHER_SERVERS`) has its options translated to those of llama-server.
    """

    program: str | None
    words: tuple[Word, ...]
    first: int
    variables: dict[str, str]
    image: str | None
    ports: tuple[Published, ...] = ()
    mounts: tuple[tuple[str, str], ...] = ()
    places: Mapping[str, tuple[str, int]] = {}

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The server's own arguments."""
        return self.words[self.first :]


def parse_command(text: str, line: int = 1) -> Command | None:
    """The first command in a text that starts a server (or is a bare list of its options), None when there is none.

    `line` is the number of the text's first line.
    """
    if re.search(r"^ *(?:command|entrypoint|environment):", text, re.MULTILINE):
        from doctor.launch.compose import services

        for service in services(text, line):
            of_service = composed(service)
            if of_service is not None:
                return of_service
    exported: dict[str, str] = {}
    found: Command | None = None
    for words in split(text, line):
        if found is not None:
            if not _goes_on(words):
                break
            found = found._replace(words=(*found.words, *words))
        else:
            found = _find(words) or _in_quotes(words)
            if found is None:
                exported.update(_exported(words))
    if found is None:
        return None
    return found._replace(variables={**exported, **found.variables})


def parse_argv(argv: Sequence[str]) -> Command | None:
    """The same for the argument list of a running process."""
    return _find([Word(text, 1, False) for text in argv])


def find_in_words(words: Sequence[Word]) -> Command | None:
    """The same for the words of one command, as a reader of files has them."""
    return _find(list(words))


def _goes_on(words: list[Word]) -> bool:
    """Whether a line of its own is more options of the command above: the mark of continuation got lost."""
    return words[0].text.startswith("-") and words[0].text not in ("-", "--", "---")


def _find(words: list[Word]) -> Command | None:
    words = [_without_prefix(word) for word in words]
    container = _container(words)
    if container is not None:
        return container
    first = next((at for at, word in enumerate(words) if not _ASSIGNMENT.fullmatch(word.text)), len(words))
    texts = [word.text for word in words]
    for index in range(first, len(words)):
        if texts[index] in ("-m", "-mllama_cpp.server") and (module := _module(words, index)):
            from doctor.launch.llama_cpp_python import translated

            return translated(_command(words, index + 1, module))
    program = _program_at(words, texts, first)
    if program is not None:
        return _command(words, program, texts[program])
    if _goes_on(words):
        return Command(None, tuple(words), 0, {}, None)
    return None


def _in_quotes(words: list[Word]) -> Command | None:
    """The command in `bash -c "…"` or `ssh host '…'`."""
    at = quoted_command([word.text for word in words])
    inside = () if at is None else split(words[at].text, words[at].line)
    return next((found for inner in inside if (found := _find(inner)) is not None), None)


def _program_at(words: list[Word], texts: list[str], first: int) -> int | None:
    """The place of the program: the first word that is no variable, or behind words that start it."""
    if first >= len(words):
        return None
    follows = base(texts[first + 1]) if first + 1 < len(words) else ""
    if _is_program(words, first):
        return first
    if base(texts[first]) in (*SHELLS, "llama") and follows:
        return first + 1 if _is_program(words, first + 1) else None
    if not starts(base(texts[first]), follows):
        return None
    return program_at(texts, first, lambda at: _is_program(words, at))


def _without_prefix(word: Word) -> Word:
    return word._replace(text=_PREFIX.sub("", word.text, count=1)) if _PREFIX.match(word.text) else word


def _is_program(words: list[Word], index: int) -> bool:
    """Whether the word names llama-server. Plain "server" must be a path or stand first: it is a common word."""
    text = words[index].text
    name = base(text)
    if _SURE_PROGRAM.fullmatch(name):
        return True
    if index and name in ("serve", "server") and base(words[index - 1].text) == "llama":
        return True
    return name == "server" and (len(text) > len(name) or index == 0)


def _module(words: list[Word], index: int) -> str | None:
    """The module of `python -m MODULE` when it is another server."""
    following = words[index + 1].text if index + 1 < len(words) else ""
    before = base(words[index - 1].text) if index else ""
    return following if following in _FOREIGN_MODULES and before.startswith("py") else None


def _command(words: list[Word], index: int, program: str) -> Command:
    texts = [word.text for word in words[:index]]
    runner = next((at for at, text in enumerate(texts[:-1]) if base(text) in CONTAINERS), None)
    container = texts[-1] if runner is not None and texts[runner + 1] == "exec" else None
    if program.lower() == "serve":
        program = "llama-server"  # `llama serve` is another name of it
    return Command(program, tuple(words), index + 1, dict(_assignments(words[:index])), container)


def _container(words: list[Word]) -> Command | None:
    """The command of `docker run … IMAGE [program] arguments` when the image is one of llama.cpp."""
    start = next(
        (at for at in range(1, len(words)) if words[at].text == "run" and base(words[at - 1].text) in CONTAINERS), None
    )
    if start is None:
        return None
    variables: dict[str, str] = {}
    ports: list[Published] = []
    own_network = False
    mounts: list[tuple[str, str]] = []
    entrypoint = None
    index = start + 1
    while index < len(words) and words[index].text.startswith("-"):
        name, equals, value = words[index].text.partition("=")
        word = words[index]
        index += 1
        if not equals and name not in CONTAINER_SWITCHES and index < len(words):
            word = words[index]
            value = word.text
            index += 1
        if name in ("-e", "--env") and (assignment := _ASSIGNMENT.fullmatch(value)):
            variables[assignment[1]] = assignment[2]
        elif name in ("-p", "--publish") and (port := published(word._replace(text=value))):
            ports.append(port)
        elif name in ("--network", "--net"):
            own_network = value == "host"
        elif name in ("-v", "--volume") and (mount := _MOUNT.fullmatch(value)):
            mounts.append((mount[1], mount[2]))
        elif name == "--entrypoint":
            entrypoint = value
    if index >= len(words):
        return None
    if is_secret(words[index - 1].text):
        return None  # a key in a garbled line is no image
    image = words[index].text
    first = index + 1
    if first < len(words) and _SURE_PROGRAM.fullmatch(base(words[first].text)):
        entrypoint, first = words[first].text, first + 1
    elif first < len(words) and words[first].text in ("--server", "-s") and ":full" in image:
        first += 1  # the entry script of the "full" images: --server starts llama-server
    if not (_LLAMA_IMAGE.search(image) or (entrypoint and _SURE_PROGRAM.search(entrypoint))):
        return None
    if entrypoint and base(entrypoint) in SHELLS:
        inner = _in_quotes([words[start]._replace(text=entrypoint), *words[first:]])
        variables = {**variables, **(inner.variables if inner else {})}
        return inner and inner._replace(variables=variables, image=image, ports=tuple(ports), mounts=tuple(mounts))
    if own_network:
        ports = [_own_port(words[first:])]
    return Command(entrypoint, tuple(words), first, variables, image, tuple(ports), tuple(mounts))


def composed(service: Service) -> Command | None:
    """The command of a compose service when its image, entry point or command is llama.cpp's."""
    words = (*service.entrypoint, *service.command)
    named = next((at for at, word in enumerate(words[:8]) if _SURE_PROGRAM.fullmatch(base(word.text))), None)
    if named is None and not _LLAMA_IMAGE.search(service.image):
        return None
    program = words[named].text if named is not None else None
    first = 0 if named is None else named + 1
    if named is None and words and words[0].text in ("--server", "-s") and ":full" in service.image:
        first = 1
    ports = tuple(port for word in service.ports if (port := published(word)))
    if service.own_network:
        ports = (_own_port(words[first:]),)
    mounts = tuple((found[1], found[2]) for text in service.volumes if (found := _MOUNT.fullmatch(text)))
    return Command(program, words, first, dict(service.environment), service.image or None, ports, mounts)


def _own_port(arguments: Sequence[Word]) -> Published:
    """The port of a server that has the machine's own network: the one it listens on."""
    from itertools import pairwise

    for word, value in pairwise(arguments):
        if word.text == "--port" and value.text.isdigit() and len(value.text) < 6:
            return Published(int(value.text), int(value.text), HOST_NETWORK, value.line, value.file)
    return Published(8080, 8080, HOST_NETWORK)


def _assignments(words: Sequence[Word]) -> Iterator[tuple[str, str]]:
    for word in words:
        assignment = _ASSIGNMENT.fullmatch(word.text)
        if assignment:
            yield assignment[1], assignment[2]


def _exported(words: list[Word]) -> Mapping[str, str]:
    """Variables set by a line of their own: `export A=B`, `set A=B`, `$env:A = "B"`, `A=B`."""
    head, rest = words[0].text.lower(), words[1:]
    shell = _POWERSHELL_VARIABLE.fullmatch(words[0].text)
    if shell:
        value = shell[2] if shell[2] is not None else " ".join(word.text for word in rest if word.text != "=")
        return {shell[1]: value}
    if head == "set":
        return dict(_assignments([Word(" ".join(word.text for word in rest), 1, False)]))
    if head in ("export", "declare", "setx"):
        return dict(_assignments(rest))
    if all(_ASSIGNMENT.fullmatch(word.text) for word in words):
        return dict(_assignments(words))
    return {}
