"""The options of llama-server by build, as read from rules/tables/options.json and option_fixes.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from doctor.launch.help_text import HelpOption
    from doctor.outside import Outside

UNDERSCORES_SINCE = 3087  # common/arg.cpp and its forerunner: `_` in a --long option counts as `-`
BOOLEAN_VARIABLES_SINCE = 7376  # a switch with a --no- form refuses a variable that is neither true nor false


class Segment(NamedTuple):
    """A spelling during a span of builds.

    `status`: "" (accepted), deprecated, removed (known, but the start is refused), other (only other programs take it).
    """

    first: int
    last: int | None
    option: str
    takes: int = 0
    status: str = ""
    negated: bool = False
    message: str = ""
    successors: list[str] = []  # noqa: RUF012 - never changed


class ValueRule(NamedTuple):
    """How an option's value is read during a span of builds. `kind`: flag, bool, int, string, two."""

    first: int
    last: int | None
    takes: int
    kind: str
    allowed: list[str] = []  # noqa: RUF012 - never changed
    others_too: bool = False


class Limit(NamedTuple):
    """Numbers that are refused during a span of builds, with the program's words."""

    first: int
    last: int | None
    lowest: int | None
    highest: int | None
    refused: list[int]
    only: list[int]
    message: str


class Variable(NamedTuple):
    """An environment variable during a span of builds. `by_presence`: it counts whatever its value."""

    first: int
    last: int | None
    option: str
    negated: bool = False
    by_presence: bool = False


class OptionTable:
    """Answers what a build knows. Builds beyond the newest one read are taken as like it."""

    def __init__(self, options: dict[str, Any], fixes: dict[str, Any]) -> None:
        self.oldest: int = options["oldest"]
        self.newest: int = options["newest"]
        self.exact_through: int = options["exact_through"]
        self._spellings: dict[str, Any] = options["spellings"]
        self._options: dict[str, Any] = options["options"]
        self._variables: dict[str, Any] = options["variables"]
        self.read: dict[str, Any] = fixes["read"]
        self.image: dict[str, Any] = fixes["image"]
        self._option_fixes = {
            (spelling, fix.get("given")): fix for fix in fixes["option"] for spelling in fix["spelling"]
        }
        self._listed: dict[str, Segment] = {}
        self._listed_for = 0
        self._value_fixes = {
            (option, given): fix["use"] for fix in fixes["value"] for option in fix["option"] for given in fix["given"]
        }

    def of_program(self, listed: Mapping[str, HelpOption], build: int) -> OptionTable:
        """The same table as a program's own --help has it: what it lists is taken, what it does not list is not."""
        import copy

        own = copy.copy(self)
        own._listed = {name: self._from_help(name, option, build) for name, option in listed.items()}
        own._listed_for = build
        return own

    def _from_help(self, name: str, option: HelpOption, build: int) -> Segment:
        here = self.at(name, build)
        if here is not None and here.takes == option.takes and (here.status == "removed") == bool(option.removed):
            return here
        known = [segment for other in option.names for segment in self.life(other)]
        canonical = known[-1].option if known else max(option.names, key=len)
        negated = known[-1].negated if known else False
        status = "removed" if option.removed else ""
        return Segment(build, build, canonical, option.takes, status, negated, option.removed, [])

    def life(self, spelling: str) -> list[Segment]:
        """Everything known about a spelling, oldest first; empty when no build ever knew it."""
        entry = self._spellings.get(spelling)
        return [Segment(*row) for row in entry["in"]] if entry else []

    def at(self, spelling: str, build: int) -> Segment | None:
        """What the build makes of a spelling; None when it does not know it or only other programs do."""
        if self._listed and build == self._listed_for:
            return self._listed.get(spelling)
        found = [segment for segment in self.life(spelling) if _covers(segment, build) and segment.status != "other"]
        return found[-1] if found else None

    def accepts(self, spelling: str, build: int) -> bool:
        """Whether the build takes the spelling and does not refuse it."""
        segment = self.at(spelling, build)
        return segment is not None and segment.status != "removed"

    def unlisted(self, spelling: str, build: int) -> bool:
        """Whether the program's own --help was read and does not have a spelling."""
        return bool(self._listed) and build == self._listed_for and spelling not in self._listed

    def successors(self, spelling: str) -> list[str]:
        """The words that took a spelling's place."""
        entry = self._spellings.get(spelling)
        return list(entry.get("now", ())) if entry else []

    def spellings_of(self, option: str, build: int, *, negated: bool) -> list[str]:
        """The spellings the build takes for an option, the longest first."""
        found = [
            spelling
            for spelling, entry in self._spellings.items()
            if any(row[2] == option for row in entry["in"])
            and (segment := self.at(spelling, build)) is not None
            and segment.option == option
            and segment.status == ""
            and segment.negated == negated
        ]
        return sorted(found, key=lambda spelling: (spelling != option, -len(spelling)))

    def accepted(self, build: int) -> Iterator[str]:
        """Every spelling the build takes."""
        known = (*self._spellings, *(name for name in self._listed if name not in self._spellings))
        return (spelling for spelling in known if self.accepts(spelling, build))

    def value(self, option: str, build: int) -> ValueRule | None:
        """How the build reads the option's value."""
        found = [rule for rule in self._rows(option, "value", ValueRule) if _covers(rule, build)]
        return found[-1] if found else None

    def limits(self, option: str, build: int) -> list[Limit]:
        """What numbers the build refuses."""
        return [limit for limit in self._rows(option, "limits", Limit) if _covers(limit, build)]

    def default(self, option: str, build: int) -> str | None:
        """The value the build takes when the option is not given; None where the table does not say."""
        rows = self._options.get(option, {}).get("default", ())
        return next((row[2] for row in rows if row[0] <= build and (row[1] is None or build <= row[1])), None)

    def variable(self, name: str, build: int) -> Variable | None:
        """What the build makes of an environment variable."""
        return next((variable for variable in self.variable_life(name) if _covers(variable, build)), None)

    def variable_life(self, name: str) -> list[Variable]:
        """Everything known about a variable, oldest first."""
        return [Variable(*row) for row in self._variables.get(name, ())]

    def variable_of(self, option: str, build: int, *, negated: bool) -> str | None:
        """The variable the build reads for an option."""
        for name, rows in self._variables.items():
            if any(row[2] == option for row in rows):
                variable = self.variable(name, build)
                if variable is not None and variable.option == option and variable.negated == negated:
                    return name
        return None

    def option_fix(self, spelling: str, value: str | None) -> dict[str, Any] | None:
        """The hand-written remedy for a spelling (with this value): {"use": [words], "why": text}."""
        return self._option_fixes.get((spelling, value)) or self._option_fixes.get((spelling, None))

    def value_fix(self, option: str, given: str) -> list[str]:
        """The hand-written right values for a wrong one."""
        return list(self._value_fixes.get((option, given), ()))

    def _rows(self, option: str, key: str, kind: Any) -> list[Any]:
        return [kind(*row) for row in self._options.get(option, {}).get(key, ())]


def load_table(outside: Outside) -> OptionTable:
    """The table. Raises RuleError when the installation lacks it."""
    from doctor.engine.load import read_table, rules_folder

    folder = rules_folder(outside)
    return OptionTable(read_table(outside, folder, "options.json"), read_table(outside, folder, "option_fixes"))


def _covers(span: Segment | ValueRule | Limit | Variable, build: int) -> bool:
    return span.first <= build and (span.last is None or build <= span.last)
