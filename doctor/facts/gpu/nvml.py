"""Questions to NVML, each on its own: a refusal becomes Unknown in NVML's words and stops no other question."""

from __future__ import annotations

from typing import Any

from doctor.facts.record import Unknown

STATES = {
    3: "not-supported",
    4: "no-permission",
    9: "driver-not-loaded",
    12: "no-library",
    15: "lost",
    17: "no-permission",  # "blocked by the operating system/cgroups"
    18: "version-mismatch",
    28: "no-device",
}
"""nvmlReturn_t -> the state it means (nvml.h of CUDA 13.0); every other failure is "error"."""

NOT_SUPPORTED = 3
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15

_TEXT_LIMIT = 200


class Refusal(Exception):
    """NVML said no: its code (-1 when the binding itself failed) and its words."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


class Asker:
    """Asks one NVML binding; `refused` gathers what it refused: code -> words."""

    def __init__(self, nvml: Any) -> None:
        self.nvml = nvml
        self.refused: dict[int, str] = {}

    def call(self, names: str, *args: Any) -> Any:
        """The answer of the first function of `names` (new name first) that driver and binding have. Raises Refusal."""
        refusal = Refusal(FUNCTION_NOT_FOUND, f"{names}: not in this version of nvidia-ml-py")
        for name in names.split():
            function = getattr(self.nvml, name, None)
            if function is None:
                continue
            try:
                return function(*args)
            except Exception as error:
                refusal = Refusal(_code(error), words(error))
            if refusal.code != FUNCTION_NOT_FOUND:
                break
        self.refused[refusal.code] = str(refusal)
        raise refusal

    def ask(self, names: str, *args: Any, absent: bool = False) -> Any:
        """The answer, or Unknown; with `absent`, None where NVML says that the card has no such thing."""
        try:
            return self.call(names, *args)
        except Refusal as refusal:
            if absent and refusal.code == NOT_SUPPORTED:
                return None
            return Unknown(f"NVML: {refusal}")

    def text(self, names: str, *args: Any) -> str | Unknown:
        """An answer that is text; old bindings give bytes."""
        answer = self.ask(names, *args)
        return answer if isinstance(answer, Unknown) else text(answer)

    def number(self, names: str, *args: Any, absent: bool = False) -> int | Unknown | None:
        """An answer that is a whole number."""
        answer = self.ask(names, *args, absent=absent)
        if answer is None or isinstance(answer, Unknown):
            return answer
        return answer if isinstance(answer, int) else Unknown(f"NVML: {answer!r} is not a number")


def text(answer: Any) -> str:
    """NVML's text as one printable line of bounded length."""
    plain = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else str(answer)
    return " ".join(plain[:_TEXT_LIMIT].split())


def words(error: Exception) -> str:
    """What an exception of the binding says; its texts come from the driver and may be anything."""
    try:
        return text(str(error)) or type(error).__name__
    except Exception:
        return type(error).__name__


def _code(error: Exception) -> int:
    code = getattr(error, "value", -1)
    return code if isinstance(code, int) else -1
