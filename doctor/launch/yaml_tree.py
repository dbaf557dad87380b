"""YAML as a tree of texts with line numbers, bounded in size, depth and walking: aliases cannot make it explode.

Scalars stay texts: what YAML 1.1 makes of `8080:22`, `on` or `1_000` is nobody's wish here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.launch.definition import FILE_LIMIT, DefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH_LIMIT = 64
EVENTS_LIMIT = 50_000
STEPS_LIMIT = 200_000


class Node(NamedTuple):
    """`kind`: text, list or map. `text` is a scalar's; `rows` are the lines of a scalar as they stand in the file."""

    kind: str
    line: int
    text: str
    items: list[Node]
    pairs: list[tuple[Node, Node]]
    rows: tuple[tuple[str, int], ...]
    file: str = ""


class Tree:
    """A document, and the ways to look into it. Every look costs a step; a file made to use them all up is refused."""

    def __init__(self, root: Node | None) -> None:
        self.root = root
        self._steps = 0

    def get(self, node: Node | None, *keys: str) -> Node | None:
        """The value under nested keys, the last one where a key stands twice; `<<` merges are followed."""
        for key in keys:
            found = None
            for name, value in self.pairs(node):
                if name == key:
                    found = value
            node = found
        return node

    def pairs(self, node: Node | None, depth: int = 0) -> Iterator[tuple[str, Node]]:
        """Keys and values of a map; those merged in come first, so that the map's own stand last."""
        if node is None or node.kind != "map":
            return
        own: list[tuple[str, Node]] = []
        for key, value in node.pairs:
            self._step(key)
            if key.text == "<<" and depth < DEPTH_LIMIT:
                for merged in reversed(value.items) if value.kind == "list" else [value]:
                    yield from self.pairs(merged, depth + 1)
            elif key.kind == "text":
                own.append((key.text, value))
        yield from own

    def items(self, node: Node | None) -> Iterator[Node]:
        """The items of a list; a single value counts as a list of one."""
        if node is None:
            return
        for item in node.items if node.kind == "list" else [node]:
            self._step(item)
            yield item

    def _step(self, node: Node) -> None:
        self._steps += 1
        if self._steps > STEPS_LIMIT:
            raise DefinitionError(f"line {node.line}: aliases and merges in it expand without end")


def load_yaml(text: str, file: str = "") -> Tree:
    """The first document of a text. Raises DefinitionError with the line."""
    import yaml

    if len(text) > FILE_LIMIT:
        raise DefinitionError(f"larger than {FILE_LIMIT >> 10} KiB")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return Tree(_Builder(text, file).build(yaml.parse(text, Loader=loader)))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).splitlines()[0]
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise DefinitionError(f"{where}not valid YAML: {what}") from None


class _Builder:
    def __init__(self, text: str, file: str) -> None:
        self._rows = text.split("\n")
        self._file = file
        self._anchors: dict[str, Node] = {}
        self._open: list[tuple[Node, list[Node]]] = []  # node and, of a map, the key that waits for its value

    def build(self, events: Any) -> Node | None:
        """The tree of one document."""
        import yaml

        root: Node | None = None
        for number, event in enumerate(events):
            line = event.start_mark.line + 1
            if number > EVENTS_LIMIT:
                raise DefinitionError(f"line {line}: more than {EVENTS_LIMIT} values")
            if isinstance(event, yaml.DocumentEndEvent):
                return root
            node: Node | None = None
            if isinstance(event, yaml.AliasEvent):
                node = self._anchors.get(event.anchor)
                if node is None:
                    raise DefinitionError(f"line {line}: the alias *{event.anchor} has no anchor before it")
                if any(node is started for started, _ in self._open):
                    raise DefinitionError(f"line {line}: *{event.anchor} refers to itself")
            elif isinstance(event, yaml.ScalarEvent):
                node = Node("text", line, event.value, [], [], self._lines(event), self._file)
            elif isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
                if len(self._open) >= DEPTH_LIMIT:
                    raise DefinitionError(f"line {line}: nested more than {DEPTH_LIMIT} deep")
                kind = "list" if isinstance(event, yaml.SequenceStartEvent) else "map"
                node = Node(kind, line, "", [], [], (), self._file)
            elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
                self._open.pop()
                continue
            if node is None:
                continue
            root = node if root is None else root
            self._put(node)
            if getattr(event, "anchor", None) and not isinstance(event, yaml.AliasEvent):
                self._anchors[event.anchor] = node
            if node.kind != "text" and not isinstance(event, yaml.AliasEvent):
                self._open.append((node, []))
        return root

    def _put(self, node: Node) -> None:
        if not self._open:
            return
        parent, waiting = self._open[-1]
        if parent.kind == "list":
            parent.items.append(node)
        elif waiting:
            parent.pairs.append((waiting.pop(), node))
        else:
            waiting.append(node)

    def _lines(self, event: Any) -> tuple[tuple[str, int], ...]:
        """The lines of a block or plain scalar as written; one line with the value for a quoted one."""
        first, last = event.start_mark, event.end_mark
        if event.style in ("|", ">"):
            end = last.line if last.column == 0 else last.line + 1
            return tuple((self._rows[row].strip(), row + 1) for row in range(first.line + 1, min(end, len(self._rows))))
        if event.style is None and last.line > first.line:
            rows = [self._rows[first.line][first.column :]]
            rows += [*self._rows[first.line + 1 : last.line], self._rows[last.line][: last.column]]
            return tuple((row.strip(), first.line + 1 + number) for number, row in enumerate(rows))
        return ((event.value, first.line + 1),)
