"""One question at a time: a look that fails becomes an Unknown with its reason and hides no other fact."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from doctor.facts.record import Unknown
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def attempt(look: Callable[[], T]) -> T | Unknown:
    """What `look` finds, or Unknown with the reason. Never raises."""
    try:
        return look()
    except OutsideError as error:
        return Unknown(str(error))
    except Exception as error:
        return Unknown(f"{type(error).__name__}: {error}")
