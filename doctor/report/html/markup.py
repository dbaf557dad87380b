"""Elements of HTML and SVG. Whatever is put into one is escaped, unless it is an element itself."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from doctor.redact import sanitize

if TYPE_CHECKING:
    from collections.abc import Iterable

_VOID = frozenset({"meta", "link", "br"})
_UNBROKEN = 34
"""Characters; a longer word of a command (a path) may be broken at the end of a line."""


class Markup(str):
    """Text that is HTML already: made by `element` alone."""

    __slots__ = ()


def element(name: str, /, *children: str | None, **attributes: str | float | None) -> Markup:
    """An element. An attribute that is None is left out; `class_` and `aria_label` lose and change their underscores."""
    words = [name]
    for key, value in attributes.items():
        if value is not None:
            words.append(f'{key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"')
    head = f"<{' '.join(words)}>"
    return Markup(head if name in _VOID and not children else f"{head}{joined(children)}</{name}>")


def joined(children: Iterable[str | None]) -> Markup:
    """Elements and texts in a row; None is nothing."""
    return Markup(
        "".join(child if isinstance(child, Markup) else escape(sanitize(child)) for child in children if child)
    )


def number(value: float, shown: str) -> Markup:
    """A number as it is shown, with its exact value for programs."""
    return element("data", shown, value=repr(value))


def words(text: str) -> Markup:
    """A text in which `code between backticks` is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without its other half
        return joined([text])
    return joined(code(part) if at % 2 else part for at, part in enumerate(parts))


def code(text: str) -> Markup:
    """A command or a part of one. Its options are not broken at their dashes."""
    parts = text.split(" ")
    kept = [element("span", part, class_="n") if "-" in part and len(part) <= _UNBROKEN else part for part in parts]
    return element("code", *(joined([" " if at else None, part]) for at, part in enumerate(kept)))


def _plain(value: str | float) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return sanitize(str(value)).replace("\n", " ")
