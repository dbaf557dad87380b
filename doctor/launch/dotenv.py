"""`.env` files, and the `${NAME:-value}` of docker compose. Variables are filled in once, in order: no ring can turn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.launch.definition import VALUE_LIMIT, DefinitionError

if TYPE_CHECKING:
    from collections.abc import Mapping

_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][\w.-]*)\s*[=:]\s*(.*)")
_REFERENCE = re.compile(r"\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-?+])((?:[^{}]|\{[^{}]*\})*))?\})")
_VARIABLES_LIMIT = 2000
_NESTED = 4


def read_dotenv(text: str, *, fill: bool = True) -> dict[str, tuple[str, int]]:
    """Name -> (value, line). Raises DefinitionError when values grow without bound."""
    found: dict[str, tuple[str, int]] = {}
    for number, row in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        row = row.strip()
        match = _LINE.fullmatch(row)
        if match is None or row.startswith("#") or len(found) >= _VARIABLES_LIMIT:
            continue
        raw = match[2]
        quote = raw[:1]
        if quote in ("'", '"') and raw.find(quote, 1) > 0:
            value = raw[1 : raw.find(quote, 1)]
        else:
            value = re.split(r"(?:^|\s)#", raw, maxsplit=1)[0].rstrip()
            quote = ""
        if fill and quote != "'":
            value = fill_in(value, {name: set_to for name, (set_to, _) in found.items()}, number)
        found[match[1]] = (value, number)
    return found


def fill_in(text: str, values: Mapping[str, str], line: int, depth: int = 0) -> str:
    """A text with its variables filled in; one that nothing here sets stays as it is."""
    if "$" not in text:
        return text

    def value(found: re.Match[str]) -> str:
        if found[1]:
            return "$"
        name, operator, other = found[2] or found[3], found[4], found[5] or ""
        known = values.get(name)
        empty = known is None or (known == "" and operator is not None and operator.startswith(":"))
        if operator and depth < _NESTED and operator[-1] != "?":
            if operator[-1] == "+":
                return "" if empty else fill_in(other, values, line, depth + 1)
            if empty:
                return fill_in(other, values, line, depth + 1)
        return found.group(0) if known is None else known

    filled = _REFERENCE.sub(value, text)
    if len(filled) > VALUE_LIMIT:
        raise DefinitionError(
            f"line {line}: a value grows beyond {VALUE_LIMIT} characters when its variables are filled in"
        )
    return filled
