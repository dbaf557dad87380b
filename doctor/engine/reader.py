"""Reads typed values out of a parsed rule file, and says in one line what is wrong with it."""

from __future__ import annotations

from typing import Any, NamedTuple

LONGEST_TEXT = 6_000
"""Characters of a text that is shown. The longest there is has some 800."""


class RuleError(ValueError):
    """A rule file that cannot be used; the message names the file and what is wrong."""


class Text(NamedTuple):
    """The same words in English and Chinese."""

    en: str
    zh: str

    def get(self, lang: str) -> str:
        """The words in `lang`."""
        return self.zh if lang == "zh" else self.en


class Reader:
    """Reads typed values out of a TOML table and says in one line what is wrong with it."""

    def __init__(self, where: str, data: dict[str, Any]) -> None:
        self.where = where
        self.data = data

    def text(self, key: str, default: str | None = None) -> str:
        value = self.data.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise RuleError(f"{self.where}: {key} must be text")
        return value.strip("\n")

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise RuleError(f"{self.where}: {key} must be a list of texts")
        return tuple(value)

    def words(self, key: str, *, required: bool = True) -> Text:
        value = self.data.get(key)
        if value is None and not required:
            return Text("", "")
        if not isinstance(value, dict) or set(value) != {"en", "zh"}:
            raise RuleError(f"{self.where}: {key}.en and {key}.zh must both be there")
        inner = Reader(f"{self.where}: {key}", value)
        return Text(inner.shown("en"), inner.shown("zh"))

    def shown(self, key: str) -> str:
        """A text that is shown to people."""
        value = self.text(key)
        if len(value) > LONGEST_TEXT:
            raise RuleError(f"{self.where}: {key} is longer than {LONGEST_TEXT} characters")
        return value

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        value = self.data.get(key, default)
        if value not in allowed:
            raise RuleError(f"{self.where}: {key} = {value!r} is not one of {', '.join(allowed)}")
        return str(value)

    def integer(self, key: str, default: int) -> int:
        value = self.data.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 100:
            raise RuleError(f"{self.where}: {key} must be a whole number from 0 to 100")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.data.get(key, default)
        if not isinstance(value, bool):
            raise RuleError(f"{self.where}: {key} must be true or false")
        return value

    def table(self, key: str) -> dict[str, Any]:
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise RuleError(f"{self.where}: {key} must be a table")
        return value

    def tables(self, key: str) -> list[Reader]:
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise RuleError(f"{self.where}: write [[{key}]]")
        return [Reader(f"{self.where}: {key} {number}", item) for number, item in enumerate(value, 1)]

    def inline_tables(self, key: str) -> list[Reader]:
        """A table, or a list of them."""
        value = self.data.get(key, [])
        value = [value] if isinstance(value, dict) else value
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise RuleError(f"{self.where}: write {key} = {{ … }} or {key} = [{{ … }}, {{ … }}]")
        return [Reader(f"{self.where}: {key}", item) for item in value]

    def only(self, *keys: str) -> bool:
        unknown = sorted(set(self.data) - set(keys))
        if unknown:
            raise RuleError(f"{self.where}: unknown key {unknown[0]!r}; known are {', '.join(keys)}")
        return True
